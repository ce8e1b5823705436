"""Where outputs differ, as heatmaps: differences at borders are how people recognise padding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isfinite
from typing import TYPE_CHECKING

from onnxpad.errors import counted
from onnxpad.show.document import Card, Picture, Section
from onnxpad.show.pages.templates import rendered

if TYPE_CHECKING:
    from onnxpad.probing.agreement import DifferenceMap
    from onnxpad.validation.distances import Distance
    from onnxpad.validation.report import FirstDifference, OutputRow

_SEEN = 0.01
"""Of the largest difference: what is less may be rounding, and is not drawn."""


def maps_section(
    rows: Iterable[OutputRow | Distance], first: FirstDifference | None = None
) -> Section:
    """The part of a page with the first tensor that differs, then outputs; equal maps are one."""
    maps: dict[DifferenceMap | None, list[str]] = {}
    if first is not None:
        maps[first.difference] = [f"the first difference: {first.node} -> {first.tensor}"]
    for row in rows:
        maps.setdefault(row.difference, []).append(f"output {row.output}, sample {row.sample}")

    def cards() -> Iterator[Card]:
        for number, (difference, names) in enumerate(maps.items()):
            if difference is not None:
                yield _card(f"difference-{number}", "; ".join(names), difference)

    return Section("differences", "Where outputs differ", cards=cards, on_page_alone=True)


def _card(anchor: str, title: str, difference: DifferenceMap) -> Card:
    """The largest difference at each place; infinite ones are drawn like the largest of others."""
    values = [value for row in difference.cells for value in row]
    largest = max(filter(isfinite, values), default=0.0) or 1.0
    many = sum(value > _SEEN * largest for value in values)
    text = (
        f"The largest difference is {max(values):.3g}; {many} of {counted(len(values), 'part')} "
        f"differ by more than {_SEEN:.0%} of the scale."
    )
    svg = rendered(
        "heatmap.svg",
        title=f"{title}: {text}",
        rows=difference.rows,
        columns=difference.columns,
        shares=[[min(value / largest, 1.0) for value in row] for row in difference.cells],
        seen=_SEEN,
        largest=largest,
    )
    return Card(anchor, title, text, (Picture(svg),))
