"""Single cells that a window reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import gcd

from onnxpad.ops import Kind

OWN = "own padding"
Key = tuple[object, ...]
_FEW = 12


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

    def windows(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Windows that do not lie wholly inside the source, with the cells that they read.

        All where there are few: at small sizes a mirrored cell may stand for the one it mirrors.
        """
        span = self.dilation * (self.kernel - 1) + 1
        begin = -self.front[0] - self.own[0]
        inside = (max(0, -self.front[0]), self.size + min(0, self.front[1]))
        if self.count <= _FEW:
            inside = (0, -1)
        low = max(0, -(-(inside[0] - begin) // self.stride))
        high = max(low, min(self.count, (inside[1] - span - begin) // self.stride + 1))
        for number in (*range(min(low, self.count)), *range(high, self.count)):
            start = begin + number * self.stride
            yield number, tuple(range(start, start + span, self.dilation))


@lru_cache(maxsize=100_000)
def strip_key(strip: Strip, kind: Kind, mode: str, value: object, counts: bool) -> Key | None:  # noqa: FBT001
    """What the windows of a strip read; None where a mirror has too few cells.

    `value` is what cells of a Pad hold, OWN for the same as the own padding; `counts` says that
    averages count their own padding. Windows wholly inside follow from the others.
    """
    found = []
    for _, cells in strip.windows():
        taps = [_tap(strip, cell, mode, value) for cell in cells]
        if None in taps:
            return None
        found.append(_window_key(strip, kind, cells, taps, counts=counts))
    begin = strip.front[0] + strip.own[0]
    return (strip.count, begin if len(found) < strip.count else None, *found)


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
