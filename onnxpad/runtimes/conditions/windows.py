"""Questions about convolutions and pools: how their padding is written, and its geometry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import NamedTuple

from onnxpad.geometry.size import residues
from onnxpad.geometry.windows import Axis, output_size, possible_same_pads, same_totals
from onnxpad.padding.chain import AutoPad, Chain, Pads, Skip, is_same
from onnxpad.padding.effective_pads import effective_pads
from onnxpad.padding.forms import reaches_kernel
from onnxpad.padding.operators import Kind
from onnxpad.padding.possible_sizes import at_possible_sizes
from onnxpad.runtimes.conditions.rows import Condition


def overhangs(chain: Chain, pads: Pads) -> bool:
    """Whether rounding up, without the rule that drops it, leaves a window in the end padding."""
    return any(window.start >= window.size + window.begin for window in last_windows(chain, pads))


class LastWindow(NamedTuple):
    """Where the last window of an axis starts in the padded input.

    `floor` where the number of windows is rounded down, `start` where it is rounded up.
    """

    size: int
    begin: int
    end: int
    floor: int
    start: int


def last_windows(chain: Chain, pads: Pads) -> Iterator[LastWindow]:
    """The last window of every axis; of sizes that are not known one for each rest."""
    for axis, begin, end in chain.sides(pads):
        even = axis.stride == 1 or _always_even(chain, axis)
        for size in () if even and not isinstance(axis.size, int) else sizes_of(axis):
            room = size + begin + end - axis.span
            floor, start = (room // axis.stride, -(-room // axis.stride))
            yield LastWindow(size, begin, end, floor * axis.stride, start * axis.stride)


def cut_off(chain: Chain, pads: Pads) -> bool:
    """Whether rounding up makes a window that reads beyond the padded input."""
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


def sizes_of(axis: Axis) -> Sequence[int]:
    """The size; where that is not known, what it can leave when it is divided by the stride."""
    if isinstance(axis.size, int):
        return (axis.size,)
    return range(axis.stride) if axis.size is None else residues(axis.size, axis.stride)


CONVOLUTIONS = ("Conv",)
TRANSPOSED = ("ConvTranspose",)
POOLS = ("MaxPool", "AveragePool")
WINDOWS = (*CONVOLUTIONS, *TRANSPOSED, *POOLS)
QUANTISED = ("QLinearConv", "ConvInteger")


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
    """A test of the pads in cells, which hang on sizes where auto_pad is SAME."""

    def holds(chain: Chain) -> bool | None:
        found = possible_pads(chain)
        return any(test(chain, pads) for pads in found) if found else None

    return holds


def of_sides(test: Callable[[Axis, int, int], bool]) -> Callable[[Chain], bool | None]:
    """A test that holds for some spatial axis with its begin and its end pad."""

    def holds(chain: Chain, pads: Pads) -> bool:
        sides = chain.sides(pads)
        return any(test(axis, begin, end) for axis, begin, end in sides)

    return of_pads(holds)


def of_axes(test: Callable[[Axis], bool]) -> Callable[[Chain], bool]:
    """A test that holds for some spatial axis."""
    return lambda chain: any(test(axis) for axis in chain.axes)


def auto_pad(*values: str) -> Condition:
    """auto_pad is one of `values`."""
    words = " or ".join(values)
    return Condition(
        f"auto_pad is {words}", lambda c: c.padding in values, f"auto_pad is not {words}"
    )


SAME = auto_pad("SAME_UPPER", "SAME_LOWER")
SAME_UPPER = auto_pad("SAME_UPPER")
SAME_LOWER = auto_pad("SAME_LOWER")
VALID = auto_pad("VALID")
AUTO_PAD = auto_pad("VALID", "SAME_UPPER", "SAME_LOWER").called(
    "auto_pad is written", "auto_pad is not written"
)

PADDED = Condition("it pads", of_pads(lambda _, pads: any(pads.flat)))


def _reads_padding(chain: Chain, pads: Pads) -> bool:
    for axis, begin, end in chain.sides(pads):
        for size in sizes_of(axis):
            room = size + begin + end - axis.span
            windows = -(-room // axis.stride) if chain.ceil_mode else room // axis.stride
            if begin or (end and windows * axis.stride + axis.span > size + begin):
                return True
    return False


PADDING_READ = Condition("it pads, and a window reads the padding", of_pads(_reads_padding))


def _like_same_upper(chain: Chain) -> bool | None:
    """None where it hangs on sizes that are not known."""
    own = possible_pads(chain)
    same = possible_pads(replace(chain, padding=AutoPad.SAME_UPPER))
    if not own or not same:
        return None
    shared = any(pads in same for pads in own)
    return None if shared and len(own) + len(same) > 2 else shared


LIKE_SAME_UPPER = Condition(
    "its pads are those of SAME_UPPER", _like_same_upper, "its pads are not those of SAME_UPPER"
)


FIRST_UNPADDED = Condition(
    "it pads, but not at the begin of its first axis",
    of_pads(lambda _, pads: any(pads.flat) and pads.begins[:1] == (0,)),
    "it pads nothing, or the begin of its first axis",
)
ASYMMETRIC = Condition(
    "begin and end pads differ", of_pads(lambda _, pads: pads.begins != pads.ends)
)
EXPLICIT_ASYMMETRIC = Condition(
    "begin and end values of `pads` differ",
    lambda c: isinstance(c.padding, Pads) and c.padding.begins != c.padding.ends,
    "begin and end values of `pads` do not differ",
)
PADS_LIKE_KERNEL = Condition("a pad is as wide as the kernel", of_pads(reaches_kernel))
PADS_OVER_HALF = Condition(
    "a pad is wider than half the kernel",
    of_sides(lambda axis, begin, end: max(begin, end) > axis.kernel // 2),
)
NEGATIVE_PADS = Condition(
    "a value of `pads` is negative",
    lambda c: isinstance(c.padding, Pads) and any(p < 0 for p in c.padding.flat),
)
NEGATIVE_BEGIN = Condition(
    "a begin pad is negative", of_pads(lambda _, pads: any(pad < 0 for pad in pads.begins))
)
CUT_OFF = replace(NEGATIVE_PADS, cure="a Slice in front of it instead of its negative pads")
"""The same of operators whose pads add cells to what they read."""
PADS_UNWRITTEN = Condition("pads is not written", lambda c: not writes(c, "pads"))
STRIDES_UNWRITTEN = Condition("strides is not written", lambda c: not writes(c, "strides"))
KERNEL_UNWRITTEN = Condition("kernel_shape is not written", lambda c: not writes(c, "kernel_shape"))
STRIDED = Condition(
    "a stride is above 1", of_axes(lambda axis: axis.stride > 1), "no stride is above 1"
)
DILATED = Condition(
    "a dilation is above 1", of_axes(lambda axis: axis.dilation > 1), "no dilation is above 1"
)
SPREAD = Condition(
    "a kernel of 2 or more is dilated",
    of_axes(lambda axis: axis.kernel > 1 and axis.dilation > 1),
)
STRIDED_AND_DILATED = (STRIDED & DILATED).called("a stride and a dilation are above 1")


def _least_total(chain: Chain) -> int:
    """The least number of cells, perhaps negative, that SAME wants on an axis."""
    return min((total for axis in chain.axes for total in same_totals(axis)), default=0)


SAME_NEGATIVE = Condition(
    "no window reads the last cell of an axis, which SAME takes for negative padding",
    lambda c: _least_total(c) < 0,
    "a window reads the last cell of every axis",
)
SAME_SHIFTS = Condition(
    "no window reads the last two cells of an axis, which SAME takes for negative padding",
    lambda c: _least_total(c) < -1,
)
SAME_CUTS_BEGIN = (SAME_UPPER & SAME_NEGATIVE) | (SAME_LOWER & SAME_SHIFTS)
"""What halves negative padding cuts cells in front: of an odd number more with SAME_UPPER."""
KERNEL_OF_ONE = Condition(
    "the kernel is 1 on every axis",
    lambda c: all(axis.kernel == 1 for axis in c.axes),
    "the kernel is above 1 on some axis",
)
KERNEL_OF_THREE = Condition(
    "the kernel is 3 on every axis",
    lambda c: all(axis.kernel == 3 for axis in c.axes),
    "the kernel is not 3 on every axis",
)
KERNEL_BELOW_STRIDE = Condition(
    "a kernel is smaller than the stride",
    of_axes(lambda axis: axis.kernel < axis.stride),
    "no kernel is smaller than the stride",
)
UNEQUAL_STEPS = Condition(
    "strides or dilations differ between axes",
    lambda c: len({(axis.stride, axis.dilation) for axis in c.axes}) > 1,
)
CEIL_MODE = Condition("ceil_mode is 1", lambda c: c.ceil_mode, "ceil_mode is 0")
COUNTS = Condition("count_include_pad is 1", lambda c: c.counts_padding, "count_include_pad is 0")
INDICES = Condition("its Indices are used", lambda c: c.uses_indices)
COLUMNS_FIRST = Condition(
    "storage_order is 1", lambda c: c.attribute("storage_order", 0) == 1, "storage_order is 0"
)
OUTPUT_PADDING = Condition("output_padding is set", lambda c: any(c.output_padding))
OUTPUT_SHAPE = Condition(
    "output_shape is set", lambda c: bool(c.output_shape), "output_shape is not set"
)
GROUPED = Condition("group is above 1", lambda c: int(c.attribute("group", 1)) > 1)  # type: ignore[arg-type]
_BIAS = {1: 2, 3: 8}
"""Where the bias is, by where the weight is: of Conv, and of QLinearConv."""
HAS_BIAS = Condition(
    "it has a bias",
    lambda c: (at := _BIAS.get(c.op.weight or 0)) is not None and c.inputs[at : at + 1] == (True,),
)
WEIGHT_COMPUTED = Condition(
    "its weight is no constant",
    lambda c: c.op.weight is not None and not c.weight.has_value and c.around.dequantised is None,
)
SCALES_BY_CHANNEL = Condition(
    "its weight has a scale for each channel",
    lambda c: c.op.quantised and isinstance(c.weight.scales, int) and c.weight.scales > 1,
    "its weight has one scale",
)
WEIGHT_MADE = Condition(
    "its weight is computed",
    lambda c: not c.weight.has_value and not c.weight.handed_on and c.around.dequantised is None,
    "its weight is a constant, or an Identity hands it on",
)


def is_depthwise(chain: Chain) -> bool:
    """Whether each output of a convolution reads one channel, by its weight."""
    sizes = chain.weight.shape
    return sizes is not None and len(sizes) > 1 and sizes[1] == 1 and sizes[0] != 1


def takes_channels_apart(chain: Chain) -> bool:
    """Whether a convolution makes one output of each channel, by its weight and its group."""
    sizes, group = chain.weight.shape, chain.attribute("group", 1)
    return sizes is not None and sizes[:2] == (group, 1)


def _reads_one_channel_a_group(chain: Chain) -> bool | None:
    group, shape = chain.attribute("group", 1), chain.weight.shape
    if group == 1 or chain.op.weight is None:
        return False
    if shape is None or len(shape) < 2:
        return None
    channels = shape[0] if chain.op.kind is Kind.TRANSPOSED else shape[1]
    if not isinstance(channels, int):
        return None
    return channels == (group if chain.op.kind is Kind.TRANSPOSED else 1)


DEPTHWISE = Condition(
    "each group of the convolution reads one channel",
    _reads_one_channel_a_group,
    "a group of the convolution reads several channels",
)


def _has_multiplier(chain: Chain) -> bool:
    sizes, channels = chain.weight.shape, chain.shape[1] if chain.shape else None
    return is_depthwise(chain) and sizes is not None and channels not in (1, sizes[0])


SEVERAL_PER_CHANNEL = Condition(
    "it is depthwise, with several outputs for each channel", _has_multiplier
)
DILATIONS_DIFFER = Condition(
    "its dilations differ", lambda c: len({axis.dilation for axis in c.axes}) > 1
)


def _reads_padding_alone(chain: Chain) -> bool | None:
    if not chain.op.has_windows or chain.op.kind is Kind.TRANSPOSED:
        return False
    found = set[bool | None]()
    for sized in (*at_possible_sizes(chain),) or (chain,):
        pads = possible_pads(sized)
        is_known = len(pads) == 1 and sized.has_fixed_sizes
        found.add(_has_empty_window(sized, pads[0]) if is_known else None)
    return found.pop() if len(found) == 1 else None


def _has_empty_window(chain: Chain, pads: Pads) -> bool:
    for axis, begin, end in chain.sides(pads):
        count = output_size(axis, begin, end, ceil_mode=chain.ceil_mode)
        if not isinstance(count, int) or not isinstance(axis.size, int):
            continue
        for start in range(-begin, count * axis.stride - begin, axis.stride):
            taps = range(start, start + axis.span, axis.dilation)
            if not any(0 <= tap < axis.size for tap in taps):
                return True
    return False


EMPTY_WINDOW = Condition(
    "a window reads padding alone", _reads_padding_alone, "every window reads a cell of data"
)
DROPPED_WINDOW = Condition(
    "the last window of ceil_mode starts in the end padding",
    lambda c: c.ceil_mode and of_pads(overhangs)(c),
    of_windows=True,
)
CUT_WINDOW = Condition(
    "the last window of ceil_mode reads beyond the padding",
    lambda c: c.ceil_mode and of_pads(cut_off)(c),
)


def _gains_window(chain: Chain, pads: Pads) -> bool:
    """Whether rounding up makes a window that starts before the end padding."""
    found = last_windows(chain, pads)
    return any(one.floor < one.start < one.size + one.begin for one in found)


GAINED_WINDOW = Condition(
    "ceil_mode adds a window", lambda c: c.ceil_mode and of_pads(_gains_window)(c)
)


def _negative_crop(chain: Chain) -> bool:
    if chain.op.kind is not Kind.TRANSPOSED or not is_same(chain.padding):
        return False
    return any(axis.span < axis.stride for axis in chain.axes)


NOTHING_TO_CROP = Condition(
    "auto_pad is SAME_UPPER or SAME_LOWER, and a window is shorter than the stride", _negative_crop
)


def _odd_crop(chain: Chain) -> bool | None:
    pads = effective_pads(chain)
    return None if isinstance(pads, Skip) else pads.begins != pads.ends


ODD_OUTPUT_SHAPE = (OUTPUT_SHAPE & Condition("", _odd_crop)).called(
    "output_shape needs begin and end pads that differ"
)


def writes(chain: Chain, name: str) -> bool:
    """Whether the node has an attribute of this name."""
    return name in dict(chain.attributes)


def _unwritten(name: str) -> Condition:
    return Condition(
        f"{name} is not written", lambda c: not writes(c, name), f"{name} is written"
    )


def _says_both(chain: Chain) -> bool:
    auto_pad = chain.attribute("auto_pad", "NOTSET")
    return writes(chain, "pads") and auto_pad not in ("", "NOTSET")


def _is_as_wide_as_deep(chain: Chain, pads: Pads) -> bool:
    outputs = (chain.weight.shape or (0,))[0]
    if not takes_channels_apart(chain) or outputs == 1:
        return False
    *_, (axis, begin, end) = chain.sides(pads)
    return output_size(axis, begin, end) == outputs


def _has_nine_taps(chain: Chain) -> bool:
    kernel = [axis.kernel for axis in chain.axes]
    plain = all(axis.dilation == 1 for axis in chain.axes)
    return len(kernel) <= 2 and prod(kernel) == 9 and max(kernel) == 9 and plain


def _is_off_middle(chain: Chain) -> bool | None:
    middle = {"int8": 0, "uint8": 128}.get(chain.weight.whole)
    if middle is None or chain.weight.zero_point is None:
        return None
    return chain.weight.zero_point != middle


DILATIONS_UNWRITTEN = _unwritten("dilations")
COUNTING_UNWRITTEN = _unwritten("count_include_pad")
AUTO_PAD_AND_PADS = Condition(
    "auto_pad and pads are both written", _says_both, "auto_pad and pads are not both written"
)
UNEQUAL_PADS = Condition(
    "not all its pads are equal",
    of_pads(lambda _, pads: len(set(pads.flat)) > 1),
    "all its pads are equal",
)
HALF_KERNEL = Condition(
    "its pads are half of an odd kernel",
    of_pads(lambda c, p: all(a.kernel == 2 * b + 1 and b == e for a, b, e in c.sides(p))),
    "its pads are not half of an odd kernel",
)
WIDE_AS_DEEP = Condition(
    "it is depthwise, and its result has as many columns as channels",
    of_pads(_is_as_wide_as_deep),
    "it is not depthwise, or its result has not as many columns as channels",
)
NINE_IN_A_ROW = Condition(
    "its kernel is 9 along one axis and 1 along the other, without dilations",
    _has_nine_taps,
    "its kernel is not 9 along one axis alone",
)
WEIGHT_INT8 = Condition(
    "its weight is stored as int8 with the zero point 0",
    lambda c: c.weight.whole == "int8" and c.weight.zero_point in (0, None),
    "its weight is not stored as int8 with the zero point 0",
)
WEIGHT_OFF_MIDDLE = Condition(
    "the zero point of its weight is not the middle of the type (0 of int8, 128 of uint8)",
    _is_off_middle,
    "the zero point of its weight is the middle of the type",
)
SCALES_LISTED = Condition(
    "a scale or zero point is a list, even if of one element",
    lambda c: c.weight.listed,
    "all scales and zero points are scalars",
)
SAMPLES_BORDER = Condition(
    "padding_mode is not zeros",
    lambda c: c.attribute("padding_mode", "zeros") != "zeros",
    "padding_mode is zeros",
)
END_ABOVE_BEGIN = Condition(
    "an end pad is above its begin pad",
    of_sides(lambda _, begin, end: end > begin),
    "no end pad is above its begin pad",
)
PADS_OFF_CENTRE = Condition(
    "a begin pad is not half of begin and end together, rounded down",
    of_sides(lambda _, begin, end: begin != (begin + end) // 2),
    "begin pads are half of begin and end together, rounded down",
)
BEGINS_OFF_CENTRE = Condition(
    "SAME with stride 1 and no dilation would have other begin pads",
    of_sides(lambda axis, begin, _: begin != (axis.kernel - 1) // 2),
    "its begin pads are half of the kernel less 1",
)
BEGINS_UNLIKE_STRIDE_ONE = Condition(
    "SAME with stride 1 would have other begin pads",
    of_pads(
        lambda c, pads: any(
            begin != (axis.span - (c.padding is not AutoPad.SAME_LOWER)) // 2
            for axis, begin, _ in c.sides(pads)
        )
    ),
    "SAME with stride 1 would have the same begin pads",
)
KEEPS_SIZES = Condition(
    "its result has the sizes of its input",
    of_pads(lambda c, pads: all(output_size(*side) == side[0].size for side in c.sides(pads))),
    "its result has other sizes than its input",
)
