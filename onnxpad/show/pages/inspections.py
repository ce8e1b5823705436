"""What pages show of an inspection beside its tables: the graph, and windows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from onnxpad.errors import few
from onnxpad.inspection import Inspection, PaddedNode, is_worth_a_row, with_far_pad
from onnxpad.show.document import Card, Picture, Section
from onnxpad.show.pages.drawings import Drawing, drawing_of, sentence
from onnxpad.show.pages.figures import legend, window_figure
from onnxpad.show.pages.graphs import Vertex, padded_graph
from onnxpad.show.pages.page import CARDS
from onnxpad.show.wording import pads_text, visible

_FAILING = ("refused", "wrong", "off-device")


def state_of(inspection: Inspection) -> str:
    """The colour of a page: 'wrong' for nodes that go wrong, 'open' for traps and unknown pads."""
    kinds = {one.kind for one in inspection.findings}
    if kinds & {*_FAILING}:
        return "wrong"
    if inspection.targets:
        return "open" if "unknown" in kinds else "fine"
    return "open" if any(_is_odd(node) for node in inspection.nodes) else "fine"


def picture_sections(inspection: Inspection) -> Iterator[Section]:
    """The padded part of the graph, and the windows of nodes that look alike."""
    cards = cache(lambda: tuple(_cards(inspection)))
    graph = lambda: _graph_of(inspection, cards())  # noqa: E731 - drawn when a page is made
    yield Section("graph", "The padded part of the graph", graph=graph)
    title = "What the windows read, and of transposed convolutions write"
    yield Section("drawings", title, cards=cards, windows=True)


def _cards(found: Inspection) -> Iterator[Card]:
    """A card for all nodes that look alike; those that go wrong first."""
    worth, wrong = {one.node for one in found.findings}, _wrong(found)
    alike: dict[tuple[bool, bool, Drawing], list[str]] = {}
    for node, chain in zip(found.nodes, found.chains, strict=False):
        if is_worth_a_row(node):
            kind = node.node not in wrong, node.node not in worth, drawing_of(with_far_pad(chain))
            alike.setdefault(kind, []).append(visible(node.node))
    kinds = sorted(alike.items(), key=lambda one: one[0][:2])
    for number, ((fine, _, drawing), names) in enumerate(kinds[: CARDS + 1], 1):
        if svg := window_figure(drawing, anchor=str(number)):
            title, text = f"{drawing.op} {few(names, 1)}", visible(sentence(drawing))
            anchor, figure = f"drawing-{number}", (Picture(svg),)
            yield Card(anchor, title, text, figure, legend(drawing), tuple(names), not fine)


def _wrong(found: Inspection) -> set[str]:
    return {one.node for one in found.findings if one.kind in _FAILING}


def _graph_of(found: Inspection, cards: tuple[Card, ...]) -> str:
    """The padded nodes, each of which leads to its picture."""
    anchors = {name: card.anchor for card in cards for name in card.nodes}
    wrong = _wrong(found)
    vertices = []
    for node in found.nodes:
        state = "wrong" if node.node in wrong else "open" if _is_odd(node) else "fine"
        pads = f"pads {pads_text(node.pads)}" if any(node.pads or ()) else "no padding"
        lines = node.op, "pads not known" if node.pads is None else pads
        name = visible(node.node)
        vertices.append(Vertex(lines, anchors.get(name, ""), name, state))
    return padded_graph(vertices, found.links)


def _is_odd(node: PaddedNode) -> bool:
    return bool(node.traps) or node.pads is None
