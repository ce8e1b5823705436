"""Depthwise convolutions that copy their input and pad it with zeros."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from onnxpad.padding.chain import Chain, PadStep, PassResult, Skip
from onnxpad.padding.expansion import Made, Numbers, Operand, Read
from onnxpad.padding.fills import number_of
from onnxpad.padding.operators import AttributeValue, Kind
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.pads import pools_refusal

_LARGEST = 1 << 18
_FIRST, _MOST_AXES = 2, 3
Sides = Sequence[tuple[int, int]]


def pad_by_copies(chain: Chain, count: int) -> PassResult:
    """A Pad node of zeros as `count` convolutions in a row, each with a part of the pads."""
    spatial = _zeros(chain)
    if isinstance(spatial, Skip):
        return spatial
    channels = _channels(chain, spatial)
    if isinstance(channels, Skip):
        return channels
    if max(map(max, spatial)) < count:
        return Skip(f"it pads fewer than {count} cells", moot=True)
    composer = Composer(chain.opset, chain.dtype)
    data: Operand = Read(0)
    for part in range(count):
        own = [(_part(begin, part, count), _part(end, part, count)) for begin, end in spatial]
        data = made = _copied(composer, data, channels, own)
    return composer.finish(made)


def _zeros(chain: Chain) -> Sides | Skip:
    """The cells that a Pad node of zeros adds to spatial axes."""
    step = chain.pad
    if chain.op.kind is not Kind.PAD or step is None:
        return Skip("no Pad node", moot=True)
    if step.unclear:
        return step.unclear.as_skip()
    sides = step.pads.sides
    if step.mode != "constant" or not (number_of(step.fill) == 0 or _may_be_zero(chain, step)):
        return Skip("it writes other cells than zeros")
    if any(map(any, sides[:_FIRST])) or min(step.pads.flat, default=0) < 0:
        return Skip("it pads the batch or the channels, or crops")
    return sides[_FIRST:]


def _may_be_zero(chain: Chain, step: PadStep) -> bool:
    """Whether 0 does for a value below 0: no cell of the data is below 0, and max pools read it."""
    value = number_of(step.fill)
    at_least = chain.around.at_least
    is_lower = value is not None and value < 0 and at_least is not None and at_least >= 0
    return is_lower and pools_refusal(chain) is None


def _channels(chain: Chain, sides: Sides) -> int | Skip:
    """The number of channels, where there is such a convolution."""
    if not chain.opset or not 0 < len(sides) <= _MOST_AXES:
        return Skip("no convolution has as few or as many axes")
    if chain.dtype != "float32":  # onnxruntime's CPU provider has a Conv of no other type
        return Skip("the element type of its input is not float32, or not known")
    channels = chain.shape[1] if chain.shape else None
    if not isinstance(channels, int) or channels < 1:
        return Skip("the number of its channels is not known")
    if channels * prod(abs(begin - end) + 1 for begin, end in sides) > _LARGEST:
        return Skip(f"it would need more than {_LARGEST} weights")
    return channels


def _part(cells: int, part: int, count: int) -> int:
    """The part of some cells, the larger ones first."""
    return cells // count + (part < cells % count)


def _copied(composer: Composer, data: Operand, channels: int, sides: Sides) -> Made:
    """One convolution; where begin and end differ, a longer kernel with one tap shifts it."""
    kernel = tuple(abs(begin - end) + 1 for begin, end in sides)
    pads = tuple(max(pair) for pair in sides)
    tap = tuple(most - begin for most, (begin, _) in zip(pads, sides, strict=True))
    cells = [float(cell == tap) for cell in product(*map(range, kernel))]
    weight = Numbers("copy", composer.dtype, (channels, 1, *kernel), tuple(cells * channels))
    attributes: dict[str, AttributeValue] = {
        "kernel_shape": kernel,
        "pads": pads * 2,
        "group": channels,
    }
    return composer.add("Conv", data, weight, attributes=attributes, role="copied")
