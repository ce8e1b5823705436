"""Windows on one axis: sizes, SAME, rounding up, and what transposed windows crop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd, lcm
from typing import NamedTuple

from onnxpad.geometry.size import Size, Symbol, ceil_divide, floor_divide, plus, residues, times

_MOST_SIZES = 256


class Axis(NamedTuple):
    """A window that slides along one axis; sizes and steps in cells.

    `size` is the extent of the operator's input, None where not even a name is known.
    """

    size: Size | None
    kernel: int
    stride: int = 1
    dilation: int = 1

    @property
    def span(self) -> int:
        """Extent of the dilated kernel: d(k-1)+1."""
        return self.dilation * (self.kernel - 1) + 1


def output_size(axis: Axis, begin: int, end: int, *, ceil_mode: bool = False) -> Size | None:
    """Number of windows over the padded axis.

    With ceil_mode the last window is dropped when it would start in the end padding
    (ONNX Operators, MaxPool-22 and AveragePool-22; onnxruntime does so at every opset).
    """
    if axis.size is None:
        return None
    room = plus(axis.size, begin + end - axis.span)
    if not ceil_mode:
        return plus(floor_divide(room, axis.stride), 1)
    count = plus(ceil_divide(room, axis.stride), 1)
    if isinstance(count, int) and isinstance(axis.size, int):
        return count - 1 if (count - 1) * axis.stride >= axis.size + begin else count
    return count if _last_window_starts_inside(axis, end) else None


def _last_window_starts_inside(axis: Axis, end: int) -> bool:
    """Whether no size lets the last ceil window start in the end padding.

    Its start lies at most stride-1 cells after room = size+begin+end-span.
    """
    return end - axis.span + axis.stride - 1 < 0


def smaller_than_window(axis: Axis, begin: int, end: int, *, ceil_mode: bool = False) -> bool:
    """Whether the padded axis is known to be too short for one window.

    ceil_mode rounds up to one where less than a stride is missing.
    """
    if not isinstance(axis.size, int):
        return False
    missing = axis.span - (axis.size + begin + end)
    return missing >= axis.stride if ceil_mode else missing > 0


def holds_padding_alone(axis: Axis, begin: int, windows: int) -> bool:
    """Whether one of the first `windows` windows is known to hold no cell of the input."""
    if not isinstance(axis.size, int) or axis.size < 1:
        return False
    if windows < 1:
        return False
    in_front = range(min(windows, -(-begin // axis.stride)))
    if -begin <= -axis.span or (windows - 1) * axis.stride - begin >= axis.size:
        return True
    # The first cell that a window from in front of the data can read lies within one dilation.
    cycle = in_front[: axis.dilation // gcd(axis.stride, axis.dilation)]
    if axis.size >= axis.dilation:
        return False
    return any((number * axis.stride - begin) % axis.dilation >= axis.size for number in cycle)


def cells_within(cells: range, low: int, high: int) -> range:
    """Those of the cells that lie from `low` up to `high`; steps are positive."""
    first = max(0, -(-(low - cells.start) // cells.step))
    return cells[first : max(first, -(-(high - cells.start) // cells.step))]


def sample_sizes(axis: Axis, padded: int) -> Iterator[int]:
    """Sizes that stand for all that an axis can have: the small ones, and one period of strides.

    Windows of larger sizes read their borders like those of a size a multiple of the stride
    smaller.
    """
    size: Size | None = axis.size
    if isinstance(size, int):
        yield size
        return
    known = size or Symbol("?")
    period = lcm(axis.stride, known.modulus)
    least = max(known.minimum, 1)
    last = least + 2 * axis.span + padded + period
    first = least + (known.residue - least) % known.modulus
    yield from range(first, last + 1, known.modulus)[:_MOST_SIZES]


def same_pads(axis: Axis, *, lower: bool) -> tuple[int, int] | None:
    """(begin, end) of SAME padding in cells, or None where it depends on an unknown size.

    The output has ceil(size/stride) windows, so the total is max(0, span - r) with
    r = (size-1) mod stride + 1 (ONNX Operators, Conv-22, with the dilated kernel and clamped
    at 0). Where r is not known, one pair serves if every possible r asks for the same begin
    and the largest end gives none of them another window; padding behind the last window is
    never read.
    """
    remainders = _remainders(axis)
    # Begin and end grow with the total, which shrinks as the remainder grows.
    fewest, most = remainders[-1], remainders[0]
    (least, _), (begin, end) = (
        _split(max(0, axis.span - rest), lower=lower) for rest in (fewest, most)
    )
    if least != begin or fewest + begin + end - axis.span >= axis.stride:
        return None
    return begin, end


def possible_same_pads(axis: Axis, *, lower: bool) -> tuple[tuple[int, int], ...]:
    """(begin, end) of SAME padding for every size that is possible."""
    splits = [_split(max(0, total), lower=lower) for total in same_totals(axis)]
    return tuple(dict.fromkeys(splits))


def same_totals(axis: Axis) -> tuple[int, ...]:
    """Cells that SAME adds for every size that is possible; where negative, it adds none."""
    return tuple(axis.span - r for r in _remainders(axis))


def same_output(size: Size, stride: int) -> Size:
    """ceil(size/stride), the number of windows that SAME asks for."""
    return ceil_divide(size, stride)


def _remainders(axis: Axis) -> Sequence[int]:
    """The values of (size-1) mod stride + 1 that the size allows, the smallest first."""
    if axis.stride == 1:
        return (1,)
    if axis.size is None:
        return range(1, axis.stride + 1)
    before = residues(plus(axis.size, -1), axis.stride)
    return (
        [rest + 1 for rest in before]
        if len(before) == 1
        else range(before[0] + 1, before[-1] + 2, before[1] - before[0])
    )


def _split(total: int, *, lower: bool) -> tuple[int, int]:
    small = total // 2
    return (total - small, small) if lower else (small, total - small)


def overhang(axis: Axis, begin: int, end: int) -> int:
    """Fewest cells behind the padded axis with which rounding down gives the windows of ceil_mode.

    `end` must be below the span. With room = size + begin + end - span, rounding up adds a window
    that lacks -room mod stride cells. It is dropped when it would start in the end padding, at
    size + begin or later: then end - span + lacking >= 0, whatever the size (MaxPool-22,
    AveragePool-22). Where several sizes are possible, what the widest window that is kept lacks
    serves all of them: a stride more would be needed for a further window, and as much as it
    lacks itself for one that is dropped, which is more than any that is kept.
    """
    rests = _rests(axis, begin, end)
    step = rests[1] - rests[0] if len(rests) > 1 else axis.stride
    # What a window lacks are the numbers -rests[0] modulo the step, below the stride.
    kept = min(axis.span - end, axis.stride) - 1
    return max(0, kept - (kept + rests[0]) % step)


def full_size(axis: Axis) -> Size | None:
    """Extent without any crop: (size-1)*stride + span."""
    return None if axis.size is None else plus(times(plus(axis.size, -1), axis.stride), axis.span)


def same_crop(axis: Axis, output_padding: int, *, upper: bool) -> tuple[int, int]:
    """(begin, end) that auto_pad=SAME crops, whatever the size of the input.

    The total is max(0, span + output_padding - stride), clamped as onnxruntime and shape
    inference do; SAME_UPPER crops the smaller half at the begin (ConvTranspose-11).
    """
    return split_crop(max(0, axis.span + output_padding - axis.stride), upper=upper)


def shape_crop(full: int, output_padding: int, wanted: int, *, upper: bool) -> tuple[int, int]:
    """(begin, end) cropped from full + output_padding cells to leave `wanted` cells.

    A negative end is the number of cells that output_padding has to add.
    """
    total = full + output_padding - wanted
    return split_crop(total, upper=upper) if total >= 0 else (0, total)


def split_crop(total: int, *, upper: bool) -> tuple[int, int]:
    """Split a crop: SAME_UPPER takes the smaller half at the begin, all others the larger.

    The text of ConvTranspose-1 says the opposite, and runtimes of its time did so.
    """
    small = total // 2
    return (small, total - small) if upper else (total - small, small)


def transposed_output(axis: Axis, begin: int, end: int, output_padding: int) -> Size | None:
    """Output size: full size + output_padding - begin - end."""
    full = full_size(axis)
    return None if full is None else plus(full, output_padding - begin - end)


class Taps(NamedTuple):
    """More taps at the `front` and `back` of a kernel, whose pads are `pad` on both sides then.

    `extra` is the output_padding of a transposed one.
    """

    pad: int
    front: int = 0
    back: int = 0
    extra: int = 0


def equal_crop(axis: Axis, begin: int, end: int, extra: int) -> int | None:
    """The output_padding with which `begin` cropped on both sides leaves the same cells.

    An end pad and output_padding that grow together leave what they left. None where
    output_padding would be negative or reach the stride, which onnxruntime refuses.
    """
    wanted = extra + begin - end
    return wanted if wanted == extra or 0 <= wanted < axis.stride else None


def inner_extra(end: int, extra: int, pad: int) -> int:
    """The output_padding that a crop of `pad` at the end, at most `end`, needs to leave as much."""
    return max(0, extra - end + pad)


def taps_around(axis: Axis, begin: int, end: int, extra: int) -> Taps | None:
    """Taps of 0 with which an equal crop on both sides leaves the cells of (begin, end).

    Each tap moves the full output by one dilation. End pad and output_padding may shrink
    together first. None where no such end differs from `begin` by whole dilations.
    """
    taps = _taps(axis, begin, end - min(end, extra), end)
    if taps is None:
        return None
    nearest = begin + (taps.front - taps.back) * axis.dilation
    return taps._replace(extra=extra - end + nearest)


def taps_behind(axis: Axis, end: int, extra: int) -> tuple[int, int]:
    """(taps of 0 at the back, end pad) that replace `end` and the output_padding `extra`."""
    taps = -(-max(0, extra - end) // axis.dilation)
    return taps, end + taps * axis.dilation - extra


class SurplusWindows(NamedTuple):
    """`pad` cells on both sides; the first `first` and the last `beyond` windows are too many."""

    pad: int
    first: int
    beyond: int


def equal_ends(axis: Axis, begin: int, end: int) -> tuple[int, int]:
    """The smallest and the largest end pad that give the windows of `end`, whatever the size.

    Cells behind the last window are never read, and a further window needs a whole stride.
    """
    rests = _rests(axis, begin, end)
    return max(0, end - rests[0]), end + axis.stride - 1 - rests[-1]


def cut(axis: Axis, begin: int, end: int) -> SurplusWindows | None:
    """The least symmetric pad whose windows hold those of (begin, end), a whole stride apart.

    None where the number of windows behind them depends on an unknown size.
    """
    rests = _rests(axis, begin, end)
    first = max(0, -(-(end - rests[0] - begin) // axis.stride))
    pad = begin + first * axis.stride
    beyond = {(rest + pad - end) // axis.stride for rest in (rests[0], rests[-1])}
    return SurplusWindows(pad, first, beyond.pop()) if len(beyond) == 1 else None


def growth(axis: Axis, begin: int, end: int) -> Taps | None:
    """Taps of 0 with which a symmetric pad gives the windows of (begin, end).

    A tap in front starts each window one dilation earlier. A tap at the back keeps a further
    window from fitting. None if no end pad differs from `begin` by whole dilations.
    """
    return _taps(axis, begin, *equal_ends(axis, begin, end))


def _taps(axis: Axis, begin: int, low: int, high: int) -> Taps | None:
    """Taps that even out `begin` and the nearest end pad from `low` to `high` that they can."""
    step = axis.dilation
    nearest = begin
    if begin < low:
        nearest = low + (begin - low) % step
    elif begin > high:
        nearest = high - (high - begin) % step
    if not low <= nearest <= high:
        return None
    front, back = max(0, nearest - begin), max(0, begin - nearest)
    return Taps(max(begin, nearest), front // step, back // step)


def _rests(axis: Axis, begin: int, end: int) -> Sequence[int]:
    """Numbers of cells that may lie behind the last window, the smallest first."""
    if axis.size is None:
        return range(axis.stride)
    return residues(plus(axis.size, begin + end - axis.span), axis.stride)
