"""What ncnn makes of operators whose results have sizes that are open."""

from __future__ import annotations

import onnx
import pytest

from onnxpad import rewrite
from tests.models.text import text_model

SIZE = "Slice, Resize, Reshape or Expand to an open size that is computed"

SIZES = (
    "c = Conv (x, w) p = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> "
    "(c) s = Shape (c) hw = Slice (s, two, four) z = Concat <axis = 0> (lead, hw) "
)
SCALES = (
    "t = Shape (p) u = Slice (t, two, four) a = Cast <to = 1> (hw) b = Cast <to = 1> (u) "
    "q = Div (a, b) f = Concat <axis = 0> (ones, q) "
)


def model(body: str, size: str = "h", opset: int = 13) -> onnx.ModelProto:
    return text_model(
        SIZES + body,
        inputs=f"float[1, 2, {size}, {size}] x",
        outputs="float[a, b, e, d] y",
        constants="int64[1] two = {2}, int64[1] four = {4}, int64[2] lead = {1, 2}, "
        "float[2] ones = {1, 1}, float[4] twice = {1, 1, 2, 2}, int64[3] flat = {1, 2, -1}, "
        "int64[2] rows = {1, -1}, int64[4] fixed = {1, 2, 20, 20}, int64[4] kept = {-1, 2, 0, 0}, "
        "float[2, 2, 1, 1] w = {1, 2, 3, 4}",
        opset=opset,
    )


MEASURED = [
    ("y = Resize (p, , , z)", [SIZE]),
    (SCALES + "y = Resize (p, , f)", [SIZE]),
    ("y = Resize (p, , twice)", []),
    ("y = Resize (p, , , fixed)", []),
    ("y = Reshape (c, z)", []),
    ("y = Reshape (c, kept)", []),
    ("y = Reshape (c, rows)", []),
    ("y = Reshape (c, flat)", [SIZE]),
    ("f = Reshape (c, rows) y = Reshape (f, z)", [SIZE]),
    ("g = GlobalAveragePool (c) e = Expand (g, z) y = Concat <axis = 1> (e, c)", [SIZE]),
    ("s2 = Shape (c) y = Expand (c, s2)", []),
    ("e = ConstantOfShape (z) y = Add (e, c)", [SIZE]),
]


@pytest.mark.parametrize("target", ["ncnn", "portable"])
@pytest.mark.parametrize(("body", "found"), MEASURED)
def test_results_of_open_sizes_that_pnnx_writes_one_size_into(
    body: str, found: list[str], target: str
) -> None:
    unfit = [one.op for one in rewrite(model(body), target=target).unfit]
    assert [op for op in unfit if op == SIZE] == found


@pytest.mark.parametrize("body", [body for body, found in MEASURED if found])
def test_of_sizes_that_are_said_nothing_is_frozen(body: str) -> None:
    assert not rewrite(model(body, "8"), target="ncnn").unfit
    assert not rewrite(model(body), target="ncnn", dims={"h": 8}).unfit


def test_an_upsample_of_computed_scales_is_frozen_too() -> None:
    unfit = rewrite(model(SCALES + "y = Upsample (p, f)", opset=9), target="ncnn").unfit
    assert [one.op for one in unfit] == [SIZE]


def test_the_cure_of_a_computed_resize_is_a_size() -> None:
    (one,) = rewrite(model("y = Resize (p, , , z)"), target="ncnn").unfit
    (cure,) = one.judgement.cures
    assert "--dim NAME=NUMBER" in cure
