"""Write zero padding as a depthwise convolution that copies its input.

What: a Pad node of zeros becomes a Conv with a group and one weight of 1 for each channel. Its pads
are equal; where begin and end differ, a longer kernel shifts the window. For accelerators
without Pad, Slice and Concat. pad-by-two-convs writes two of them, each with a half of the pads,
for accelerators with a limit on pads; a Pad of single cells stays.

Exact: for finite inputs; a weight of 0 times infinity is no number.

Refuses: other values and modes, padded batches and channels, crops, other types than float32,
unknown numbers of channels or axes, more than 262144 weights.

Cost: a multiply-add for each cell of the output, times the longer kernel.

Example: Pad [0,0,0,0, 0,0,1,1] on 3 channels becomes Conv k2 pads=[1, 1, 1, 1] group=3.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from math import prod

from onnxpad.padding.chain import Chain, PassResult
from onnxpad.padding.expansion import Made, Numbers, Operand, Read
from onnxpad.padding.fills import number_of
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import AttributeValue
from onnxpad.rewriting.passes import Way
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.pads import pad_node
from onnxpad.rewriting.steps.refusals import refuse, require

REMOVES = {Form.PAD_NODE}
ADDS = {Form.PADS, Form.WIDER_THAN_KERNEL, Form.ONE_AXIS}

_LARGEST = 1 << 18
_FIRST, _MOST_AXES = 2, 3
_Sides = Sequence[tuple[int, int]]


def rewrite(chain: Chain) -> PassResult:
    """Copy the input by a convolution that pads."""
    return _copies(1, chain)[0]


def _copies(count: int, chain: Chain) -> Sequence[PassResult]:
    """A Pad node of zeros as `count` convolutions in a row, each with a part of the pads."""
    step = pad_node(chain)
    is_zero = step.mode == "constant" and number_of(step.fill) == 0
    require(is_zero, "it writes other cells than zeros")
    sides = step.pads.sides
    if any(map(any, sides[:_FIRST])) or min(step.pads.flat, default=0) < 0:
        refuse("it pads the batch or the channels, or crops")
    spatial = sides[_FIRST:]
    channels = _channels(chain, spatial)
    require(max(map(max, spatial)) >= count, f"it pads fewer than {count} cells", moot=True)
    composer = Composer(chain.opset, chain.dtype)
    data: Operand = Read(0)
    for part in range(count):
        own = [(_part(begin, part, count), _part(end, part, count)) for begin, end in spatial]
        data = made = _copied(composer, data, channels, own)
    return [composer.finish(made)]


def _channels(chain: Chain, sides: _Sides) -> int:
    """The number of channels, where there is such a convolution."""
    is_one = chain.opset and 0 < len(sides) <= _MOST_AXES
    require(is_one, "no convolution has as few or as many axes")
    # onnxruntime's CPU provider has a Conv of no other type
    is_float = chain.dtype == "float32"
    require(is_float, "the element type of its input is not float32, or not known")
    channels = chain.shape[1] if chain.shape else None
    if not isinstance(channels, int) or channels < 1:
        refuse("the number of its channels is not known")
    weights = channels * prod(abs(begin - end) + 1 for begin, end in sides)
    require(weights <= _LARGEST, f"it would need more than {_LARGEST} weights")
    return channels


def _part(cells: int, part: int, count: int) -> int:
    """The part of some cells, the larger ones first."""
    return cells // count + (part < cells % count)


def _copied(composer: Composer, data: Operand, channels: int, sides: _Sides) -> Made:
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


WAYS = {
    "pad-by-two-convs": Way(
        "Write zero padding as two depthwise convolutions, each with a half of the pads.",
        partial(_copies, 2),
    )
}
