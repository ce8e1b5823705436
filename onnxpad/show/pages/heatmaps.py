"""Where outputs differ, as heatmaps: borders that differ are how people recognise padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from math import isfinite
from typing import TYPE_CHECKING

from onnxpad.errors import counted
from onnxpad.show.document import Card, Picture
from onnxpad.show.pages.templates import rendered
from onnxpad.show.wording import visible

if TYPE_CHECKING:
    from onnxpad.validation.difference_maps import DifferenceMap

_MOST_TICKS = 9
_WIDE, _HIGH, _FLAT, _BARS = 300, 220, 60, 150
"""Pixels of a plane with two axes, the height of one with one axis, and the width of bars."""
_LEGIBLE, _SHADES = 18, 32
_INFERNO = (
    *((0, 0, 4), (31, 12, 72), (85, 15, 109), (136, 34, 106), (186, 54, 85)),
    *((227, 89, 51), (249, 140, 10), (249, 201, 50), (252, 255, 164)),
)
"""Colours from no difference to the largest, after matplotlib's inferno (CC0)."""
_BAR, _HEADROOM = "#d1495b", 1.05


def map_card(anchor: str, name: str, text: str, found: DifferenceMap) -> Card:
    """A heatmap with its words."""
    words = visible(f"{text}{capital(said(found))}.")
    return Card(anchor, visible(name), words, tuple(map(Picture, _charts(found, visible(name)))))


def capital(text: str) -> str:
    """The text with a first letter that is a capital."""
    return text[:1].upper() + text[1:]


def said(found: DifferenceMap) -> str:
    """The picture in words."""
    largest = max(map(max, found.cells))
    parts = sum(value > 0 for row in found.cells for value in row)
    of = sum(map(len, found.cells))
    channels = [n for n, value in zip(found.channel_starts, found.channels, strict=True) if value]
    single = (found.rows[-1], found.columns[-1]) == (len(found.rows) - 1, len(found.columns) - 1)
    noun = "place" if single else "square"
    text = f"the largest difference is {largest:.3g}; {parts} of {counted(of, noun)} differ"
    if len(found.channels) > 1:
        text += f", in {len(channels)} of {counted(len(found.channels), 'channel')}"
    return text


def _charts(found: DifferenceMap, name: str) -> Iterator[str]:
    """SVG of the largest difference by place, by channel and by item of the batch.

    Infinite differences have the colour and the height of the largest.
    """
    yield _plane(found, f"{name}: {said(found)}")
    high = _FLAT if len(found.cells) == 1 else _HIGH
    items = range(len(found.items))
    for what, starts, values in (
        ("channel", found.channel_starts, found.channels),
        ("item of the batch", items, found.items),
    ):
        if len(values) > 1:
            yield _bars(what, starts, values, high, f"{name} by {what}")


def _plane(found: DifferenceMap, title: str) -> str:
    cells = _finite(found.cells)
    largest = max(map(max, cells)) or 1.0
    across, down = len(cells[0]), len(cells)
    side = min(_WIDE / across, _HIGH / down)
    wide, high = max(side, min(_WIDE / across, _LEGIBLE)), max(side, min(_HIGH / down, _LEGIBLE))
    wide, high = (_WIDE / across, float(_FLAT)) if down == 1 else (wide, high)
    boxes = [
        (x * wide, y * high, count * wide, high, colour)
        for y, row in enumerate(cells)
        for x, count, colour in _runs([_colour(value / largest) for value in row])
    ]
    return rendered(
        "heatmap.svg",
        kind="onnxpad-heatmap",
        title=title,
        heading="largest difference by place",
        below="last axis",
        beside="last axis but one" if down > 1 else "",
        width=across * wide,
        height=down * high,
        boxes=boxes,
        across=_ticks(found.columns[:-1], wide),
        down=_ticks(found.rows[:-1], high) if down > 1 else [],
        shades=[_colour(n / (_SHADES - 1)) for n in range(_SHADES)],
        scale=[f"{largest * n / 2:.2g}" for n in range(3)],
    )


def _bars(what: str, starts: Sequence[int], values: Sequence[float], high: int, title: str) -> str:
    (heights,) = _finite([values])
    top, wide = max(heights) or 1.0, _BARS / len(heights)
    tall = [value / top / _HEADROOM * high for value in heights]
    shares = (0.0, 0.5, 1.0)
    return rendered(
        "heatmap.svg",
        kind="onnxpad-bars",
        title=title,
        heading=f"by {what}",
        below=what,
        beside="",
        width=_BARS,
        height=high,
        boxes=[(n * wide, high - one, wide, one, _BAR) for n, one in enumerate(tall)],
        across=_ticks(starts, wide),
        down=[(high * (1 - share / _HEADROOM), f"{share * top:.2g}") for share in shares],
        shades=[],
        scale=[],
    )


def _ticks(starts: Sequence[int], wide: float) -> list[tuple[float, str]]:
    """Where the labels of an axis stand, in pixels."""
    step = -(-len(starts) // _MOST_TICKS)
    return [((n + 0.5) * wide, str(starts[n])) for n in range(0, len(starts), step)]


def _runs(colours: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Where each row of cells of one colour begins, and how many there are."""
    place = 0
    for colour, cells in groupby(colours):
        count = len(list(cells))
        yield place, count, colour
        place += count


def _colour(share: float) -> str:
    """Between the two nearest colours; 0 is no difference, 1 the largest."""
    place = min(max(share, 0.0), 1.0) * (len(_INFERNO) - 1)
    low = min(int(place), len(_INFERNO) - 2)
    first, second = list(pairwise(_INFERNO))[low]
    mixed = (round(a + (b - a) * (place - low)) for a, b in zip(first, second, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _finite(values: Sequence[Sequence[float]]) -> list[list[float]]:
    """Infinite differences as the largest finite one, or 1."""
    known = [value for row in values for value in row if isfinite(value)]
    top = max(known, default=0.0) or 1.0
    return [[value if isfinite(value) else top for value in row] for row in values]
