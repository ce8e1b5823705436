"""Padding of transposed windows: what it crops from the full output of one axis."""

from __future__ import annotations

from typing import NamedTuple

from onnxpad.geometry.axis import Axis
from onnxpad.geometry.size import Size, plus, times


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
    """(begin, end) that output_shape crops from `full` cells and output_padding.

    A negative end stands for cells that output_padding would have to add.
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


class TapsAround(NamedTuple):
    """More taps at the `front` and `back` of a kernel; `pad` is cropped on both sides then."""

    pad: int
    extra: int
    front: int
    back: int


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


def taps_around(axis: Axis, begin: int, end: int, extra: int) -> TapsAround | None:
    """Taps of 0 with which an equal crop on both sides leaves the cells of (begin, end).

    Each tap moves the full output by one dilation. End pad and output_padding may shrink
    together first. None where no such end differs from `begin` by whole dilations.
    """
    ends = range(end - min(end, extra), end + 1)
    fitting = [one for one in ends if (one - begin) % axis.dilation == 0]
    if not fitting:
        return None
    nearest = min(fitting, key=lambda one: abs(one - begin))
    front, back = max(0, nearest - begin), max(0, begin - nearest)
    less = extra - (end - nearest)
    return TapsAround(max(begin, nearest), less, front // axis.dilation, back // axis.dilation)


def taps_behind(axis: Axis, end: int, extra: int) -> tuple[int, int]:
    """(taps, end pad) that leave the cells of `end` and output_padding `extra` without the latter.

    The taps of 0 at the back reach at least as far as output_padding did.
    """
    taps = -(-max(0, extra - end) // axis.dilation)
    return taps, end + taps * axis.dilation - extra
