"""What OpenCV makes of a product, and ncnn of a Slice where sizes are open."""

from __future__ import annotations

import onnx
import pytest

from onnxpad import rewrite
from tests.models.text import text_model

GATE = "Mul by the HardSigmoid of another tensor"
CROP = "Slice of an open size by computed starts or ends"


def gated(factor: str, numbers: str) -> onnx.ModelProto:
    return text_model(
        f"n = Neg (x) h = HardSigmoid <{numbers}> (n) y = Mul ({factor})",
        inputs="float[1, 2, 5, 5] x",
        outputs="float[1, 2, 5, 5] y",
        opset=14,
    )


def cropped(size: str, ends: str = "e") -> onnx.ModelProto:
    return text_model(
        f"s = Shape (x) e = Slice (s, two, four) r = Relu (x) y = Slice (r, none, {ends}, two3)",
        inputs=f"float[1, 2, {size}, {size}] x",
        outputs="float[a, b, c, d] y",
        constants="int64[1] two = {2}, int64[1] four = {4}, int64[2] none = {0, 0}, "
        "int64[2] two3 = {2, 3}, int64[2] minus = {-1, -1}",
        opset=13,
    )


@pytest.mark.parametrize("target", ["opencv", "opencv-classic", "portable"])
@pytest.mark.parametrize(
    ("factor", "numbers", "wrong"),
    [
        ("x, h", "alpha = 0.16666667, beta = 0.5", True),
        ("h, x", "alpha = 0.16666667, beta = 0.5", True),
        ("n, h", "alpha = 0.16666667, beta = 0.5", False),
        ("x, h", "alpha = 0.16666667", False),
        ("x, h", "alpha = 0.16666667, beta = 0.4", False),
        ("x, h", "alpha = 0.2, beta = 0.5", False),
        ("x, h", "alpha = 0.1667, beta = 0.5", False),
    ],
)
def test_a_product_that_opencv_takes_for_hardswish(
    target: str, factor: str, numbers: str, *, wrong: bool
) -> None:
    found = rewrite(gated(factor, numbers), target=target).unfit
    assert [one.op for one in found] == [GATE] * wrong


@pytest.mark.parametrize(
    ("size", "ends", "wrong"), [("h", "e", True), ("h", "minus", False), ("6", "e", False)]
)
def test_a_slice_that_ncnn_cuts_for_one_size(size: str, ends: str, *, wrong: bool) -> None:
    model = cropped(size, ends)
    assert [one.op for one in rewrite(model, target="ncnn").unfit] == [CROP] * wrong
    if wrong:
        assert not rewrite(model, target="ncnn", dims={"h": 6}).unfit
