"""What `rewrite` never writes: Pads that compute something else, divisors, rounding."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import onnxruntime as ort
import pytest
from onnx import ModelProto

from onnxpad import retarget
from tests.models.text import padded, text_model
from tests.retargeting.running import Array, outputs, signed

X = signed(3, 1, 1, 8) - 3
WIDE = [0, 0, 1, 0, 0, 1]


Y = "float[1,1,n] y"


def planned(model: ModelProto, node: str = "op", **settings: Any) -> ModelProto:
    found = retarget(model, plan={"nodes": [{"node": node, **settings}]}).model
    assert isinstance(found, ModelProto)
    onnx.checker.check_model(found, full_check=True)
    return found


def computed(model: ModelProto) -> Array:
    return outputs(model, X)[0]


def windows(data: Array, pads: tuple[int, int], value: float | None, mode: Any) -> Array:
    row = data[0, 0]
    row = np.pad(row, pads, mode, **({} if value is None else {"constant_values": value}))
    return np.array([row[start : start + 3].max() for start in range(0, len(row) - 2, 2)])


WINDOWS = "kernel_shape = [3], strides = [2]"
MAX = "[op] y = MaxPool <kernel_shape = [3], strides = [2]> (x)"
FRONT = "[pad] p = Pad (x, pads)"
BEHIND = "[op] y = MaxPool <kernel_shape = [3], strides = [2]> (p)"


@pytest.mark.parametrize("opset", [10, 11, 13, 18, 22])
@pytest.mark.parametrize(
    ("record", "args"),
    [
        ({"pads": WIDE}, (0.0, "constant")),
        ({"pads": WIDE, "value": "-inf"}, (-np.inf, "constant")),
        ({"pads": WIDE, "value": -2.5}, (-2.5, "constant")),
        ({"pads": WIDE, "mode": "reflect"}, (None, "reflect")),
        ({"pads": WIDE, "mode": "edge"}, (None, "edge")),
    ],
)
def test_a_pad_is_put_in_front(record: dict[str, Any], args: tuple[Any, Any], opset: int) -> None:
    model = planned(text_model(MAX, outputs=Y, opset=opset), pad_node=record)
    assert [node.op_type for node in model.graph.node] == ["Pad", "MaxPool"]
    assert computed(model)[0, 0].tolist() == windows(X, (1, 1), *args).tolist()


@pytest.mark.parametrize("opset", [10, 13, 22])
def test_a_pad_takes_the_place_of_another(opset: int) -> None:
    if opset == 10:
        pad = "[pad] p = Pad <pads = [0, 0, 0, 0, 0, 1]> (x)"
        model = text_model(f"{pad} {BEHIND}", outputs=Y, opset=opset)
    else:
        model = padded(BEHIND, "0, 0, 0, 0, 0, 1", outputs=Y, opset=opset)
    found = planned(model, pad_node={"pads": WIDE, "mode": "edge"})
    assert [node.op_type for node in found.graph.node] == ["Pad", "MaxPool"]
    assert len(found.graph.initializer) == (0 if opset == 10 else 1)
    assert computed(found)[0, 0].tolist() == windows(X, (1, 1), None, "edge").tolist()


def test_a_pad_that_others_read_stays_for_them() -> None:
    model = padded(
        f"{BEHIND} [other] z = Relu (p)", "0, 0, 1, 0, 0, 1", outputs=f"{Y}, float[1,1,m] z"
    )
    found = planned(model, pad_node=None, pads=[1, 1])
    assert [node.op_type for node in found.graph.node] == ["Pad", "MaxPool", "Relu"]
    assert found.graph.node[1].input[0] == "x"
    replaced = planned(model, pad_node={"pads": WIDE, "value": -9})
    assert [node.op_type for node in replaced.graph.node].count("Pad") == 2
    assert outputs(replaced, X)[1].shape == (1, 1, 10)


def test_onnxruntime_does_not_fuse_what_is_written() -> None:
    """Its default optimiser folds a Pad of zeros into a max pool, which pads with the lowest."""
    model = planned(text_model(MAX, outputs=Y), pad_node={"pads": WIDE})
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    assert np.array_equal(session.run(None, {"x": X})[0], computed(model))
    assert (computed(model) == 0).any()


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        (
            f"{FRONT} [op] y = Conv (p, w) [pool] z = MaxPool <kernel_shape = [3]> (p)",
            "a pool may read the Pad too",
        ),
        (
            f"{FRONT} [op] y = Conv (p, w) [pool] z = AveragePool <kernel_shape = [1]> (p)",
            "a pool may read the Pad too",
        ),
        (
            f"{FRONT} u = Mul (p, one) [op] y = Conv (p, w) z = MaxPool <kernel_shape = [3]> (u)",
            "a pool may read the Pad too",
        ),
        (
            f"{FRONT} [op] y = Conv (p, w) [other] c = Concat <axis = 2> (x, x) z = Conv (c, p)",
            "a pool may read the Pad too",
        ),
        (
            f"{FRONT} [op] y, i = MaxPool <kernel_shape = [3]> (p) [used] z = Identity (i)",
            "its Indices are used",
        ),
    ],
)
def test_a_pad_that_must_stay_is_a_skip(nodes: str, said: str) -> None:
    constants = "int64[6] pads = {0,0,1,0,0,1}, float[1,1,3] w = {1, 10, 100}, float one = {1}"
    given = "y, z" if " z =" in nodes else "y"
    model = text_model(nodes, constants=constants, outputs=given)
    other = {"pads": [0, 0, 2, 0, 0, 1]}
    for record in ({"pad_node": None, "pads": [1, 1]}, {"pad_node": other}):
        found = retarget(model, plan={"nodes": [{"node": "op", **record}]})
        assert not found.changed
        assert found.skips[0].skip.reason.startswith(said)


def test_a_graph_gets_the_same_edits() -> None:
    model = padded(BEHIND, "0, 0, 0, 0, 0, 1", outputs=Y)
    for plan in ({"pad_node": None, "pads": [1, 1]}, {"pad_node": {"pads": WIDE, "mode": "edge"}}):
        graph = gs.import_onnx(model)
        found = retarget(graph, plan={"nodes": [{"node": "op", **plan}]})
        assert found.model is graph
        wanted = planned(model, **plan)
        exported = gs.export_onnx(graph)
        assert np.array_equal(outputs(exported, X)[0], computed(wanted))


def test_a_function_that_is_called_at_two_sizes_moves_at_one() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
    g (float[1,1,8] x, float[1,1,9] z) => (float[1,1,4] y, float[1,1,5] v)
    <float[1,1,3] w = {1, 10, 100}> { y = local.f (x, w)  v = local.f (z, w) }
    <domain: "local", opset_import: ["" : 17]>
    f (a, k) => (b) { [op] b = Conv <strides = [2], pads = [1, 1]> (a, k) }"""
    model: ModelProto = onnx.parser.parse_model(text)
    found = retarget(model, to="tensorflow")
    moved = found.model
    assert isinstance(moved, ModelProto)
    assert len(found.changes) == 1
    assert found.inlined == ("local:f",)
    assert not moved.functions
    feeds = {"x": X, "z": signed(1, 1, 1, 9)}
    before, after = outputs(model, feeds), outputs(moved, feeds)
    assert not np.array_equal(before[0], after[0])
    assert np.array_equal(before[1], after[1])


