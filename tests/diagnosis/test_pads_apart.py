"""Padding apart from convolutions and pools: a Pad node somewhere, or outside of the model."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from onnx import ModelProto, parser

from onnxpad.diagnosis import Cause, diagnose
from onnxpad.retargeting import retarget
from tests.retargeting.running import Array, outputs, signed

LONE = """
<ir_version: 8, opset_import: ["" : OPSET]>
g (float[1, 2, H, W] x) => (float[1, 1, N, M] y)
<int64[8] p = {PADS}, float v = {VALUE}> {
  r = LeakyRelu (x)
  a = Pad <mode = "MODE"> (r, p, v)
  y = ReduceMean <axes = [1]> (a)
}
"""
OLD = ("(r, p, v)", "(r)"), ('mode = "MODE"', 'mode = "MODE", pads = [PADS], value = VALUE')
SIDES = ("0,0,1,2,0,0,1,0", "0,0,1,1,0,0,1,1", "0,0,0,0,0,0,2,2", "0,0,2,2,0,0,0,0")
X = signed(3, 1, 2, 9, 10).astype(np.float32)


def lone(opset: int, mode: str, pads: str, value: str = "0.0") -> ModelProto:
    text = LONE
    for word, part in OLD if opset < 11 else ():
        text = text.replace(word, part)
    parts = {"OPSET": str(opset), "MODE": mode, "PADS": pads, "VALUE": value}
    for word, part in parts.items():
        text = text.replace(word, part)
    return parser.parse_model(text)


@pytest.mark.part(3)
@pytest.mark.parametrize(
    ("opset", "mode", "pads"),
    [
        *product((9, 13), ("constant", "reflect", "edge"), SIDES),
        *product((17,), ("reflect", "edge"), SIDES),
    ],
)
def test_mode_and_sides_of_a_lone_pad(opset: int, mode: str, pads: str) -> None:
    wrong, right = lone(opset, "constant", SIDES[0]), lone(opset, mode, pads)
    reference = outputs(right, {"x": X})[0]
    found = diagnose(wrong, inputs={"x": X}, outputs={"y": reference}, budget=20)
    assert found.explained, found.reason
    mended = retarget(wrong, plan=found.plan).model
    larger = signed(4, 1, 2, 12, 13).astype(np.float32)
    for x in (X, larger):
        expected = outputs(right, {"x": x})[0]
        np.testing.assert_allclose(outputs(mended, {"x": x})[0], expected, atol=1e-6)


def test_a_number_that_a_lone_pad_writes() -> None:
    right = lone(13, "constant", SIDES[0], "-0.3")
    reference = outputs(right, {"x": X})[0]
    wrong = lone(13, "constant", SIDES[0])
    found = diagnose(wrong, inputs={"x": X}, outputs={"y": reference}, budget=20)
    assert found.explained, found.reason
    assert outputs(retarget(wrong, plan=found.plan).model, {"x": X})[0] == pytest.approx(
        reference, abs=1e-5
    )


def test_noise_is_no_lone_pad() -> None:
    noise = signed(9, 1, 1, 11, 12).astype(np.float32)
    found = diagnose(lone(13, "edge", SIDES[0]), inputs={"x": X}, outputs={"y": noise}, budget=4)
    assert (found.explained, found.plan.entries) == (False, ())


DEEP = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 1, H, W] x) => (float[1, 1, N, M] y)
<float[2, 1, 3, 3] w = {WEIGHTS}, float[1, 2, 3, 3] v = {WEIGHTS}, float[4] s = {1, 1, 2, 2}>
{
  a = Conv <pads = [1, 1, 1, 1]> (x, w)
  b = Relu (a)
  c = Conv <pads = [1, 1, 1, 1]> (b, v)
  y = Resize <mode = "nearest"> (c, , s)
}
"""


@pytest.mark.parametrize("mode", ["reflect", "edge", "constant"])
@pytest.mark.parametrize("sides", [((16, 16), (16, 16)), ((0, 12), (0, 8))])
def test_padding_outside_of_the_model(mode: str, sides: tuple[tuple[int, int], ...]) -> None:
    weights = ", ".join(f"{one:.5f}" for one in signed(5, 18))
    model = parser.parse_model(DEEP.replace("WEIGHTS", weights))
    x = signed(6, 1, 1, 20, 24).astype(np.float32)
    padded: Array = np.pad(x, [(0, 0), (0, 0), *sides], mode=mode)  # type: ignore[call-overload]
    whole = outputs(model, {"x": padded})[0]
    (top, bottom), (left, right) = (tuple(2 * cells for cells in pair) for pair in sides)
    rows, columns = whole.shape[2:]
    reference = whole[..., top : rows - bottom, left : columns - right]
    found = diagnose(model, inputs={"x": x}, outputs={"y": reference}, budget=30)
    assert (found.explained, found.cause) == (False, Cause.NOT_PADDING), found.reason
    assert "padded in front of the model" in found.reason
