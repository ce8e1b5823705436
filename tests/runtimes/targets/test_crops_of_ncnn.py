"""What ncnn makes of a Slice where sizes are open."""

from __future__ import annotations

import onnx
import pytest

from onnxpad import rewrite
from tests.models.text import text_model

CROP = "Slice, Resize, Reshape or Expand to an open size that is computed"


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


@pytest.mark.parametrize(
    ("size", "ends", "wrong"), [("h", "e", True), ("h", "minus", False), ("6", "e", False)]
)
def test_a_slice_that_ncnn_cuts_for_one_size(size: str, ends: str, *, wrong: bool) -> None:
    model = cropped(size, ends)
    assert [one.op for one in rewrite(model, target="ncnn").unfit] == [CROP] * wrong
    if wrong:
        assert not rewrite(model, target="ncnn", dims={"h": 6}).unfit
