"""What windows read: the part of a chain that decides its values, whatever way it is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import gcd

from onnxpad.geometry.budgets import COMPARED
from onnxpad.geometry.windows import Axis, output_size, same_output, same_pads, sample_sizes
from onnxpad.padding.chain import AutoPad, Chain, Pads, Skip, is_same
from onnxpad.padding.effective_pads import axes_in_front, effective_pads, output_sizes, rounds_up
from onnxpad.padding.fills import Implicit, lowest, number_of
from onnxpad.padding.operators import Kind

OWN = "own padding"
Key = tuple[object, ...]
_FEW = 12
_PER_WINDOW = 512
"""Cells that could be looked at in the time that a window takes without any."""


@dataclass(frozen=True, slots=True)
class Strip:
    """One axis: the source, what a Pad adds in front of and behind it, then the own padding."""

    size: int
    kernel: int
    stride: int
    dilation: int
    front: tuple[int, int]
    own: tuple[int, int]
    count: int

    def windows(self) -> Iterator[tuple[int, ...]]:
        """The cells of windows that do not lie wholly inside the source.

        All where there are few: at small sizes a mirrored cell may stand for the one it mirrors.
        """
        span = self.dilation * (self.kernel - 1) + 1
        begin = -self.front[0] - self.own[0]
        low, high = max(0, -self.front[0]), self.size + min(0, self.front[1]) - span
        first = min(self.count, max(0, -(-(low - begin) // self.stride)))
        behind = max(first, min(self.count, (high - begin) // self.stride + 1))
        if self.count <= _FEW:
            first = behind = 0
        for number in (*range(first), *range(behind, self.count)):
            start = begin + number * self.stride
            yield tuple(range(start, start + span, self.dilation))


@lru_cache(maxsize=100_000)
def strip_key(strip: Strip, kind: Kind, mode: str, value: object, counts: bool) -> Key | None:  # noqa: FBT001
    """What the windows of a strip read; None where a mirror has too few cells.

    `value` is what cells of a Pad hold, OWN for the same as the own padding; `counts` says that
    averages count their own padding. Windows wholly inside follow from the others.
    """
    keys = list[object]()
    for cells in strip.windows():
        taps = [_tap(strip, cell, mode, value) for cell in cells]
        if None in taps:
            return None
        keys.append(_window_key(strip, kind, cells, taps, counts=counts))
    begin = strip.front[0] + strip.own[0]
    return (strip.count, begin if len(keys) < strip.count else None, *keys)


def _window_key(
    strip: Strip, kind: Kind, cells: tuple[int, ...], taps: list[object], *, counts: bool
) -> object:
    match kind:
        case Kind.MAX:
            return frozenset(tap for tap in taps if tap != OWN)
        case Kind.AVERAGE:
            low = -strip.front[0] - strip.own[0]
            high = strip.size + strip.front[1] + strip.own[1]
            divisor = sum(
                tap != OWN or (counts and low <= cell < high)
                for cell, tap in zip(cells, taps, strict=True)
            )
            held = Counter(str(tap) for tap in taps if tap not in (OWN, ("is", 0)))
            if not held:
                return min(divisor, 1)
            factor = gcd(divisor, *held.values())
            return divisor // factor, tuple(sorted((t, n // factor) for t, n in held.items()))
        case Kind.LP:
            return tuple(sorted(str(t) for t in taps if t not in (OWN, ("is", 0))))
        case _:
            return tuple(taps)


def _tap(strip: Strip, cell: int, mode: str, value: object) -> object:
    """What one cell holds: a cell of the source by its number, a value, or the own padding."""
    if not -strip.front[0] <= cell < strip.size + strip.front[1]:
        return OWN
    if 0 <= cell < strip.size:
        return cell
    last = strip.size - 1
    match mode:
        case "edge":
            return min(max(cell, 0), last)
        case "reflect":
            mirrored = -cell if cell < 0 else 2 * last - cell
            return mirrored if 0 <= mirrored <= last else None
        case "wrap":
            return cell % strip.size
        case _:
            return value


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
    for index, axes in enumerate(zip(source_axes(one), source_axes(other), strict=True)):
        axis = axes[axes[0].size is None]
        for size in sample_sizes(axis, _widest(one, index) + _widest(other, index)):
            keys = axis_key(one, index, size), axis_key(other, index, size)
            if None not in keys and keys[0] != keys[1]:
                return True
    return False


def resizes(one: Chain, other: Chain) -> bool:
    """Whether the output may get another size, at some size that the input can have."""
    sizes = output_sizes(one)
    return None in sizes or sizes != output_sizes(other)


def too_many_cells(chain: Chain) -> str:
    """Why ways to pad the node are not compared, '' where they are: windows read too many cells."""
    if chain.op.kind is Kind.TRANSPOSED or chain.trouble or _unclear(chain):
        return ""
    cells = 0
    for index, axis in enumerate(source_axes(chain)):
        widest = max(_widest(chain, index), axis.span)
        sizes = len(list(sample_sizes(axis, 2 * axis.span)))
        cells += sizes * (widest // axis.stride + 2) * (axis.kernel + _PER_WINDOW)
    return COMPARED.reason(f"{cells:,}") if cells > COMPARED.most else ""


def source_axes(chain: Chain) -> tuple[Axis, ...]:
    """The axes of what the Pad in front reads, or of the operator's own input."""
    front = _front(chain)
    return axes_in_front(chain, front) if chain.pad is not None else chain.axes


