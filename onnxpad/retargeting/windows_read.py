"""What windows read: the part of a chain that decides its values, whatever way it is written."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from math import gcd
from typing import NamedTuple

from onnxpad.geometry.budgets import COMPARED
from onnxpad.geometry.windows import Axis, output_size, same_output, same_pads, sample_sizes
from onnxpad.padding.chain import AutoPad, Chain, Pads, Skip, is_same
from onnxpad.padding.effective_pads import axes_in_front, effective_pads, rounds_up
from onnxpad.padding.fills import Implicit, lowest, number_of
from onnxpad.padding.operators import Kind

_OWN, _ZERO = "own padding", ("is", 0)
_Key = tuple[object, ...]
_FEW = 12
_PER_WINDOW = 512
"""Cells that could be looked at in the time that a window takes without any."""


class _Row(NamedTuple):
    """One axis, without a size: what a Pad adds around the source, then the own padding.

    `value` is what cells of the Pad hold, _OWN for the same as the own padding, None where it is
    not known; `counts` says that averages count their own padding.
    """

    axis: Axis
    front: tuple[int, int]
    own: tuple[int, int] | AutoPad | None
    ceil: bool
    kind: Kind
    mode: str
    value: object
    counts: bool

    @property
    def widest(self) -> int:
        """Cells that are padded or cropped, as far as they are numbers."""
        own = self.own if isinstance(self.own, tuple) else ()
        return sum(map(abs, (*self.front, *own)))


def _rows(chain: Chain) -> list[_Row]:
    """The axes of a chain whose Pad is known."""
    step, padding = chain.pad, chain.padding
    mode_alone = padding if isinstance(padding, AutoPad) else None
    own = padding.sides if isinstance(padding, Pads) else (mode_alone,) * chain.rank
    mode = "constant" if step is None else step.mode
    facts = rounds_up(chain), chain.op.kind, mode, _value(chain), chain.counts_padding
    rows = zip(chain.axes, _front(chain).sides, own, strict=True)
    return [_Row(axis._replace(size=None), front, pair, *facts) for axis, front, pair in rows]


@lru_cache(maxsize=100_000)
def _key(row: _Row, size: int) -> _Key | None:
    """What the windows of an axis read where the source has `size` cells.

    None without windows, and where a mirror has too few cells. Windows wholly inside the source
    follow from the others, but where there are few: at small sizes a mirrored cell may stand for
    the one that it mirrors.
    """
    front, own, stride, span = row.front, row.own, row.axis.stride, row.axis.span
    grown = row.axis._replace(size=size + sum(front))
    if isinstance(own, AutoPad):
        is_valid, is_lower = own is AutoPad.VALID, own is AutoPad.SAME_LOWER
        own = (0, 0) if is_valid else same_pads(grown, lower=is_lower)
    if own is None or sum(own) + size + sum(front) < span:
        return None
    count = output_size(grown, *own, ceil_mode=row.ceil)
    if isinstance(row.own, AutoPad) and is_same(row.own):
        count = same_output(size + sum(front), stride)
    if not isinstance(count, int) or count < 1:
        return None
    begin, end = -front[0] - own[0], size + front[1] + own[1]
    low, high = max(0, -front[0]), size + min(0, front[1]) - span
    first = max(0, -(-(low - begin) // stride)) if count > _FEW else 0
    behind = max(first, (high - begin) // stride + 1) if count > _FEW else 0
    keys = list[object]()
    for number in (*range(min(first, count)), *range(behind, count)):
        start = begin + number * stride
        cells = range(start, start + span, row.axis.dilation)
        taps = [_tap(row, size, cell) for cell in cells]
        if None in taps:
            return None
        counted = [row.counts and begin <= cell < end for cell in cells]
        keys.append(_window_key(row.kind, taps, counted))
    return (count, begin if len(keys) < count else None, *keys)


def _window_key(kind: Kind, taps: list[object], counted: list[bool]) -> object:
    """What decides the value of a window; `counted` are cells that averages count if padded."""
    match kind:
        case Kind.MAX:
            return frozenset(tap for tap in taps if tap != _OWN)
        case Kind.AVERAGE:
            divisor = sum(tap != _OWN or own for tap, own in zip(taps, counted, strict=True))
            held = Counter(str(tap) for tap in taps if tap not in (_OWN, _ZERO))
            if not held:
                return min(divisor, 1)
            factor = gcd(divisor, *held.values())
            return divisor // factor, tuple(sorted((t, n // factor) for t, n in held.items()))
        case Kind.LP:
            return tuple(sorted(str(tap) for tap in taps if tap not in (_OWN, _ZERO)))
        case _:
            return tuple(taps)


def _tap(row: _Row, size: int, cell: int) -> object:
    """What one cell holds: a cell of the source by its number, a value, or the own padding."""
    if not -row.front[0] <= cell < size + row.front[1]:
        return _OWN
    if 0 <= cell < size:
        return cell
    match row.mode:
        case "edge":
            return min(max(cell, 0), size - 1)
        case "reflect":
            mirrored = -cell if cell < 0 else 2 * (size - 1) - cell
            return mirrored if 0 <= mirrored < size else None
        case "wrap":
            return cell % size
        case _:
            return row.value


def _value(chain: Chain) -> object:
    """What a Pad's cell holds, as the operator sees it: its own padding where both are alike."""
    if chain.pad is None:
        return _OWN
    value = number_of(chain.pad.fill)
    if value is None:
        return ("tensor", str(chain.pad.fill))
    if chain.fill is Implicit.LOWEST:
        return _OWN if value in lowest(chain.dtype) else ("is", value)
    is_own = chain.op.kind is not Kind.AVERAGE and value == number_of(chain.fill)
    return _OWN if is_own else ("is", value)


