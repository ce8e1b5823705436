"""Who judges: the float64 evaluator where onnxruntime cannot, and default optimisations."""

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, numpy_helper

from onnxpad.rewriting.rewrite import rewrite
from onnxpad.validation import Validation, Verdict
from tests.proof.small_models import text
from tests.validation.builders import B1, W1, model, node, pooled, two_convs
from tests.validation.runs import validate

PADS = [1, 1, 1, 1]


def cpu(before: object, after: object, **options: object) -> Validation:
    return validate(before, after, device="cpu", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(("pads", "ok"), [([2, 2, 2, 2], True), ([1, 1, 3, 3], False)])
def test_same_with_dilation_is_judged_by_the_evaluator(pads: list[int], ok: bool) -> None:
    before = two_convs(auto_pad="SAME_UPPER", dilations=[2, 2])
    report = cpu(before, two_convs(pads=pads, dilations=[2, 2]))
    assert report.judge == "onnxpad float64 evaluator"
    assert report.verdict is (Verdict.ROUNDING if ok else Verdict.DIFFERENT)
    assert any("Dilation not supported" in warning for warning in report.warnings)


def test_a_scale_behind_a_convolution_passes_its_rounding_on() -> None:
    """onnxruntime gives the pool another size than the text: the evaluator judges both nodes."""
    window: dict[str, Any] = {"strides": [2, 2], "dilations": [2, 2], "kernel_shape": [3, 3]}
    mean = node("AveragePool", ["x"], ["y"], auto_pad="SAME_UPPER", name="mean", **window)
    before = model([mean], {}, shape=[1, 2, 17, 17], opset=19)
    done = rewrite(before, passes=["average-by-conv"]).model
    assert isinstance(done, ModelProto)
    assert [one.op_type for one in done.graph.node] == ["Conv", "Mul"]
    report = cpu(before, done)
    assert report.verdict is Verdict.ROUNDING
    assert report.judge == "onnxpad float64 evaluator"
    scale = next(one for one in done.graph.initializer if one.name == done.graph.node[1].input[1])
    wrong = numpy_helper.to_array(scale) * np.float32(1.001)
    scale.CopyFrom(numpy_helper.from_array(wrong, scale.name))
    assert cpu(before, done).verdict is Verdict.DIFFERENT


def pool(**attributes: Any) -> object:
    window: dict[str, Any] = {"kernel_shape": [3, 3], "dilations": [2, 2]}
    return model([node("MaxPool", ["x"], ["y"], name="pool", **window, **attributes)], {})


def test_where_onnxruntime_leaves_the_text_the_text_decides() -> None:
    report = cpu(pool(auto_pad="SAME_UPPER"), pool(pads=[2, 2, 2, 2]))
    assert report.verdict is Verdict.IDENTICAL
    assert report.judge == "onnxpad float64 evaluator"
    assert any("differently from the ONNX text" in warning for warning in report.warnings)


def double(**attributes: Any) -> object:
    nodes = [
        node("Tanh", ["x"], ["a"], name="tanh"),
        node("Conv", ["a", "W"], ["c"], name="c1", **attributes),
        node("Relu", ["c"], ["y"], name="relu"),
    ]
    return model(nodes, {"W": W1.astype(np.float64)}, dtype=TensorProto.DOUBLE)


@pytest.mark.parametrize(("pads", "ok"), [(PADS, True), ([0, 1, 2, 1], False)])
def test_float64_convolutions_that_onnxruntime_lacks(pads: list[int], ok: bool) -> None:
    report = cpu(double(auto_pad="SAME_UPPER"), double(pads=pads))
    assert report.ok is ok
    assert report.judge == "onnxpad float64 evaluator"


def test_unverified_where_nobody_can_judge() -> None:
    def unknown(pads: list[int]) -> object:
        conv = node("Conv", ["n", "W", "B"], ["y"], name="c1", pads=pads)
        return model([node("Nobody", ["x"], ["n"], domain="elsewhere"), conv], {"W": W1, "B": B1})

    report = cpu(unknown(PADS), unknown([0, 0, 2, 2]))
    assert report.verdict is Verdict.UNVERIFIED
    assert "Nobody" in report.reason
    assert not report.ok


def test_pad_of_zero_before_max_pool_is_not_pads() -> None:
    report = cpu(pooled(0.0), pooled(None))
    assert report.verdict is Verdict.DIFFERENT
    assert report.first_difference is not None
    assert report.first_difference.where.startswith("borders")
    assert any("default optimiser" in w and "first model" in w for w in report.warnings)


def test_pad_of_infinity_before_max_pool_is_pads() -> None:
    assert cpu(pooled(None), pooled(-np.inf)).verdict is Verdict.IDENTICAL


def test_a_model_that_only_the_default_optimiser_breaks_is_different() -> None:
    report = cpu(pooled(0.0, opset=18, axes=True), pooled(0.0, opset=18))
    assert all(row.equal for row in report.outputs if row.level == "off")
    assert report.verdict is Verdict.DIFFERENT
    assert "default optimiser" in report.reason


def test_another_shape_is_no_rounding_whatever_the_part_is() -> None:
    """How a Loop rounds is not known; SAME and pads of 0 contradict each other for a proof."""
    head = 'g (float[1,2,9] x) => (float[n,a,b,c] y) <int64 turns = {2}> { y = Loop (turns, "") '
    body = "<body: graph = b (int64 i, bool on) => (bool go, float[a,b,c] z) { go = Identity (on) "
    pool = "z = MaxPool <kernel_shape = [3], strides = [2], pads = [0, 0]"
    before, after = (
        text(f"{head}{body}{pool}{more}> (x) }}> }}", opset=22)
        for more in ("", ', auto_pad = "SAME_UPPER"')
    )
    report = cpu(before, after)
    assert report.verdict is Verdict.DIFFERENT
    assert "shape [2, 1, 2, 4] against [2, 1, 2, 5]" in report.reason
