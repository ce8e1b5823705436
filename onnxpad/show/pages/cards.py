"""Cards of nodes that look alike: their windows, or what they were before and after a change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from onnxpad.errors import few
from onnxpad.inspection import Inspection, is_worth_a_row, with_far_pad
from onnxpad.padding.chain import Chain
from onnxpad.show.document import Card, Picture, Section
from onnxpad.show.pages.drawings import Drawing, drawing_of, sentence
from onnxpad.show.pages.figures import legend, window_figure
from onnxpad.show.pages.page import CARDS
from onnxpad.show.wording import visible

_FAILING = ("refused", "wrong", "off-device")


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


class _Looks(NamedTuple):
    """What nodes on one card share: `pictures` say when it was so, how it pads, and what is drawn.

    rank: cards with the lowest come first.
    """

    rank: int
    title: str
    pictures: tuple[tuple[str, str, Drawing | None], ...]
    is_wrong: bool = False


def state_of(inspection: Inspection) -> str:
    """The colour of a page: 'wrong' for nodes that go wrong, 'open' for traps and unknown pads."""
    kinds = {one.kind for one in inspection.findings}
    if kinds & {*_FAILING}:
        return "wrong"
    odd = any(node.traps or node.pads is None for node in inspection.nodes)
    return "open" if ("unknown" in kinds if inspection.targets else odd) else "fine"


def window_cards(found: Inspection) -> Iterator[Card]:
    """A card for all nodes whose windows look alike; those that go wrong first."""
    worth = {one.node for one in found.findings}
    wrong = {one.node for one in found.findings if one.kind in _FAILING}
    nodes = []
    for node, chain in zip(found.nodes, found.chains, strict=False):
        if is_worth_a_row(node):
            drawing, rank = drawing_of(with_far_pad(chain)), (node.node not in worth) + 1
            fails = node.node in wrong
            looks = _Looks(rank * (not fails), drawing.op, (("", "", drawing),), fails)
            nodes.append((node.node, looks))
    return _cards("drawing", nodes)


def changes_section(
    changes: Callable[[], Iterable[Changed]],
    title: str = "Before and after",
    lines: tuple[str, ...] = (),
) -> Section:
    """The part of a page with a card for all nodes that changed alike."""

    def cards() -> Iterator[Card]:  # drawn when a page is made
        return _cards("change", ((one.node, _of_change(one)) for one in changes()))

    return Section("changes", title, lines, cards=cards, windows=True, on_page_alone=True)


def _of_change(one: Changed) -> _Looks:
    """First come those of which other cells are read."""
    before, after = (None if c is None else drawing_of(c) for c in (one.before, one.after))
    title, was, is_now = f"{one.by}: {one.op}", visible(one.was), visible(one.is_now)
    if before is not None and before == after:
        return _Looks(1, title, (("before and after", f"{was} is now {is_now}", before),))
    return _Looks(0, title, (("before", was, before), ("after", is_now, after)))


def _cards(kind: str, nodes: Iterable[tuple[str, _Looks]]) -> Iterator[Card]:
    alike: dict[_Looks, list[str]] = {}
    for node, looks in nodes:
        alike.setdefault(looks, []).append(visible(node))
    ordered = sorted(alike.items(), key=lambda one: one[0].rank)
    for number, (looks, names) in enumerate(ordered[: CARDS + 1], 1):
        anchor, pictures, texts, drawn = f"{kind}-{number}", [], [], []
        for when, said, drawing in looks.pictures:
            svg = window_figure(drawing, title=when, anchor=anchor) if drawing else ""
            pictures.append(Picture(svg, f"{when}: {said}" if when else ""))
            if drawing:
                texts.append(f"{when.capitalize()}: {sentence(drawing)}".removeprefix(": "))
                drawn.append(drawing)
        if kind == "change" or pictures[0].svg:
            title, text = f"{looks.title} {few(names, 1)}", visible(" ".join(texts))
            signs = legend(*drawn)
            yield Card(anchor, title, text, tuple(pictures), signs, tuple(names), looks.is_wrong)
