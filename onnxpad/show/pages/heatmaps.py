"""Where outputs differ, as heatmaps: borders that differ are how people recognise padding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import isfinite
from typing import TYPE_CHECKING

from onnxpad.errors import counted
from onnxpad.show.document import Card, Picture
from onnxpad.show.pages.templates import rendered

if TYPE_CHECKING:
    from onnxpad.validation.difference_maps import DifferenceMap
    from onnxpad.validation.distances import Distance
    from onnxpad.validation.report import FirstDifference, OutputRow

_MOST_TICKS, _SHADES = 9, 32
_WIDE, _HIGH, _FLAT, _LEGIBLE = 300, 220, 60, 18
"""Pixels: of a plane with two axes, the height of one with one axis, the least of a cell."""
_INFERNO = (
    *((0, 0, 4), (31, 12, 72), (85, 15, 109), (136, 34, 106), (186, 54, 85)),
    *((227, 89, 51), (249, 140, 10), (249, 201, 50), (252, 255, 164)),
)
"""Colours from no difference to the largest, after matplotlib's inferno (CC0)."""


def _card(anchor: str, name: str, where: str, found: DifferenceMap) -> Card:
    """A heatmap with its words."""
    parts = (part for part in (where, said(found)) if part)
    words = ". ".join(f"{part[:1].upper()}{part[1:]}" for part in parts)
    picture = Picture(_plane(found, f"{name}: {said(found)}"))
    return Card(anchor, name, f"{words}.", (picture,))


def map_cards(
    rows: Iterable[OutputRow | Distance], first: FirstDifference | None = None
) -> Iterator[Card]:
    """The first tensor, behind which nothing smears a border; then each output of each sample once.

    Outputs are drawn without optimisations where there is such a run.
    """
    drawn: set[tuple[int, str]] = set()
    if first is not None and first.difference is not None:
        drawn.add((0, first.tensor))
        name = f"the first difference: {first.node}, tensor {first.tensor}"
        yield _card("first", name, first.where, first.difference)
    for row in sorted(rows, key=lambda row: getattr(row, "level", "off") != "off"):
        if row.difference is not None and (row.sample, row.output) not in drawn:
            drawn.add((row.sample, row.output))
            name = f"output {row.output}, sample {row.sample}"
            where = getattr(row, "where", "")
            yield _card(f"difference-{len(drawn)}", name, where, row.difference)


def said(found: DifferenceMap) -> str:
    """The picture in words."""
    largest = max(map(max, found.cells))
    parts = sum(value > 0 for row in found.cells for value in row)
    of = sum(map(len, found.cells))
    single = (found.rows[-1], found.columns[-1]) == (len(found.rows) - 1, len(found.columns) - 1)
    places = counted(of, "place" if single else "square")
    text = f"the largest difference is {largest:.3g}; {parts} of {places} differ"
    if (channels := len(found.channels)) > 1:
        text += f", in {sum(map(bool, found.channels))} of {counted(channels, 'channel')}"
    return text


def _plane(found: DifferenceMap, title: str) -> str:
    """SVG of the largest difference by place; infinite ones have the colour of the largest."""
    known = [value for row in found.cells for value in row if isfinite(value)]
    largest = max(known, default=0.0) or 1.0
    across, down = len(found.cells[0]), len(found.cells)
    side = min(_WIDE / across, _HIGH / down)
    wide = max(side, min(_WIDE / across, _LEGIBLE)) if down > 1 else _WIDE / across
    high = max(side, min(_HIGH / down, _LEGIBLE)) if down > 1 else float(_FLAT)
    boxes = []
    for y, row in enumerate(found.cells):
        x = 0
        shares = (value / largest if isfinite(value) else 1.0 for value in row)
        for colour, cells in groupby(map(_colour, shares)):
            count = len(list(cells))
            boxes.append((x * wide, y * high, count * wide, high, colour))
            x += count
    return rendered(
        "heatmap.svg",
        title=title,
        two_axes=down > 1,
        width=across * wide,
        height=down * high,
        boxes=boxes,
        across=_ticks(found.columns[:-1], wide),
        down=_ticks(found.rows[:-1], high) if down > 1 else [],
        shades=[_colour(n / (_SHADES - 1)) for n in range(_SHADES)],
        scale=[f"{largest * n / 2:.2g}" for n in range(3)],
    )


def _ticks(starts: Sequence[int], wide: float) -> list[tuple[float, str]]:
    """Where the labels of an axis stand, in pixels."""
    step = -(-len(starts) // _MOST_TICKS)
    return [((n + 0.5) * wide, str(starts[n])) for n in range(0, len(starts), step)]


def _colour(share: float) -> str:
    """Between the two nearest colours; 0 is no difference, 1 the largest."""
    place = min(max(share, 0.0), 1.0) * (len(_INFERNO) - 1)
    low = min(int(place), len(_INFERNO) - 2)
    pairs = zip(_INFERNO[low], _INFERNO[low + 1], strict=True)
    return "#" + "".join(f"{round(a + (b - a) * (place - low)):02x}" for a, b in pairs)
