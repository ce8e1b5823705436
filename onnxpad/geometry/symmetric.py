"""Asymmetric pads of one axis as symmetric ones: the same windows among others."""

from __future__ import annotations

from typing import NamedTuple

from onnxpad.geometry.axis import Axis
from onnxpad.geometry.size import plus, residues


class Cut(NamedTuple):
    """`pad` cells on both sides; the first `first` and the last `beyond` windows are too many."""

    pad: int
    first: int
    beyond: int


class Growth(NamedTuple):
    """`pad` cells on both sides of a kernel with more taps at its `front` and `back`."""

    pad: int
    front: int
    back: int


def equal_ends(axis: Axis, begin: int, end: int) -> tuple[int, int]:
    """The smallest and the largest end pad that give the windows of `end`, whatever the size.

    Cells behind the last window are never read, and a further window needs a whole stride.
    """
    rests = _rests(axis, begin, end)
    return max(0, end - min(rests)), end + axis.stride - 1 - max(rests)


def cut(axis: Axis, begin: int, end: int) -> Cut | None:
    """The least symmetric pad whose windows hold those of (begin, end), a whole stride apart.

    None where the number of windows behind them depends on an unknown size.
    """
    rests = _rests(axis, begin, end)
    first = max(0, -(-(end - min(rests) - begin) // axis.stride))
    pad = begin + first * axis.stride
    beyond = {(rest + pad - end) // axis.stride for rest in rests}
    return Cut(pad, first, beyond.pop()) if len(beyond) == 1 else None


def cut_rounding_up(axis: Axis, begin: int, end: int, *, counts: bool) -> Cut | None:
    """The same for windows of ceil_mode, which stays; `counts` says that padded cells matter.

    Pads stay below the kernel, as onnxruntime asks of pools. An average that counts its padding
    counts no cell behind the end pad: that must be the same, or out of reach.
    """
    if max(begin, end) >= axis.kernel:
        return None
    rests = _rests(axis, begin, end)
    for first, pad in enumerate(range(begin, axis.kernel, axis.stride)):
        found = {
            (rest + pad - end) // axis.stride
            + _one_more(axis, rest + pad - end, pad)
            - _one_more(axis, rest, end)
            for rest in rests
        }
        inside = not any(_one_more(axis, rest, end) or end - rest > pad for rest in rests)
        if len(found) == 1 and min(found) >= 0 and (pad == end or inside or not counts):
            return Cut(pad, first, found.pop())
    return None


def _one_more(axis: Axis, cells: int, end: int) -> int:
    """Windows that ceil_mode adds, with `cells` behind the last whole window or behind that.

    The window lacks -cells mod stride; it is dropped where it would start in the end padding
    (see `overhang`).
    """
    lacking = -cells % axis.stride
    return int(lacking > 0 and end - axis.span + lacking < 0)


def growth(axis: Axis, begin: int, end: int) -> Growth | None:
    """Taps of 0 that let a symmetric pad give the windows of (begin, end).

    A tap in front starts each window one dilation earlier, a tap at the back keeps another
    window from fitting. None where no end pad differs from `begin` by whole dilations.
    """
    low, high = equal_ends(axis, begin, end)
    ends = [one for one in range(low, high + 1) if (one - begin) % axis.dilation == 0]
    if not ends:
        return None
    nearest = min(ends, key=lambda one: abs(one - begin))
    front, back = max(0, nearest - begin), max(0, begin - nearest)
    return Growth(max(begin, nearest), front // axis.dilation, back // axis.dilation)


def _rests(axis: Axis, begin: int, end: int) -> tuple[int, ...]:
    """Numbers of cells that may lie behind the last window."""
    if axis.size is None:
        return tuple(range(axis.stride))
    return residues(plus(axis.size, begin + end - axis.span), axis.stride)
