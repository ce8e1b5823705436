"""Padding of transposed windows: what it crops from the full output of one axis."""

from __future__ import annotations

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
    """Split a crop: SAME_UPPER takes the smaller half at the begin, all others the larger."""
    small = total // 2
    return (small, total - small) if upper else (total - small, small)


def transposed_output(axis: Axis, begin: int, end: int, output_padding: int) -> Size | None:
    """Output size: full size + output_padding - begin - end."""
    full = full_size(axis)
    return None if full is None else plus(full, output_padding - begin - end)
