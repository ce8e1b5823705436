"""Who judges: the float64 evaluator where onnxruntime cannot, and default optimisations."""

from typing import Any

import numpy as np
from onnx import ModelProto, numpy_helper

from onnxpad import Validation, Verdict, rewrite
from tests.validation.builders import model, node
from tests.validation.runs import validate


def cpu(before: object, after: object, **options: object) -> Validation:
    return validate(before, after, device="cpu", **options)  # type: ignore[arg-type]


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
