"""Nodes before and after a change, drawn side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple, TypeAlias

from onnxpad.errors import few
from onnxpad.padding.chain import Chain
from onnxpad.show.document import Card, Medium, Picture, Section
from onnxpad.show.pages.drawings import Drawing, drawing_of, sentence
from onnxpad.show.pages.figures import legend, window_figure
from onnxpad.show.pages.page import CARDS
from onnxpad.show.wording import visible

ORDER = "Pads are written as in ONNX: those at the begins of all axes, then those at the ends."
_Both: TypeAlias = tuple[Drawing | None, Drawing | None]


class Changed(NamedTuple):
    """A node that was changed, `by` what; `was` and `is_now` say in words how it pads.

    `before` or `after` is None where the other model has other operators in its place. Where
    several nodes took its place, `after` is the last of them that pads or has windows, and `last`
    its name.
    """

    node: str
    op: str
    by: str
    was: str
    is_now: str
    before: Chain | None
    after: Chain | None
    last: str = ""


def changes_section(
    changes: Callable[[], Iterable[Changed]],
    title: str = "Before and after",
    lines: tuple[str, ...] = (),
) -> Section:
    """The part of a page with a card for all nodes that changed alike."""
    return Section(
        "changes",
        title,
        lines,
        about=(ORDER,),
        cards=lambda: _cards(changes()),
        windows=True,
        wide=True,
        medium=Medium.PAGE,
    )


def _cards(changes: Iterable[Changed]) -> Iterator[Card]:
    alike: dict[tuple[str, str, tuple[str, str], int, _Both], list[Changed]] = {}
    for one in changes:
        drawn = _drawn(one.before), _drawn(one.after)
        known = one.before or one.after
        axis = known.first_axis if known is not None and known.axes else 0
        kind = one.op, one.by, (visible(one.was), visible(one.is_now)), axis, drawn
        alike.setdefault(kind, []).append(one)
    for number, (kind, nodes) in enumerate(islice(alike.items(), CARDS + 1), 1):
        op, by, words, axis, drawn = kind
        names = tuple(visible(one.node) for one in nodes)
        last = visible(nodes[0].last)
        yield Card(
            f"change-{number}",
            f"{by}: {op} {few(names, 1)}",
            _words(*drawn, axis, last),
            tuple(_pictures(number, *drawn, words, last)),
            legend(*(one for one in drawn if one is not None)),
            names,
        )


def _drawn(chain: Chain | None) -> Drawing | None:
    return None if chain is None else drawing_of(chain)


def _pictures(
    number: int, before: Drawing | None, after: Drawing | None, words: tuple[str, str], last: str
) -> Iterator[Picture]:
    (was, is_now), anchor = words, f"change-{number}"
    is_now += f"; drawn is {after.op} '{last}'" if after is not None and last else ""
    if before is not None and after == before:
        yield Picture(window_figure(before, anchor=anchor), f"before: {was}; after: {is_now}")
        return
    for name, drawing, said in (("before", before, was), ("after", after, is_now)):
        figure = "" if drawing is None else window_figure(drawing, title=name, anchor=anchor)
        yield Picture(figure, f"{name}: {said}")


def _words(before: Drawing | None, after: Drawing | None, first_axis: int, last: str) -> str:
    if before is None or after is None:
        known = before or after
        return "" if known is None else visible(sentence(known))
    if after == before:
        return visible(f"The same cells are read, before and after: {sentence(before)}")
    said = f"Before: {sentence(before)} After: {sentence(after)}"
    if last:
        return visible(f"{said} What stands around it makes the result the same.")
    return visible(" ".join(filter(None, (_moves(before, after, first_axis), said))))


def _moves(before: Drawing, after: Drawing, first_axis: int) -> str:
    """Where as many cells are added as before, and more or fewer of them at the begin."""
    moved = []
    if before.kernel and before.kernel == after.kernel:
        for axis in range(len(before.kernel)):
            was, now = _sides(before, axis), _sides(after, axis)
            if sum(was) == sum(now) and was[0] != now[0]:
                moved.append(
                    f"shifted by {abs(now[0] - was[0])} along axis {first_axis + axis} "
                    f"(begin {was[0]}, end {was[1]} became begin {now[0]}, end {now[1]})"
                )
    if not moved:
        return ""
    return (
        f"The pads are {' and '.join(moved)}: every window reads other cells, so that differences "
        "may lie everywhere."
    )


def _sides(drawing: Drawing, axis: int) -> tuple[int, int]:
    """Cells at the begin and the end of an axis that all frames together add."""
    frames = drawing.frames
    return sum(one.begins[axis] for one in frames), sum(one.ends[axis] for one in frames)
