import json

import numpy as np
import onnx_graphsurgeon
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper

from onnxpad.validation import Validation, Verdict
from tests.validation.builders import (
    B1,
    RANDOM,
    W1,
    W2,
    model,
    node,
    renamed,
    two_convs,
    zero_extended,
)
from tests.validation.runs import validate

PADS = [1, 1, 1, 1]


def cpu(before: object, after: object, **options: object) -> Validation:
    return validate(before, after, device="cpu", **options)  # type: ignore[arg-type]


def test_auto_pad_and_its_pads_are_identical() -> None:
    report = cpu(two_convs(auto_pad="SAME_UPPER"), two_convs(pads=PADS))
    assert report.verdict is Verdict.IDENTICAL
    assert report.ok
    assert report.providers == {
        "before": ("CPUExecutionProvider",),
        "after": ("CPUExecutionProvider",),
    }
    assert {row.level for row in report.outputs} == {"off", "on"}
    assert report.warnings == ()


def wide(w: NDArray[np.float32], pads: list[int]) -> object:
    nodes = [
        node("Conv", ["x", "W"], ["c"], name="c1", pads=pads),
        node("Relu", ["c"], ["y"], name="relu"),
    ]
    return model(nodes, {"W": w}, shape=[1, 64, "H", "W"])


W5 = RANDOM.standard_normal((16, 64, 5, 5)).astype(np.float32)


def test_zero_extension_is_rounding_well_inside_its_bound() -> None:
    report = cpu(wide(W5, [1, 1, 2, 2]), wide(zero_extended(W5), [2, 2, 2, 2]), samples=2)
    assert report.verdict is Verdict.ROUNDING
    rows = [row for row in report.outputs if row.bound]
    assert rows
    assert max((row.max_abs or 0) / (row.bound or 1) for row in rows) < 0.3


def test_zero_extension_on_the_wrong_side_is_found_at_the_node() -> None:
    report = cpu(wide(W5, [1, 1, 2, 2]), wide(zero_extended(W5), [1, 1, 3, 3]), samples=1)
    assert report.verdict is Verdict.DIFFERENT
    assert report.first_difference is not None
    assert report.first_difference.node == "Conv 'c1'"
    assert report.first_difference.tensor == "c"


def test_padding_of_other_values_is_reported_at_the_borders() -> None:
    edge = [node("Pad", ["x", "pads"], ["xp"], name="pad", mode="edge")]
    report = cpu(two_convs(pads=PADS), two_convs(before=edge))
    assert report.verdict is Verdict.DIFFERENT
    assert report.first_difference is not None
    assert report.first_difference.node == "Conv 'c1'"
    assert report.first_difference.where.startswith("borders: the first of ")
    assert not report.ok


def test_shifted_pads_differ_everywhere() -> None:
    report = cpu(two_convs(pads=[0, 0, 2, 2]), two_convs(pads=PADS))
    assert report.verdict is Verdict.DIFFERENT
    assert report.first_difference is not None
    assert report.first_difference.where == "everywhere"


