"""What OpenCV makes of a product, and ncnn of a Slice where sizes are open."""

from __future__ import annotations

import onnx
import pytest

from onnxpad import rewrite
from tests.models.text import text_model

GATE = "Mul by the HardSigmoid of another tensor"
CAST = "Cast behind a Mul or Gather by a Constant node"
CROP = "Slice of an open size by computed starts or ends"

GATHERED = "m = Gather <axis = 1> (x, g) i = Cast <to = 7> (m) y = Cast <to = 1> (i)"
SIZES = "s = Shape (x) m = Gather (s, g) i = Cast <to = 1> (m)"
FLOORED = "f = Floor (j) k = Cast <to = 7> (f) y = Expand (x, k)"


def gated(factor: str, numbers: str) -> onnx.ModelProto:
    return text_model(
        f"n = Neg (x) h = HardSigmoid <{numbers}> (n) y = Mul ({factor})",
        inputs="float[1, 2, 5, 5] x",
        outputs="float[1, 2, 5, 5] y",
        opset=14,
    )


def cropped(size: str, ends: str = "e") -> onnx.ModelProto:
    return text_model(
        "s = Shape (x) e = Slice (s, two, four) r = LRN <size = 3> (x) "
        f"y = Slice (r, none, {ends}, two3)",
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


@pytest.mark.parametrize("target", ["opencv", "opencv-classic", "opencv@4.8", "portable"])
@pytest.mark.parametrize(
    ("nodes", "left_out"),
    [
        ("m = Mul (x, c) i = Cast <to = 7> (m) y = Cast <to = 1> (i)", True),
        ("m = Mul (c, x) i = Cast <to = 7> (m) y = Cast <to = 1> (i)", True),
        ("m = Mul (x, stored) i = Cast <to = 7> (m) y = Cast <to = 1> (i)", False),
        ("m = Add (x, c) i = Cast <to = 7> (m) y = Cast <to = 1> (i)", False),
        ("m = Mul (x, c) i = Cast <to = 11> (m) y = Cast <to = 1> (i)", False),
        (GATHERED, True),
        (f"{GATHERED} u = Add (y, m)", False),
        (f"{SIZES} n = Mul (i, c) j = Cast <to = 1> (n) {FLOORED}", False),
        (f"{SIZES} j = Div (i, c) {FLOORED}", True),
    ],
)
def test_a_cast_that_opencv_leaves_out(target: str, nodes: str, *, left_out: bool) -> None:
    stored = "c = Constant <value = float {1}> () g = Constant <value = int64[4] {0, 1, 2, 3}> () "
    model = text_model(
        stored + nodes,
        inputs="float[1, 4, 4, 4] x",
        outputs="float[a, b, c, d] y",
        constants="float stored = {2.5}",
        opset=14,
    )
    found = [one.op for one in rewrite(model, target=target).unfit]
    assert (CAST in found) is left_out


@pytest.mark.parametrize(
    ("size", "ends", "wrong"), [("h", "e", True), ("h", "minus", False), ("6", "e", False)]
)
def test_a_slice_that_ncnn_cuts_for_one_size(size: str, ends: str, *, wrong: bool) -> None:
    model = cropped(size, ends)
    assert [one.op for one in rewrite(model, target="ncnn").unfit] == [CROP] * wrong
    if wrong:
        assert not rewrite(model, target="ncnn", dims={"h": 6}).unfit
