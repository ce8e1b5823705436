"""Where outputs differ, as heatmaps: borders that differ are how people recognise padding."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Literal

from onnxpad.errors import counted
from onnxpad.show.document import Card, Picture
from onnxpad.show.wording import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from onnxpad.validation.difference_maps import DifferenceMap

_INK = "#010203"
"""A colour that nothing else has: in the page it becomes that of the text."""
_MOST_TICKS = 9


def map_card(anchor: str, name: str, text: str, found: DifferenceMap) -> Card:
    """A heatmap with its words."""
    words = visible(f"{text}{capital(said(found))}.")
    return Card(anchor, visible(name), words, heatmap(found, name=visible(name)))


def capital(text: str) -> str:
    """The text with a first letter that is a capital."""
    return text[:1].upper() + text[1:]


def heatmap(found: DifferenceMap, *, name: str) -> tuple[Picture, ...]:
    """The largest difference by place, by channel and by item of the batch; needs the extra `html`.

    `name` says of what. Infinite differences have the colour of the largest.
    """
    size = (4.6, 1.8) if _is_flat(found) else (4.6, 3.4)
    title = f"{name}: {said(found)}"
    drawn = [_drawn(name, title, "onnxpad-heatmap", size, partial(_plane, found))]
    for what, starts, values in _beside(found):
        if len(values) > 1:
            bars = partial(_bars, what, starts, values)
            drawn.append(_drawn(name, f"{name} by {what}", "onnxpad-bars", (2.6, size[1]), bars))
    return tuple(map(Picture, drawn))


def _drawn(
    name: str,
    title: str,
    kind: str,
    size: tuple[float, float],
    draw: Callable[[Figure, Axes], None],
) -> str:
    """One figure of so many inches as SVG."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": f"{name} {title}",
            "font.size": 9,
            "font.sans-serif": ["DejaVu Sans"],
        }
    ):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure, figure.subplots())
        for one in figure.axes:
            _in_ink(one)
        written = io.StringIO()
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None})
    return _of_the_page(written.getvalue(), title, kind)


def _beside(found: DifferenceMap) -> list[tuple[str, Sequence[int], Sequence[float]]]:
    return [
        ("channel", found.channel_starts, found.channels),
        ("item of the batch", range(len(found.items)), found.items),
    ]


def _is_flat(found: DifferenceMap) -> bool:
    return len(found.cells) == 1


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


def _finite(values: Sequence[Sequence[float]]) -> list[list[float]]:
    """Infinite differences as the largest finite one, or 1."""
    known = [value for row in values for value in row if isfinite(value)]
    top = max(known, default=0.0) or 1.0
    return [[value if isfinite(value) else top for value in row] for row in values]


def _plane(found: DifferenceMap, figure: Figure, axes: Axes) -> None:
    cells = _finite(found.cells)
    largest = max(map(max, cells)) or 1.0
    shape: Literal["auto", "equal"] = "auto" if _is_flat(found) else "equal"
    image = axes.imshow(
        cells, "inferno", vmin=0.0, vmax=largest, aspect=shape, interpolation="nearest"
    )
    for name, starts in (("x", found.columns), ("y", found.rows)):
        step = -(-(len(starts) - 1) // _MOST_TICKS)
        shown = range(0, len(starts) - 1, step)
        ticks = {"ticks": list(shown), "labels": [str(starts[n]) for n in shown]}
        getattr(axes, f"set_{name}ticks")(**ticks)
    axes.set_xlabel("last axis")
    axes.set_ylabel("last axis but one" if len(found.rows) > 2 else "")
    axes.set_title("largest difference by place")
    figure.colorbar(image, ax=axes, format="%.2g")


def _bars(
    title: str, starts: Sequence[int], values: Sequence[float], _figure: Figure, axes: Axes
) -> None:
    (heights,) = _finite([values])
    axes.bar(range(len(heights)), heights, width=1.0, color="#d1495b")
    step = -(-len(heights) // _MOST_TICKS)
    shown = range(0, len(heights), step)
    axes.set_xticks(list(shown), [str(starts[n]) for n in shown])
    axes.set_ylim(0.0, (max(heights) or 1.0) * 1.05)
    axes.set_xlabel(title)
    axes.set_title(f"by {title}")


def _in_ink(axes: Axes) -> None:
    axes.tick_params(colors=_INK)
    for text in (axes.title, axes.xaxis.label, axes.yaxis.label):
        text.set_color(_INK)
    for spine in axes.spines.values():
        spine.set_color(_INK)


def _of_the_page(svg: str, title: str, kind: str) -> str:
    """The figure without its head, in the colour of the page's text, with its title.

    Names of its parts are drawn from `name`, so that figures of one page do not share them.
    """
    from markupsafe import escape

    inner = svg[svg.index("<svg") :].replace(_INK, "currentColor")
    inner = re.sub(r'<g id="[^"]*"', "<g", inner)
    inner = re.sub(r"<metadata>.*?</metadata>", "", inner, flags=re.DOTALL)
    label = escape(visible(title))
    begin = f'<svg class="{kind}" role="img" aria-label="{label}"'
    head, _, rest = inner.replace("<svg", begin, 1).partition(">")
    return f"{head}><title>{label}</title>{rest}"