def differs(one: Chain, other: Chain) -> bool:
    """Whether two ways to pad one node give other values at some size that its input can have.

    They do not where the same windows read the same values with the same divisors. Sizes at
    which one of them has no window do not count.
    """
    if one.op.kind is Kind.TRANSPOSED:
        return _crop(one) != _crop(other) or one.pad != other.pad
    if _unclear(one) or _unclear(other):
        return one.pad != other.pad or one.padding != other.padding
    if _outside(one) != _outside(other):
        return True
    axes = zip(_source_axes(one), _source_axes(other), strict=True)
    for pair, mine, its in zip(axes, _rows(one), _rows(other), strict=True):
        for size in sample_sizes(pair[pair[0].size is None], mine.widest + its.widest):
            keys = _key(mine, size), _key(its, size)
            if None not in keys and keys[0] != keys[1]:
                return True
    return False


def signature(chain: Chain) -> object:
    """What decides the values, as one value: equal signatures read alike at every size."""
    if chain.op.kind is Kind.TRANSPOSED:
        return chain.pad, _crop(chain)
    if _unclear(chain):
        return chain.pad, chain.padding, chain.ceil_mode, chain.counts_padding
    rows = zip(_source_axes(chain), _rows(chain), strict=True)
    keys = (tuple(_key(row, n) for n in sample_sizes(axis, 2 * axis.span)) for axis, row in rows)
    return _outside(chain), tuple(keys)


def too_many_cells(chain: Chain) -> str:
    """Why ways to pad the node are not compared, '' where they are: windows read too many cells."""
    if chain.op.kind is Kind.TRANSPOSED or chain.trouble or _unclear(chain):
        return ""
    cells = 0
    for axis, row in zip(_source_axes(chain), _rows(chain), strict=True):
        sizes = len(list(sample_sizes(axis, 2 * axis.span)))
        windows = max(row.widest, axis.span) // axis.stride + 2
        cells += sizes * windows * (axis.kernel + _PER_WINDOW)
    return COMPARED.reason(f"{cells:,}") if cells > COMPARED.most else ""


def _source_axes(chain: Chain) -> tuple[Axis, ...]:
    """The axes of what the Pad in front reads, or of the operator's own input."""
    return axes_in_front(chain, _front(chain))


def _crop(chain: Chain) -> object:
    """Cells cut off in front, and cut off less grown at the end, of the full output."""
    pads = effective_pads(chain)
    extra = chain.output_padding or (0,) * chain.rank
    if isinstance(pads, Skip):
        return chain.padding, extra, chain.output_shape
    return pads + Pads((0,) * chain.rank, tuple(-more for more in extra))


def _front(chain: Chain) -> Pads:
    if chain.pad is None or _unclear(chain):
        return Pads.zero(chain.rank)
    return chain.inner(chain.pad.pads)


def _unclear(chain: Chain) -> bool:
    return chain.pad is not None and bool(chain.pad.unclear)


def _outside(chain: Chain) -> object:
    """Padding of batch and channels."""
    step = chain.pad
    rest = () if step is None else tuple(chain.outer(step.pads))
    return (rest, step.mode, step.fill) if step and any(map(any, rest)) else None
