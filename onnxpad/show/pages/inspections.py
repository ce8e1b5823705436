"""What pages show of an inspection beside its tables: the windows of nodes that look alike."""

from __future__ import annotations

from collections.abc import Iterator

from onnxpad.errors import few
from onnxpad.inspection import Inspection, is_worth_a_row, with_far_pad
from onnxpad.show.document import Card, Picture
from onnxpad.show.pages.drawings import Drawing, drawing_of, sentence
from onnxpad.show.pages.figures import legend, window_figure
from onnxpad.show.pages.page import CARDS
from onnxpad.show.wording import visible

_FAILING = ("refused", "wrong", "off-device")


def state_of(inspection: Inspection) -> str:
    """The colour of a page: 'wrong' for nodes that go wrong, 'open' for traps and unknown pads."""
    kinds = {one.kind for one in inspection.findings}
    if kinds & {*_FAILING}:
        return "wrong"
    odd = any(node.traps or node.pads is None for node in inspection.nodes)
    return "open" if ("unknown" in kinds if inspection.targets else odd) else "fine"


def window_cards(found: Inspection) -> Iterator[Card]:
    """A card for all nodes that look alike; those that go wrong first."""
    worth = {one.node for one in found.findings}
    wrong = {one.node for one in found.findings if one.kind in _FAILING}
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