TWO_TYPES = """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
g (float[1,1,8] a, float16[1,1,8] b) => (float[1,1,8] y, float16[1,1,8] z) {
  y = local.F(a)
  z = local.F(b)
}
<domain: "local", opset_import: ["" : 17]>
F (x) => (o) { [pool] o = MaxPool<kernel_shape=[3], pads=[1,1]>(x) }"""


def test_a_plan_names_the_calls_of_a_function() -> None:
    pad = {"pads": [0, 0, 1, 0, 0, 1], "mode": "constant", "value": 3}
    entries = [{"node": f"{call}/pool", "pads": [0, 0], "pad_node": pad} for call in "yz"]
    done = retarget(onnx.parser.parse_model(TWO_TYPES), plan={"schema": 1, "nodes": entries})
    assert isinstance(done.model, onnx.ModelProto)
    onnx.checker.check_model(done.model, full_check=True)
    assert [node.op_type for node in done.model.graph.node] == ["Pad", "MaxPool"] * 2


@pytest.mark.parametrize(("ambiguous", "pads"), [("pads", [0, 1]), ("auto_pad", [1, 1])])
def test_auto_pad_and_pads_do_not_outlive_a_move(
    ambiguous: Literal["auto_pad", "pads"], pads: list[int]
) -> None:
    """Runtimes read the auto_pad of a node that says both, and the move would be in the pads."""
    node = f'[op] y = MaxPool <auto_pad = "SAME_UPPER", pads = {pads}, {WINDOWS}> (x)'
    model = text_model(node, outputs=Y)
    moved = retarget(model, to="pytorch", ambiguous=ambiguous).model
    assert isinstance(moved, ModelProto)
    (op,) = moved.graph.node
    found = {one.name: onnx.helper.get_attribute_value(one) for one in op.attribute}
    assert "auto_pad" not in found
    assert found["pads"] == [1, 1]
