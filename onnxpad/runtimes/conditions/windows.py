"""Geometry behind the words: what runtimes ask of windows, weights and pads in cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from onnxpad.geometry.size import residues
from onnxpad.geometry.windows import Axis, output_size, possible_same_pads, same_totals
from onnxpad.padding.chain import AutoPad, Chain, Pads, Skip, is_same
from onnxpad.padding.effective_pads import effective_pads
from onnxpad.padding.operators import Kind

POOLS = ("MaxPool", "AveragePool")
WINDOWS = ("Conv", "ConvTranspose", *POOLS)
QUANTISED = ("QLinearConv", "ConvInteger")
_BIAS = {1: 2, 3: 8}
"""Where the bias is, by where the weight is: of Conv, and of QLinearConv."""


def possible_pads(chain: Chain) -> list[Pads]:
    """Pads in cells for every size that the model allows; nothing where they cannot be known.

    Those of SAME itself, which a runtime counts, also where others give the same at every size.
    """
    if chain.trouble or not is_same(chain.padding) or chain.op.kind is Kind.TRANSPOSED:
        found = effective_pads(chain)
        return [] if isinstance(found, Skip) else [found]
    lower = chain.padding is AutoPad.SAME_LOWER
    sides = [possible_same_pads(axis, lower=lower) for axis in chain.axes]
    return [Pads(tuple(b for b, _ in one), tuple(e for _, e in one)) for one in product(*sides)]


def of_pads(test: Callable[[Chain, Pads], bool]) -> Callable[[Chain], bool | None]:
    """A test of any possible pads: SAME on an open size has several. None if none is known."""

    def holds(chain: Chain) -> bool | None:
        candidates = possible_pads(chain)
        return any(test(chain, pads) for pads in candidates) if candidates else None

    return holds


def of_sides(test: Callable[[Axis, int, int], bool]) -> Callable[[Chain], bool | None]:
    """A test that holds for some spatial axis with its begin and its end pad."""
    return of_pads(lambda chain, pads: any(test(*side) for side in chain.sides(pads)))


def of_axes(test: Callable[[Axis], bool]) -> Callable[[Chain], bool]:
    """A test that holds for some spatial axis."""
    return lambda chain: any(test(axis) for axis in chain.axes)


def writes(chain: Chain, name: str) -> bool:
    """Whether the node has an attribute of this name."""
    return name in dict(chain.written.attributes)


def overhangs(chain: Chain, pads: Pads) -> bool:
    """Whether rounding up, without the rule that drops it, leaves a window in the end padding.

    Of sizes that are not known one for each rest by the stride is looked at.
    """
    for axis, begin, end in chain.sides(pads):
        even = axis.stride == 1 or _always_even(chain, axis)
        for size in () if even and not isinstance(axis.size, int) else _sizes_of(axis):
            room = size + begin + end - axis.span
            if -(-room // axis.stride) * axis.stride >= size + begin:
                return True
    return False


def cut_off(chain: Chain, pads: Pads) -> bool:
    """Whether a window that ceil_mode adds may reach beyond the padded input."""
    for axis, begin, end in chain.sides(pads):
        if not isinstance(axis.size, int):
            if not _always_even(chain, axis):
                return True
        elif (axis.size + begin + end - axis.span) % axis.stride:
            return True
    return False


def _always_even(chain: Chain, axis: Axis) -> bool:
    """Whether SAME pads every size so that the windows end with the padding."""
    return is_same(chain.padding) and axis.span >= axis.stride


def _sizes_of(axis: Axis) -> Sequence[int]:
    """The size; where that is not known, what it can leave when it is divided by the stride."""
    if isinstance(axis.size, int):
        return (axis.size,)
    return range(axis.stride) if axis.size is None else residues(axis.size, axis.stride)


def is_like_same_upper(chain: Chain) -> bool | None:
    """Whether SAME_UPPER has the same pads; None where it hangs on sizes that are not known."""
    own = possible_pads(chain)
    same = possible_pads(replace(chain, padding=AutoPad.SAME_UPPER))
    if not own or not same:
        return None
    shared = any(pads in same for pads in own)
    return None if shared and len(own) + len(same) > 2 else shared


def keeps_sizes(chain: Chain, pads: Pads) -> bool:
    """Whether the result has the sizes of the input, all of them known."""
    sides = chain.sides(pads)
    return chain.has_fixed_sizes and all(output_size(*side) == side[0].size for side in sides)


def leaves_last_cell(chain: Chain) -> bool:
    """Whether SAME wants fewer than 0 cells on some axis."""
    return any(total < 0 for axis in chain.axes for total in same_totals(axis))


def has_nine_taps(chain: Chain) -> bool:
    """Whether the kernel is 9 cells in a row."""
    kernel = [axis.kernel for axis in chain.axes]
    plain = all(axis.dilation == 1 for axis in chain.axes)
    return len(kernel) <= 2 and prod(kernel) == 9 and max(kernel) == 9 and plain


def reads_one_channel_a_group(chain: Chain) -> bool | None:
    """Whether a convolution is depthwise, with one output or several for each channel."""
    group, shape = chain.attribute("group", 1), chain.weight.shape
    if group == 1 or chain.op.weight is None:
        return False
    if shape is None or len(shape) < 2:
        return None
    channels = shape[0] if chain.op.kind is Kind.TRANSPOSED else shape[1]
    if not isinstance(channels, int):
        return None
    return channels == (group if chain.op.kind is Kind.TRANSPOSED else 1)


def has_multiplier(chain: Chain) -> bool:
    """Whether a depthwise convolution makes several outputs of each channel."""
    sizes, channels = chain.weight.shape, chain.shape[1] if chain.shape else None
    if sizes is None or len(sizes) < 2 or sizes[1] != 1:
        return False
    return sizes[0] != 1 and channels not in (1, sizes[0])


def has_bias(chain: Chain) -> bool:
    """Whether a convolution reads a bias."""
    place = _BIAS.get(chain.op.weight or 0)
    return place is not None and chain.written.inputs[place : place + 1] == (True,)


def is_off_middle(chain: Chain) -> bool | None:
    """Whether the zero point of a quantised weight is not the middle of its type."""
    middle = {"int8": 0, "uint8": 128}.get(chain.weight.whole)
    if middle is None or chain.weight.zero_point is None:
        return None
    return chain.weight.zero_point != middle


def wraps_again(chain: Chain) -> bool:
    """Whether a Pad in mode wrap adds more cells to an axis than the axis has."""
    step = chain.pad
    if step is None or step.unclear or step.mode != "wrap":
        return False
    sizes = chain.shape or (None,) * len(step.pads.begins)
    pairs = zip(sizes, step.pads.sides, strict=True)
    return any(
        isinstance(size, int) and max(begin, end) > size + min(begin, 0) + min(end, 0)
        for size, (begin, end) in pairs
    )
