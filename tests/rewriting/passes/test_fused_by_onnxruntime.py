"""What onnxruntime's Pad fusion left alone before a rewrite, it must not fuse wrongly behind it.

Single models and what is said of them are text cases: cases/fused-by-onnxruntime.txt.
"""

from __future__ import annotations

import numpy as np
import onnx
import onnx.inliner
import pytest
from onnx import parser

from onnxpad.rewriting.passes import all_passes
from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import NEGATIVE, X5, Array, by_onnxruntime, tiny, values
from tests.oracle.onnxruntime_levels import ran

ONE_EACH = "int64[6] p = {0, 0, 1, 0, 0, 1}"
SHARED = "a = Pad (x, p) m = {} (a) [op] c = Conv (a, w) y = Concat <axis = 2> (c, m)"
BEHIND_ANOTHER = "z = Pad (x, p) " + SHARED.replace("(x, p)", "(z, p)")
AVERAGE = '[op] y = AveragePool <kernel_shape = [2], count_include_pad = 1, auto_pad = "VALID"> (b)'
CASES = {
    "a max pool reads the Pad too": (SHARED.format("MaxPool <kernel_shape = [3]>"), NEGATIVE),
    "two Pads in a row": (f"a = Pad (x, p) b = Pad (a, p) {AVERAGE}", X5),
    "an average reads the Pad too": (SHARED.format("AveragePool <kernel_shape = [1]>"), X5),
    "an average behind two Pads reads the second too": (
        BEHIND_ANOTHER.format("AveragePool <kernel_shape = [2]>"),
        X5,
    ),
    "of which the first stays": (f"a = Pad (x, p) z = Relu (a) b = Pad (a, p) {AVERAGE}", X5),
}


@pytest.mark.part(2)
@pytest.mark.parametrize("rule", all_passes())
@pytest.mark.parametrize(("body", "x"), CASES.values(), ids=CASES)
def test_pads(body: str, x: Array, rule: str) -> None:
    model = tiny(body, f"float[1,1,{x.size}]", constants=ONE_EACH)
    assert by_onnxruntime(model, x, optimised=True) == values(model, x)
    after = rewrite(model, passes=[rule]).model
    assert isinstance(after, onnx.ModelProto)
    assert by_onnxruntime(after, x, optimised=True) == values(after, x) == values(model, x)


def test_onnxruntime_does_fuse_what_passes_leave_alone() -> None:
    """The text cases would say nothing of a release that fuses no such Pad."""
    body = "t = Pad(x, p) u = Identity(t) [op] y = MaxPool <kernel_shape=[3]{}> (u)"
    guarded, bare = (
        tiny(body.format(written), "float[1,1,4]", constants=ONE_EACH)
        for written in (', auto_pad="VALID"', "")
    )
    right = by_onnxruntime(guarded, NEGATIVE, optimised=True)
    assert right == by_onnxruntime(bare, NEGATIVE) == [0, -1, -1, 0]
    assert by_onnxruntime(bare, NEGATIVE, optimised=True) != right


@pytest.mark.parametrize(
    ("rule", "ends", "own"),
    [
        ("symmetric-pads-by-slice", 0, "kernel_shape=[3,3], pads=[0,0,2,0]"),
        ("floor-pool", 1, "kernel_shape=[3,3], strides=[3,3], ceil_mode=1"),
    ],
)
def test_what_onnxruntime_fuses_wrongly_it_must_still_load(rule: str, ends: int, own: str) -> None:
    before = parser.parse_model(
        '<ir_version: 9, opset_import: ["": 17]> g (float[1,1,5,5] x) => (float[a,b,c,d] y)'
        f"<int64[8] p = {{0,0,1,1,0,0,{ends},{ends}}}>"
        f"{{ t = Pad(x, p) [op] y = MaxPool<{own}>(t) }}"
    )
    x = (-1 - np.random.default_rng(5).random((1, 1, 5, 5))).astype(np.float32)
    after = rewrite(before, passes=[rule]).model
    assert isinstance(after, onnx.ModelProto)
    for model in (before, after):
        assert not isinstance(ran(model, {"x": x}, optimised=True), str)


CALLED_TWICE = (
    '<ir_version: 8, opset_import: ["": 18, "local": 1]>'
    "outside (float[1,1,2] x) => (float[] y, float[] z) <int64[6] p = {0,0,2,0,0,0}>"
    "{ t = Pad(x, p) %s }"
    '<opset_import: ["": 18], domain: "local"> Block (t) => (u)'
    '{ [op] u = %s <kernel_shape = [4], ceil_mode = 1, auto_pad = "SAME_LOWER"> (t) }'
)
BEHIND_CALLS = {
    "two results": "y = local.Block(t) z = local.Block(t)",
    "one result": "y = local.Block(t) b = local.Block(t) z = Neg(b)",
    "the other result": "b = local.Block(t) z = local.Block(t) y = Neg(b)",
    "none": "a = local.Block(t) b = local.Block(t) y = Abs(a) z = Neg(b)",
    "calls of another": "y = local.Block(t) z = Neg(t)",
}


@pytest.mark.part(7)
@pytest.mark.parametrize("rule", all_passes())
@pytest.mark.parametrize("pool", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("behind", BEHIND_CALLS)
@pytest.mark.parametrize("inlined", [False, True])
def test_readers_that_onnxruntime_makes_one_of(
    behind: str, pool: str, rule: str, *, inlined: bool
) -> None:
    """Calls of one function are equal; what a pass writes behind the pool no longer parts them."""
    model = parser.parse_model(CALLED_TWICE % (BEHIND_CALLS[behind], pool))
    if inlined:
        model = onnx.inliner.inline_local_functions(model)
    x = np.array([[[-3.0, -2.0]]], np.float32)
    right = ran(model, {"x": x}, optimised=True)
    after = rewrite(model, passes=[rule]).model
    assert isinstance(after, onnx.ModelProto)
    found = ran(after, {"x": x}, optimised=True)
    assert not isinstance(right, str)
    assert not isinstance(found, str), found
    np.testing.assert_allclose(found, right, rtol=1e-6)
