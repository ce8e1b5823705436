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
                title = "; ".join(names)
                picture = Picture(heatmap(difference, title))
                yield Card(f"difference-{number}", title, f"{_sentence(difference)}.", (picture,))

    return Section("differences", "Where outputs differ", cards=cards, on_page_alone=True)


def heatmap(difference: DifferenceMap, name: str) -> str:
    """The largest difference at each place, as SVG; infinite ones are drawn like the largest."""
    values = [value for row in difference.cells for value in row]
    largest = max(filter(isfinite, values), default=0.0) or 1.0
    return rendered(
        "heatmap.svg",
        title=f"{name}: {_sentence(difference)}",
        rows=difference.rows,
        columns=difference.columns,
        shares=[[min(value / largest, 1.0) for value in row] for row in difference.cells],
        largest=largest,
    )


def _sentence(difference: DifferenceMap) -> str:
    values = [value for row in difference.cells for value in row]
    count = sum(value > 0 for value in values)
    parts = counted(len(values), "part")
    return f"The largest difference is {max(values):.3g}; {count} of {parts} differ"
