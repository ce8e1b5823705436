"""What pages show of an inspection beside its tables: the graph, and windows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from onnxpad.errors import few
from onnxpad.inspection import Inspection, PaddedNode, is_worth_a_row, with_far_pad
from onnxpad.show.document import Card, Picture, Section
from onnxpad.show.pages.changes import ORDER
from onnxpad.show.pages.drawings import Drawing, drawing_of, sentence
from onnxpad.show.pages.figures import legend, window_figure
from onnxpad.show.pages.graphs import Vertex, padded_graph
from onnxpad.show.pages.page import CARDS
from onnxpad.show.wording import onnx_pads_text, visible

_GRAPH = (
    "Red: goes wrong; dashed: in a trap, or not known. A row of nodes that look alike is one box.",
    ORDER,
)
_FAILING = ("refused", "wrong", "off-device")


def state_of(inspection: Inspection) -> str:
    """The colour of a page: 'wrong' for nodes that go wrong, 'open' for traps and unknown pads."""
    if any(one.kind in _FAILING for one in inspection.findings):
        return "wrong"
    if inspection.targets:
        return "open" if any(one.kind == "unknown" for one in inspection.findings) else "fine"
    return "fine" if all(_state(node) == "fine" for node in inspection.nodes) else "open"


def picture_sections(inspection: Inspection) -> Iterator[Section]:
    """The padded part of the graph, and the windows of nodes that look alike."""
    drawn = cache(lambda: tuple(_drawn_nodes(inspection)))
    yield Section(
        "graph",
        "The padded part of the graph",
        about=_GRAPH,
        graph=lambda: _graph_of(inspection, drawn()),
    )
    yield Section(
        "drawings",
        "What the windows read, and of transposed convolutions write",
        cards=lambda: (card for card, _ in drawn()),
        windows=True,
    )


def _drawn_nodes(found: Inspection) -> Iterator[tuple[Card, set[int]]]:
    """A card for all nodes that look alike, with their numbers; those that go wrong first."""
    worth = {one.node for one in found.findings}
    wrong = _wrong(found)
    alike: dict[tuple[bool, bool, Drawing], list[int]] = {}
    for number, (node, chain) in enumerate(zip(found.nodes, found.chains, strict=False)):
        if is_worth_a_row(node):
            state = node.node not in wrong, node.node not in worth
            kind = *state, drawing_of(with_far_pad(chain))
            alike.setdefault(kind, []).append(number)
    kinds = sorted(alike.items(), key=lambda one: one[0][:2])
    for number, ((fine, _, drawing), nodes) in enumerate(kinds[: CARDS + 1], 1):
        if svg := window_figure(drawing, anchor=str(number)):
            names = tuple(visible(found.nodes[one].node) for one in nodes)
            title, text = f"{drawing.op} {few(names, 1)}", visible(sentence(drawing))
            key, figures = legend(drawing), (Picture(svg),)
            card = Card(f"drawing-{number}", title, text, figures, key, names, is_wrong=not fine)
            yield card, set(nodes)


def _wrong(found: Inspection) -> set[str]:
    return {one.node for one in found.findings if one.kind in _FAILING}


def _graph_of(found: Inspection, drawn: Iterable[tuple[Card, set[int]]]) -> str:
    """The padded nodes, each of which leads to its picture."""
    anchors = {number: card.anchor for card, numbers in drawn for number in numbers}
    wrong = _wrong(found)
    vertices = [
        Vertex(
            (
                node.op,
                f"pads {onnx_pads_text(node.pads)}" if any(node.pads or (0,)) else _unpadded(node),
            ),
            anchors.get(number, ""),
            visible(node.node),
            "wrong" if node.node in wrong else _state(node),
        )
        for number, node in enumerate(found.nodes)
    ]
    return padded_graph(vertices, found.links)


def _state(node: PaddedNode) -> str:
    return "open" if node.traps or node.pads is None else "fine"


def _unpadded(node: PaddedNode) -> str:
    return "pads not known" if node.pads is None else "no padding"