def quantised(w: NDArray[np.int8], pads: list[int]) -> object:
    constants = {
        "W": w,
        "xs": np.float32(0.03),
        "xz": np.uint8(120),
        "ws": np.float32(0.01),
        "wz": np.int8(5),
        "ys": np.float32(0.1),
        "yz": np.uint8(128),
    }
    operands = ["q", "xs", "xz", "W", "ws", "wz", "ys", "yz"]
    nodes = [
        node("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
        node("QLinearConv", operands, ["p"], name="conv", pads=pads),
        node("DequantizeLinear", ["p", "ys", "yz"], ["y"]),
    ]
    return model(nodes, {name: np.asarray(value) for name, value in constants.items()})


def test_int8_kernels_must_grow_by_their_zero_point() -> None:
    w = RANDOM.integers(-128, 128, (8, 3, 3, 3)).astype(np.int8)
    before = quantised(w, [1, 1, 2, 2])
    assert cpu(before, quantised(zero_extended(w, 5), [2, 2, 2, 2])).verdict is Verdict.IDENTICAL
    wrong = cpu(before, quantised(zero_extended(w, 0), [2, 2, 2, 2]))
    assert wrong.verdict is Verdict.DIFFERENT
    assert wrong.first_difference is not None
    assert wrong.first_difference.node == "QLinearConv 'conv'"


def half(pads: list[int], w: NDArray[np.float32]) -> object:
    nodes = [node("Conv", ["x", "W"], ["c"], name="c1", pads=pads), node("Relu", ["c"], ["y"])]
    half_w = w.astype(np.float16)
    return model(nodes, {"W": half_w}, dtype=TensorProto.FLOAT16, shape=["N", 64, "H", "W"])


@pytest.mark.parametrize(("pads", "ok"), [([2, 2, 2, 2], True), ([1, 1, 3, 3], False)])
def test_float16(pads: list[int], ok: bool) -> None:
    report = cpu(half([1, 1, 2, 2], W5), half(pads, zero_extended(W5)), samples=1)
    assert report.ok is ok


@pytest.mark.parametrize(("pads", "ok"), [([2, 2, 2, 2], True), ([1, 1, 3, 3], False)])
def test_models_that_share_no_names_are_judged_whole(pads: list[int], ok: bool) -> None:
    other = renamed(wide(zero_extended(W5), pads))  # type: ignore[arg-type]
    report = cpu(wide(W5, [1, 1, 2, 2]), other, samples=1)
    assert report.ok is ok
    assert any("by position" in warning for warning in report.warnings)


def test_a_name_that_changed_its_meaning_is_no_difference() -> None:
    scale, shift, mean, spread = (RANDOM.uniform(0.5, 1.5, 8).astype(np.float32) for _ in range(4))
    conv = node("Conv", ["x", "W", "B"], ["c"], name="c1")
    norm = node("BatchNormalization", ["c", "s", "b", "m", "v"], ["d"], name="bn", epsilon=1e-5)
    constants = {"W": W1, "B": B1, "W2": W2}
    extra = {"s": scale, "b": shift, "m": mean, "v": spread}
    last = node("Conv", ["r", "W2"], ["y"], name="c2")
    before = model([conv, norm, node("Relu", ["d"], ["r"]), last], constants | extra)
    factor = scale / np.sqrt(spread + np.float32(1e-5))
    fused = {"W": W1 * factor[:, None, None, None], "B": (B1 - mean) * factor + shift, "W2": W2}
    after = model([conv, node("Relu", ["c"], ["r"]), last], fused)
    assert cpu(before, after).verdict is Verdict.ROUNDING
    fused["B"] = fused["B"] + np.float32(0.01)
    assert cpu(before, model([conv, node("Relu", ["c"], ["r"]), last], fused)).ok is False


def test_outputs_of_nothing_but_nan_prove_nothing() -> None:
    def lost(pads: list[int]) -> object:
        nodes = [
            node("Mul", ["x", "zero"], ["z"]),
            node("Div", ["z", "z"], ["nan"]),
            node("Conv", ["nan", "W"], ["y"], name="c1", pads=pads),
        ]
        return model(nodes, {"W": W1, "zero": np.zeros((), np.float32)})

    report = cpu(lost(PADS), lost([0, 0, 2, 2]))
    assert report.verdict is Verdict.UNVERIFIED
    assert "NaN" in report.reason


def test_an_infinite_bound_excuses_nothing() -> None:
    x = RANDOM.standard_normal((1, 64, 12, 12)).astype(np.float32)
    x[0, 0, 5, 5] = np.inf
    after = wide(zero_extended(W5), [2, 2, 2, 2])
    report = cpu(wide(W5, [1, 1, 2, 2]), after, inputs={"x": x})
    assert report.verdict is Verdict.DIFFERENT


def branch(pads: list[int]) -> object:
    def body(name: str, places: list[int]) -> object:
        conv = node("Conv", ["x", "W"], [name], pads=places)
        value = helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
        return helper.make_graph([conv], name, [], [value])

    nodes = [
        node("ReduceSum", ["x"], ["s"], keepdims=0),
        node("Less", ["s", "zero"], ["below"]),
        node("If", ["below"], ["y"], then_branch=body("t", pads), else_branch=body("e", PADS)),
    ]
    return model(nodes, {"W": W1, "zero": np.float32(0) * np.ones((), np.float32)})


def test_bodies_of_if_are_compared() -> None:
    assert cpu(branch(PADS), branch(PADS)).verdict is Verdict.IDENTICAL
    report = cpu(branch(PADS), branch([0, 0, 2, 2]))
    assert report.verdict is Verdict.DIFFERENT
    assert report.first_difference is not None
    assert report.first_difference.node == "If 'y'"


def test_a_graphsurgeon_graph_is_a_model() -> None:
    before = two_convs(auto_pad="SAME_UPPER")
    assert cpu(before, onnx_graphsurgeon.import_onnx(two_convs(pads=PADS))).ok


def test_a_second_model_that_does_not_run_is_different() -> None:
    report = cpu(two_convs(pads=PADS), two_convs(auto_pad="SAME_UPPER", dilations=[2, 2]))
    assert report.verdict is Verdict.DIFFERENT
    assert "second model" in report.reason


def test_the_report_is_json() -> None:
    content = json.loads(json.dumps(cpu(two_convs(pads=PADS), two_convs(pads=[0] * 4)).to_json()))
    assert content["schema"] == 3
    assert content["ok"] is False
    assert content["first_difference"]["max_abs"] == "inf"
    assert content["outputs"][0]["shape_before"] != content["outputs"][0]["shape_after"]