def axis_key(chain: Chain, index: int, size: int) -> Key | None:
    """What the windows of one axis read where the source has `size` cells; None without windows."""
    strip = _strip(chain, index, size)
    if strip is None:
        return None
    mode = "constant" if chain.pad is None else chain.pad.mode
    return strip_key(strip, chain.op.kind, mode, _value(chain), chain.counts_padding)


def _strip(chain: Chain, index: int, size: int) -> Strip | None:
    """One axis where the source has `size` cells; None where no window fits."""
    axis = chain.axes[index]
    front = (0, 0) if chain.pad is None else chain.inner(chain.pad.pads).sides[index]
    grown = Axis(size + sum(front), axis.kernel, axis.stride, axis.dilation)
    own = _own_pads(chain, index, grown)
    if own is None or grown.size is None or sum(own) + size + sum(front) < axis.span:
        return None
    same = is_same(chain.padding)
    ceil = rounds_up(chain)
    count = (
        same_output(grown.size, axis.stride) if same else output_size(grown, *own, ceil_mode=ceil)
    )
    if not isinstance(count, int) or count < 1:
        return None
    return Strip(size, axis.kernel, axis.stride, axis.dilation, front, own, count)


def _value(chain: Chain) -> object:
    """What a Pad's cell holds, as the operator sees it: its own padding where both are alike."""
    if chain.pad is None:
        return OWN
    value = number_of(chain.pad.fill)
    if value is None:
        return ("tensor", str(chain.pad.fill))
    if chain.fill is Implicit.LOWEST:
        return OWN if value in lowest(chain.dtype) else ("is", value)
    if chain.op.kind is Kind.AVERAGE:
        return ("is", value)
    return OWN if value == number_of(chain.fill) else ("is", value)


def _own_pads(chain: Chain, index: int, grown: Axis) -> tuple[int, int] | None:
    match chain.padding:
        case Pads(begins, ends):
            return begins[index], ends[index]
        case AutoPad.VALID:
            return 0, 0
        case AutoPad() as mode:
            return same_pads(grown, lower=mode is AutoPad.SAME_LOWER)
        case _:
            return None


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


def _widest(chain: Chain, index: int) -> int:
    front = _front(chain)
    own = chain.padding if isinstance(chain.padding, Pads) else Pads.zero(chain.rank)
    return sum(abs(side[index]) for pads in (front, own) for side in (pads.begins, pads.ends))


def signature(chain: Chain) -> object:
    """What decides the values, as one value: equal signatures read alike at every size."""
    if chain.op.kind is Kind.TRANSPOSED:
        return chain.pad, _crop(chain)
    if _unclear(chain):
        return chain.pad, chain.padding, chain.ceil_mode, chain.counts_padding
    keys = [
        tuple(axis_key(chain, index, size) for size in sample_sizes(axis, 2 * axis.span))
        for index, axis in enumerate(source_axes(chain))
    ]
    return _outside(chain), tuple(keys)
