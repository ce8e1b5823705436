"""Sizes at which windows hold padding alone are drawn again, and what such windows change."""

from typing import Any

import numpy as np
from onnx import ModelProto

from onnxpad.validation import Validation, Verdict
from tests.validation.builders import model, node
from tests.validation.runs import validate

RANDOM = np.random.default_rng(11)
W = RANDOM.standard_normal((2, 3, 1, 1)).astype(np.float32)
LAST = (RANDOM.standard_normal((2, 2, 1, 1)) * 0.1).astype(np.float32)


def shrinking(*, pad: bool, sizes: tuple[int | str, int | str], kernel: int = 30) -> ModelProto:
    """A wide average leaves few cells for a MaxPool of kernel 2, dilation 6 and pads 1.

    Of 34 cells it leaves 5, and the only window reads one cell of padding at either end.
    """
    window: dict[str, Any] = {"kernel_shape": [2, 2], "dilations": [6, 6], "strides": [1, 1]}
    first = node("AveragePool", ["x"], ["a"], name="shrink", kernel_shape=[kernel, kernel])
    conv = node("Conv", ["a", "W"], ["c"], name="c1")
    if pad:
        middle = [
            node("Pad", ["c", "pads", "v"], ["q"], name="pad"),
            node("MaxPool", ["q"], ["m"], name="pool", **window),
        ]
    else:
        middle = [node("MaxPool", ["c"], ["m"], name="pool", pads=[1, 1, 1, 1], **window)]
    constants = {
        "W": W,
        "L": LAST,
        "v": np.array(-np.inf, np.float32),
        "pads": np.array([0, 0, 1, 1, 0, 0, 1, 1]),
    }
    last = node("Conv", ["m", "L"], ["y"], name="c2")
    return model([first, conv, *middle, last], constants, shape=[1, 3, *sizes])


def both(sizes: tuple[int | str, int | str], **options: Any) -> Validation:
    before, after = (shrinking(pad=pad, sizes=sizes) for pad in (False, True))
    return validate(before, after, device="cpu", **options)


def test_sizes_with_windows_of_padding_alone_are_drawn_again() -> None:
    report = both(("H", "W"))
    assert report.verdict is Verdict.IDENTICAL, report.reason
    assert all(min(shapes["x"][2:]) > 38 for shapes in report.input_shapes)
    assert report.warnings == ()


def test_fixed_sizes_with_windows_of_padding_alone_are_said_and_the_node_is_named() -> None:
    report = both((34, 34))
    assert report.verdict is Verdict.DIFFERENT
    assert report.first_difference is not None
    assert len([w for w in report.warnings if "say little" in w]) == 1


def test_a_model_that_always_overflows_is_tried_a_few_times_only() -> None:
    huge = model([node("Mul", ["x", "k"], ["y"])], {"k": np.array(1e38, np.float32)})
    steps: list[str] = []
    report = validate(huge, huge, device="cpu", progress=steps.append)
    assert report.verdict is Verdict.IDENTICAL
    assert [w for w in report.warnings if "no better sizes" in w] == list(report.warnings)
    assert len(report.warnings) == 1
    assert max(max(shapes["x"]) for shapes in report.input_shapes) < 64
