"""Passes that only write something out, or leave it out: for runtimes with other defaults."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from onnxpad.padding.operators import OPERATORS, Operator
from onnxpad.rewriting.rewrite import rewrite
from tests.models.every_operator import NOT_IN_TEXT, every_operator
from tests.rewriting.passes.expanded import levels, rewritten_model

RNG = np.random.default_rng(9)
X = RNG.normal(size=(1, 2, 6, 7)).astype(np.float32) - 1
W = RNG.normal(size=(3, 2, 3, 3)).astype(np.float32)


def one_node(
    op: str, constants: dict[str, Any], opset: int = 17, domain: str = "", **attributes: Any
) -> onnx.ModelProto:
    """x and constants ('' left out) into one node."""
    names = ["x", *(name.strip("_") for name in constants)]
    node = helper.make_node(op, names, ["y"], "n", domain=domain, **attributes)
    kept = {name: value for name, value in constants.items() if name.strip("_")}
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, X.shape)],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in kept.items()],
    )
    graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    imports = [helper.make_opsetid("", opset)]
    imports += [helper.make_opsetid(domain, 1)] if domain else []
    return helper.make_model(graph, ir_version=8, opset_imports=imports)


def pad(value: Any = None, **attributes: Any) -> onnx.ModelProto:
    constants: dict[str, Any] = {"p": np.array([0, 0, 1, 0, 0, 0, 0, 2])}
    if value is not None:
        constants["v"] = np.asarray(value, np.float32)
    return one_node("Pad", constants, **attributes)


def same_numbers(before: onnx.ModelProto, after: onnx.ModelProto) -> None:
    for one, other in zip(levels(before, {"x": X}), levels(after, {"x": X}), strict=True):
        np.testing.assert_allclose(one[0], other[0], rtol=1e-5, atol=1e-5)


def reason(model: onnx.ModelProto, rule: str) -> str:
    done = rewrite(model, passes=rule)
    assert not done.changed
    return done.skips[0].skip.reason if done.skips else ""


def written(node: onnx.NodeProto) -> dict[str, Any]:
    return {one.name: helper.get_attribute_value(one) for one in node.attribute}


def test_defaults_of_windows_are_written_out() -> None:
    for op, constants in (("Conv", {"w": W}), ("MaxPool", {}), ("AveragePool", {})):
        more: dict[str, Any] = {} if constants else {"kernel_shape": [2, 2]}
        before = one_node(op, constants, **more)
        after = rewritten_model(before, "written-defaults")
        found = written(after.graph.node[0])
        assert found["strides"] == [1, 1]
        assert found["pads"] == [0, 0, 0, 0]
        assert len(found["kernel_shape"]) == 2
        same_numbers(before, after)


@pytest.mark.parametrize(
    ("op", "opset"),
    [("Conv", 7), ("MaxPool", 7), ("MaxPool", 8), ("AveragePool", 18), ("LpPool", 18)],
)
def test_every_default_of_the_opset_is_written(op: str, opset: int) -> None:
    constants = {"w": W} if op == "Conv" else {}
    more: dict[str, Any] = {} if constants else {"kernel_shape": [2, 2]}
    after = rewritten_model(one_node(op, constants, opset=opset, **more), "written-defaults")
    schema = onnx.defs.get_schema(op, opset)
    of_numbers = {"p"}  # the exponent of LpPool is no default of padding
    assert set(written(after.graph.node[0])) == set(schema.attributes) - of_numbers


def test_auto_pad_that_pads_stays() -> None:
    same = rewritten_model(one_node("Conv", {"w": W}, auto_pad="SAME_UPPER"), "written-defaults")
    assert written(same.graph.node[0])["auto_pad"] == b"SAME_UPPER"
    assert "pads" not in written(same.graph.node[0])


def test_the_mode_of_a_pad_is_written_out() -> None:
    before = pad()
    after = rewritten_model(before, "written-defaults")
    assert written(after.graph.node[0]) == {"mode": b"constant"}
    same_numbers(before, after)


def test_what_is_written_is_left_alone() -> None:
    done = rewrite(pad(mode="constant"), passes="written-defaults")
    assert not done.changed
    assert done.skips == ()


def test_indices_survive_written_defaults() -> None:
    before = one_node("MaxPool", {}, kernel_shape=[2, 2])
    before.graph.node[0].output.append("i")
    before.graph.output.add().CopyFrom(
        helper.make_tensor_value_info("i", onnx.TensorProto.INT64, None)
    )
    after = rewritten_model(before, "written-defaults")
    assert list(after.graph.node[0].output) == ["y", "i"]
    for one, other in zip(levels(before, {"x": X}), levels(after, {"x": X}), strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("value", [0.0, [0.0]])
def test_a_value_of_0_goes(value: Any) -> None:
    before = pad(value)
    after = rewritten_model(before, "plain-value")
    assert list(after.graph.node[0].input) == ["x", "p"]
    assert [one.name for one in after.graph.initializer] == ["p"]
    same_numbers(before, after)


def test_a_value_of_0_goes_in_front_of_axes() -> None:
    constants = {"p": np.array([1, 2]), "v": np.zeros((), np.float32), "a": np.array([3])}
    before = one_node("Pad", constants, opset=18)
    after = rewritten_model(before, "plain-value")
    assert list(after.graph.node[0].input) == ["x", "p", "", "a"]
    same_numbers(before, after)


def test_a_listed_value_becomes_a_number() -> None:
    before = pad([1.5])
    after = rewritten_model(before, "plain-value")
    value = next(one for one in after.graph.initializer if one.name not in ("p", "v"))
    assert list(value.dims) == []
    same_numbers(before, after)


def test_other_values_are_left_alone() -> None:
    assert reason(pad(1.5), "plain-value") == ""
    assert not rewrite(pad(1.5, mode="edge"), passes="plain-value").changed
    fed = pad(1.5)
    fed.graph.input.append(helper.make_tensor_value_info("v", onnx.TensorProto.FLOAT, []))
    del fed.graph.initializer[1]
    assert reason(fed, "plain-value") == "its value is no number that is known"
    assert reason(pad(np.nan), "plain-value") == "its value is no number that is known"


def test_a_pad_of_unknown_rank_keeps_its_value() -> None:
    """Its pads cannot be read, and nothing else of it is taken for granted then."""
    constants = {"p": np.array([0, 1]), "v": np.float32(5), "a": np.array([2])}
    model = one_node("Pad", constants, opset=18)
    model.graph.input[0].type.tensor_type.ClearField("shape")
    assert "unknown rank" in reason(model, "plain-value")


def test_a_value_of_minus_0_is_another_number() -> None:
    """1/x tells it from 0, and so does onnxruntime, which fuses Pad(0) alone into a MaxPool."""
    assert reason(pad(-0.0), "plain-value") == ""
    pool = helper.make_node("MaxPool", ["y"], ["z"], kernel_shape=[3, 3])
    for pooled in (False, True):
        before = pad([-0.0])
        if pooled:
            before.graph.node.append(pool)
            before.graph.output[0].name = "z"
        after = rewritten_model(before, "plain-value")
        assert [list(one.dims) for one in after.graph.initializer] == [[8], []]
        for one, other in zip(levels(before, {"x": X}), levels(after, {"x": X}), strict=True):
            assert one[0].tobytes() == other[0].tobytes()


def behind_unknown(value: Any, *, is_known: bool = True) -> onnx.ModelProto:
    """The data comes from an operator of which nothing is known; the value may tell its type."""
    before = low(value)
    before.graph.node.insert(0, helper.make_node("Own", ["x"], ["o"], domain="own"))
    before.graph.node[1].input[0] = "o"
    before.opset_import.append(helper.make_opsetid("own", 1))
    before.graph.output[0].type.tensor_type.ClearField("shape")
    if not is_known:
        before.graph.initializer[1].data_type = onnx.TensorProto.FLOAT8E5M2
        before.graph.initializer[1].raw_data = bytes([0xFC])
    return before


def test_the_value_tells_the_element_type_of_the_data() -> None:
    for rule, value, expected in (
        ("plain-value", [1.5], 1.5),
        ("finite-value", -np.inf, float(np.finfo(np.float32).min)),
    ):
        after = rewrite(behind_unknown(value), passes=rule).model
        assert isinstance(after, onnx.ModelProto)
        (held,) = [one for one in after.graph.initializer if one.name not in ("p", "v")]
        assert numpy_helper.to_array(held).tolist() == expected


def test_a_type_that_nothing_tells_is_a_reason() -> None:
    for rule, value in (("plain-value", [1.5]), ("finite-value", -np.inf)):
        unknown = behind_unknown(value, is_known=False)
        assert reason(unknown, rule) == "the element type of its input is not known"


@pytest.mark.parametrize("kernel", [1, 2, 3, 4])
def test_finite_values_over_a_small_domain(kernel: int) -> None:
    """Every stride, dilation and pads up to a bound, on data below 0."""
    x, changed = -np.abs(X), 0
    for stride, dilation, begin, end in product((1, 2, 3), (1, 2), range(4), range(4)):
        constants = {"p": np.array([0, 0, begin, 0, 0, 0, end, 1]), "v": np.float32(-np.inf)}
        model = one_node("Pad", constants)
        window: dict[str, Any] = {"strides": [stride, 1], "dilations": [dilation, 1]}
        pool = helper.make_node("MaxPool", ["y"], ["z"], kernel_shape=[kernel, 2], **window)
        model.graph.node.append(pool)
        model.graph.output[0].name = "z"
        done = rewrite(model, passes="finite-value")
        if max(begin, end) > (kernel - 1) * dilation:
            assert not done.changed, "some window lies in the padding"
        changed += done.changed
        assert isinstance(done.model, onnx.ModelProto)
        for one, other in zip(levels(model, {"x": x}), levels(done.model, {"x": x}), strict=True):
            np.testing.assert_array_equal(one[0], other[0])
    assert changed


def low(value: float = -np.inf, kernel: int = 3, opset: int = 17) -> onnx.ModelProto:
    """A Pad in front of a MaxPool."""
    model = pad(value, opset=opset) if opset > 10 else one_node("Pad", {}, opset, value=value)
    if opset < 11:
        pads = helper.make_attribute("pads", [0, 0, 1, 0, 0, 0, 0, 2])
        model.graph.node[0].attribute.append(pads)
    pool = helper.make_node("MaxPool", ["y"], ["z"], kernel_shape=[kernel, kernel])
    model.graph.node.append(pool)
    model.graph.output[0].name = "z"
    return model


@pytest.mark.parametrize("opset", [9, 10, 11, 17])
def test_an_infinite_value_becomes_the_lowest_finite_one(opset: int) -> None:
    before = low(opset=opset)
    after = rewritten_model(before, "finite-value")
    held = [numpy_helper.to_array(one) for one in after.graph.initializer]
    values = [one.item() for one in held if one.ndim == 0]
    values += [one.f for one in after.graph.node[0].attribute if one.name == "value"]
    assert values == [float(np.finfo(np.float32).min)]
    same_numbers(before, after)


def test_infinite_values_that_may_be_seen_stay() -> None:
    assert "windows without data" in reason(low(kernel=2), "finite-value")
    double = low(opset=10)
    double.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
    double.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
    assert "the lowest float64 is none" in reason(double, "finite-value")
    assert "something else than a max pool" in reason(pad(-np.inf), "finite-value")
    assert reason(low(-5.0), "finite-value") == ""
    constants = {"p": np.array([0, 1]), "v": np.float32(-np.inf), "a": np.array([2])}
    unknown = one_node("Pad", constants, opset=18)
    unknown.graph.input[0].type.tensor_type.ClearField("shape")
    assert "unknown rank" in reason(unknown, "finite-value")


def test_a_pad_becomes_concat() -> None:
    for before in (pad(), pad(0.0), pad(-2.0)):
        after = rewritten_model(before, "concat-pads")
        assert {node.op_type for node in after.graph.node} == {"Concat"}
        same_numbers(before, after)


def test_a_pad_of_nothing_becomes_identity() -> None:
    before = one_node("Pad", {"p": np.zeros(8, np.int64)})
    after = rewritten_model(before, "concat-pads")
    assert [node.op_type for node in after.graph.node] == ["Identity"]
    same_numbers(before, after)


def test_concat_pads_refuses_what_crops_or_is_not_known() -> None:
    crops = one_node("Pad", {"p": np.array([0, 0, -1, 0, 0, 0, 0, 0])})
    assert reason(crops, "concat-pads") == "it crops, which no Concat does"
    assert not rewrite(pad(mode="reflect"), passes="concat-pads").changed
    fed = pad()
    fed.graph.input.append(helper.make_tensor_value_info("p", onnx.TensorProto.INT64, [8]))
    del fed.graph.initializer[0]
    assert "are not constant" in reason(fed, "concat-pads")


def behind_zeros(**attributes: Any) -> onnx.ModelProto:
    model = pad()
    model.graph.node[0].output[0] = "a"
    attributes = {"kernel_shape": [3, 3], "strides": [2, 2], **attributes}
    model.graph.node.append(helper.make_node("MaxPool", ["a"], ["y"], "pool", **attributes))
    return model


def test_valid_keeps_onnxruntime_from_fusing_a_pad_of_0() -> None:
    before = behind_zeros()
    after = rewritten_model(before, "auto-pads")
    assert written(after.graph.node[1])["auto_pad"] == b"VALID"
    plain, fused = levels(before, {"x": X})
    assert not np.allclose(plain[0], fused[0]), "onnxruntime fuses no longer: mend the target"
    for kept in levels(after, {"x": X}):
        np.testing.assert_array_equal(kept[0], plain[0])


DYNAMIC = "ConvTransposeWithDynamicPads"
CHANNELS_LAST = """<ir_version: 10, opset_import: ["" : 18, "com.microsoft" : 1]>
g (uint8[1,6,6,2] x) => (uint8[1,h,w,1] y)
  <float s = {0.5}, uint8 z = {7}, uint8[1,2,1,1] k = {1, 2}> {
  y = com.microsoft.QLinearConv<channels_last=1>(x, s, z, k, s, z, s, z)
}"""


@pytest.mark.parametrize(
    "op", [op for op in OPERATORS.values() if op.domain], ids=lambda op: op.title
)
def test_only_attributes_of_the_schema_are_written(op: Operator) -> None:
    """onnxruntime refuses to load a node with an attribute that its schema lacks."""
    capi = pytest.importorskip("onnxruntime.capi.onnxruntime_pybind11_state")
    schema = next(
        one
        for one in capi.get_all_operator_schema()
        if (one.domain, one.name) == (op.domain, op.name)
    )
    is_apart = op.name == "QLinearConv"
    before = onnx.parser.parse_model(CHANNELS_LAST) if is_apart else every_operator()
    model = rewrite(before, passes="written-defaults").model
    assert isinstance(model, onnx.ModelProto)
    nodes = [one for one in model.graph.node if (one.domain, one.op_type) == (op.domain, op.name)]
    assert nodes or op.name in NOT_IN_TEXT
    for node in nodes:
        assert set(written(node)) <= set(schema.attributes)


def test_pads_that_are_an_input_are_not_written_again() -> None:
    weight = W.transpose(1, 0, 2, 3).copy()
    constants = {"w": weight, "p": np.array([0, 1, 1, 0])}
    before = one_node(DYNAMIC, constants, domain="com.microsoft", strides=[2, 2])
    after = rewritten_model(before, "written-defaults")
    assert set(written(after.graph.node[0])) == {"strides", "kernel_shape"}
    same_numbers(before, after)


@pytest.mark.parametrize("op", ["Conv", "ConvTranspose"])
def test_a_bias_moves_behind(op: str) -> None:
    weight = W if op == "Conv" else W.transpose(1, 0, 2, 3).copy()
    bias = RNG.normal(size=3).astype(np.float32)
    for opset in (11, 17):
        before = one_node(op, {"w": weight, "b": bias}, opset=opset, pads=[1, 0, 1, 0])
        after = rewritten_model(before, "separate-bias")
        assert [node.op_type for node in after.graph.node] == [op, "Unsqueeze", "Add"] or [
            node.op_type for node in after.graph.node
        ] == ["Unsqueeze", op, "Add"]
        same_numbers(before, after)


def test_a_bias_stays_where_it_cannot_move() -> None:
    bias = np.ones(3, np.float32)
    old = one_node("Conv", {"w": W, "b": bias}, opset=6)
    assert reason(old, "separate-bias").startswith("Add of opset 6 has no broadcasting")
    assert not rewrite(one_node("Conv", {"w": W}), passes="separate-bias").changed
    fused = one_node("FusedConv", {"w": W, "b": bias}, domain="com.microsoft", activation="Relu")
    assert not rewrite(fused, passes="separate-bias").changed
    unread = one_node("Conv", {"w": W, "b": bias}, auto_pad="SAME")
    assert reason(unread, "separate-bias") == "its padding cannot be read"
