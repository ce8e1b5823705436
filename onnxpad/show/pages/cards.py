"""Cards of nodes that look alike: their windows, or what they were before and after a change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from onnxpad.errors import few
from onnxpad.inspection import Inspection, is_worth_a_row, with_far_pad
from onnxpad.padding.chain import Chain
from onnxpad.show.document import Card, Picture, Section
from onnxpad.show.pages.drawings import Drawing, drawing_of, sentence
from onnxpad.show.pages.figures import window_figure

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
    """What nodes on one card share: its title, and pictures with the words above each."""

    title: str
    pictures: tuple[tuple[str, Drawing | None], ...]
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
    wrong = {one.node for one in found.findings if one.kind in _FAILING}
    nodes = []
    for node, chain in zip(found.nodes, found.chains, strict=False):
        if is_worth_a_row(node):
            drawing = drawing_of(with_far_pad(chain))
            nodes.append((node.node, _Looks(drawing.op, (("", drawing),), node.node in wrong)))
    nodes.sort(key=lambda one: not one[1].is_wrong)
    return _cards("drawing", nodes)


def changes_section(changes: Callable[[], Iterable[Changed]]) -> Section:
    """The part of a page with a card for all nodes that changed alike."""

    def cards() -> Iterator[Card]:  # drawn when a page is made
        return _cards("change", ((one.node, _of_change(one)) for one in changes()))

    return Section("changes", "Before and after", cards=cards, windows=True, on_page_alone=True)


def _of_change(one: Changed) -> _Looks:
    before, after = (None if c is None else drawing_of(c) for c in (one.before, one.after))
    title = f"{one.by}: {one.op}"
    if before is not None and before == after:
        return _Looks(title, ((f"before and after: {one.was} is now {one.is_now}", before),))
    return _Looks(title, ((f"before: {one.was}", before), (f"after: {one.is_now}", after)))


def _cards(kind: str, nodes: Iterable[tuple[str, _Looks]]) -> Iterator[Card]:
    alike: dict[_Looks, list[str]] = {}
    for node, looks in nodes:
        alike.setdefault(looks, []).append(node)
    for number, (looks, names) in enumerate(alike.items(), 1):
        anchor, drawn = f"{kind}-{number}", [one for _, one in looks.pictures if one]
        pictures = tuple(
            Picture(window_figure(one, title=said, anchor=anchor) if one else "", said)
            for said, one in looks.pictures
        )
        if kind == "change" or pictures[0].svg:
            whens = (said.partition(":")[0].capitalize() for said, one in looks.pictures if one)
            told = zip(whens, map(sentence, drawn), strict=True)
            text = " ".join(f"{when}: {said}".removeprefix(": ") for when, said in told)
            title = f"{looks.title} {few(names, 1)}"
            yield Card(anchor, title, text, pictures, tuple(names), looks.is_wrong)
