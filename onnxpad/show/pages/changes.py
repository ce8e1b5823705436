"""Nodes before and after a change, drawn side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from onnxpad.errors import few
from onnxpad.padding.chain import Chain
from onnxpad.show.document import Card, Picture, Section
from onnxpad.show.pages.drawings import Drawing, drawing_of, sentence
from onnxpad.show.pages.figures import legend, window_figure
from onnxpad.show.pages.page import CARDS
from onnxpad.show.wording import visible


class Changed(NamedTuple):
    """A node that was changed, `by` what; `was` and `is_now` say in words how it pads.

    `before` or `after` is None where other operators stand in its place.
    """

    node: str
    op: str
    by: str
    was: str
    is_now: str
    before: Chain | None
    after: Chain | None


class _Kind(NamedTuple):
    """What nodes on one card share."""

    op: str
    by: str
    was: str
    is_now: str
    before: Drawing | None
    after: Drawing | None


def changes_section(
    changes: Callable[[], Iterable[Changed]],
    title: str = "Before and after",
    lines: tuple[str, ...] = (),
) -> Section:
    """The part of a page with a card for all nodes that changed alike."""
    cards = lambda: _cards(changes())  # noqa: E731 - drawn when a page is made
    return Section("changes", title, lines, cards=cards, windows=True, on_page_alone=True)


def _cards(changes: Iterable[Changed]) -> Iterator[Card]:
    """First those of which other cells are read."""
    alike: dict[_Kind, list[str]] = {}
    for one in changes:
        drawn = (None if chain is None else drawing_of(chain) for chain in (one.before, one.after))
        kind = _Kind(one.op, one.by, visible(one.was), visible(one.is_now), *drawn)
        alike.setdefault(kind, []).append(visible(one.node))
    ordered = sorted(alike.items(), key=lambda one: one[0].before == one[0].after)
    for number, (kind, names) in enumerate(islice(ordered, CARDS + 1), 1):
        yield Card(
            f"change-{number}",
            f"{kind.by}: {kind.op} {few(names, 1)}",
            _words(kind),
            tuple(_pictures(f"change-{number}", kind)),
            legend(*(one for one in (kind.before, kind.after) if one is not None)),
            tuple(names),
        )


def _pictures(anchor: str, kind: _Kind) -> Iterator[Picture]:
    if kind.before is not None and kind.after == kind.before:
        figure = window_figure(kind.before, anchor=anchor)
        yield Picture(figure, f"before: {kind.was}; after: {kind.is_now}")
        return
    both = ("before", kind.before, kind.was), ("after", kind.after, kind.is_now)
    for name, drawing, said in both:
        figure = "" if drawing is None else window_figure(drawing, title=name, anchor=anchor)
        yield Picture(figure, f"{name}: {said}")


def _words(kind: _Kind) -> str:
    before, after = kind.before, kind.after
    if before is not None and after == before:
        return visible(f"The same cells are read, before and after: {sentence(before)}")
    drawn = [
        f"{name}: {sentence(one)}" for name, one in (("Before", before), ("After", after)) if one
    ]
    return visible(" ".join(drawn))
