"""Lost output_padding of any size, pads that differ between axes: found, with sizes or without."""

from __future__ import annotations

from itertools import product

import pytest
from onnx import ModelProto, parser

from onnxpad.diagnosis import Cause, diagnose
from onnxpad.retargeting import retarget
from tests.retargeting.running import outputs, relative, signed

MODEL = """
<ir_version: 8, opset_import: ["" : 19]>
g (float[1, 2, 13, 12] x) => (float[N, C, H, W] y)
<float[2, 2, 3, 3] w = {THREE}, float[2, 2, 5, 5] v = {FIVE}> {
  a = LAYER
  b = Tanh (a)
  BEHIND
}
"""
X = signed(0, 1, 2, 13, 12)
CONV = "y = Conv <pads = [1, 1, 1, 1]> (b, w)"
SIZES_HIDDEN = "y = GlobalAveragePool (b)"


def model(layer: str, behind: str = CONV) -> ModelProto:
    """The layer, a Tanh, and what stands behind."""
    text = MODEL.replace("LAYER", layer).replace("BEHIND", behind)
    for word, cells in (("THREE", 36), ("FIVE", 100)):
        text = text.replace(word, ", ".join(f"{one:.6f}" for one in signed(1, cells) / 3))
    return parser.parse_model(text)


def check_is_found(wrong: ModelProto, right: ModelProto, most: int) -> None:
    reference = outputs(right, X)[0]
    found = diagnose(wrong, inputs={"x": X}, outputs={"y": reference}, device="cpu")
    assert (found.explained, found.cause) == (True, Cause.PADDING), found.reason
    assert found.tried < most
    made = retarget(wrong, plan=found.plan).model
    assert relative(outputs(made, X)[0], reference) < 1e-5


def grown(more: tuple[int, int], pads: tuple[int, int] = (0, 0)) -> str:
    flat = ", ".join(map(str, (*pads, *pads)))
    extra = ", ".join(map(str, more))
    words = f"strides = [3, 3], pads = [{flat}], output_padding = [{extra}]"
    return f"ConvTranspose <{words}> (x, w)"


@pytest.mark.parametrize("more", [more for more in product(range(3), repeat=2) if max(more) > 1])
def test_a_lost_output_padding_of_two_is_found(more: tuple[int, int]) -> None:
    check_is_found(model(grown((0, 0))), model(grown(more)), 60)


@pytest.mark.parametrize(
    ("more", "pads"), [((2, 2), (1, 1)), ((2, 1), (0, 1)), ((0, 2), (2, 1))], ids=str
)
def test_a_lost_output_padding_with_lost_pads_is_found(
    more: tuple[int, int], pads: tuple[int, int]
) -> None:
    check_is_found(model(grown((0, 0))), model(grown(more, pads)), 120)


def conv(pads: str, weights: str = "w") -> str:
    return f"Conv <pads = [{pads}]> (x, {weights})"


def pool(pads: str) -> str:
    return f"MaxPool <kernel_shape = [2, 2], strides = [2, 1], pads = [{pads}]> (x)"


PAIRS = {
    "a pool": (pool("0, 0, 0, 0"), pool("0, 1, 0, 1")),
    "more on one axis": (conv("1, 1, 1, 1"), conv("2, 1, 2, 1")),
    "as many as the window": (conv("1, 1, 1, 1"), conv("3, 1, 3, 1")),
    "none on one axis": (conv("1, 1, 1, 1"), conv("1, 0, 1, 0")),
    "from none": (conv("0, 0, 0, 0"), conv("0, 1, 0, 1")),
    "five": (conv("2, 2, 2, 2", "v"), conv("4, 1, 4, 1", "v")),
}


@pytest.mark.parametrize(("wrong", "right"), PAIRS.values(), ids=PAIRS)
def test_numbers_that_differ_between_axes_are_found(wrong: str, right: str) -> None:
    check_is_found(model(wrong), model(right), 120)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [(conv("1, 1, 1, 1"), conv("2, 1, 2, 1")), (conv("0, 0, 0, 0"), conv("3, 1, 3, 1"))],
)
def test_they_are_found_where_no_size_shows(wrong: str, right: str) -> None:
    check_is_found(model(wrong, SIZES_HIDDEN), model(right, SIZES_HIDDEN), 300)


def test_sizes_that_are_right_leave_few_ways_to_try() -> None:
    """A scale is wrong, not padding: of 36 pads for a kernel of 5 few are near the right sizes."""
    right = model(conv("2, 2, 2, 2", "v"), "y = Identity (b)")
    reference = outputs(right, X)[0] * 1.5
    found = diagnose(right, inputs={"x": X}, outputs={"y": reference}, device="cpu")
    assert (found.explained, found.cause) == (False, Cause.NOT_PADDING), found.reason
