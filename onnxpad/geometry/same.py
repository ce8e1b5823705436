"""auto_pad=SAME_UPPER and SAME_LOWER, resolved for one axis."""

from __future__ import annotations

from onnxpad.geometry.axis import Axis
from onnxpad.geometry.size import Size, ceil_divide, residues


def same_pads(axis: Axis, *, lower: bool) -> tuple[int, int] | None:
    """(begin, end) of SAME padding in cells, or None where it depends on an unknown size.

    The output has ceil(size/stride) windows, so the total is max(0, span - r) with
    r = (size-1) mod stride + 1 (ONNX Operators, Conv-22, with the dilated kernel and clamped
    at 0). Where r is not known, one pair serves if every possible r asks for the same begin
    and the largest end gives none of them another window; padding behind the last window is
    never read.
    """
    remainders = _remainders(axis)
    splits = [_split(max(0, total), lower=lower) for total in same_totals(axis)]
    begin, end = splits[0][0], max(end for _, end in splits)
    if any(other != begin for other, _ in splits):
        return None
    if any(r + begin + end - axis.span >= axis.stride for r in remainders):
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


def _remainders(axis: Axis) -> tuple[int, ...]:
    """The values of (size-1) mod stride + 1 that the size allows."""
    if axis.stride == 1:
        return (1,)
    if axis.size is None:
        return tuple(range(1, axis.stride + 1))
    return tuple((value - 1) % axis.stride + 1 for value in residues(axis.size, axis.stride))


def _split(total: int, *, lower: bool) -> tuple[int, int]:
    small = total // 2
    return (total - small, small) if lower else (small, total - small)
