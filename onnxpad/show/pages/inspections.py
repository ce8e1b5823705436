"""Inspections as pages: what is wrong where, how each node pads, and what it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from onnxpad.inspection import Inspection, PaddedNode, with_far_pad
from onnxpad.show.inspections import (
    HEADERS,
    about_text,
    counts_text,
    is_worth_a_row,
    name_text,
    next_lines,
    node_cells,
)
from onnxpad.show.pages.drawings import Drawing, drawing_of
from onnxpad.show.pages.figures import legend, sentence, window_figure
from onnxpad.show.pages.page import Card, Link, Page, Picture, Section, Table
from onnxpad.show.wording import assumed_text, counted, either, limits_text, visible

if TYPE_CHECKING:
    from onnxpad.rewriting.for_target.report import NodeVerdict

_TRAPS = ("node", "operator", "trap", "what happens", "passes that help")
_VERDICTS = ("node", "operator", "verdict", "why", "rewrite --target writes")
_NEXT = "next: "


def inspection_page(found: Inspection, model: str) -> Page:
    """The page about one model."""
    said = list(next_lines(found, model))
    commands = [line.removeprefix(_NEXT) for line in said if line.startswith(_NEXT)]
    rest = [line for line in said if not line.startswith(_NEXT)]
    hidden = sum(not is_worth_a_row(node) for node in found.nodes)
    lines = [
        *_headlines(found),
        about_text(found),
        counts_text(found, hidden),
        *limits_text(found.limits_met),
        assumed_text(found.assumed),
        *rest,
    ]
    state, verdict = _verdict(found)
    drawn = list(_kinds(found))
    return Page(
        "Padding of",
        visible(model),
        state,
        verdict,
        tuple(line for line in lines if line),
        tuple(commands),
        (
            *_targets(found),
            Section("traps", "Traps", table=Table("traps", _TRAPS, tuple(_traps(found)))),
            Section("unknown", "Not known", lines=tuple(_unknown(found))),
            Section(
                "drawings",
                "What the windows read",
                cards=tuple(card for card, _ in drawn),
                windows=True,
            ),
            Section("nodes", "Nodes", table=_nodes(found, drawn)),
        ),
    )


def _verdict(found: Inspection) -> tuple[str, str]:
    """What is wrong, in one sentence."""
    failing = [one for one in found.findings if one.kind in ("refused", "wrong", "off-device")]
    if failing:
        nodes = len({one.node for one in failing})
        return "wrong", f"{counted(nodes, 'node')} will go wrong: {failing[0].reason}"
    if found.targets:
        unknown = [one for one in found.findings if one.kind == "unknown"]
        if unknown:
            return "open", f"of {counted(len(unknown), 'node')} it is not known what becomes"
        return "fine", f"{' and '.join(found.targets)}: nothing is refused or computed wrongly"
    trapped = [node for node in found.nodes if node.traps]
    if trapped:
        trap = trapped[0].traps[0]
        do = "is" if len(trapped) == 1 else "are"
        return "open", f"{counted(len(trapped), 'node')} {do} in a trap: {trap.sentence}"
    if any(node.pads is None for node in found.nodes):
        return "open", "the padding of some nodes is not known"
    return "fine", "no trap is known for how this model pads"


def _headlines(found: Inspection) -> Sequence[str]:
    if not found.targets:
        return ()
    from onnxpad.show.verdicts import headlines

    return [*headlines(found.targets), *found.target_notes.values()]


def _targets(found: Inspection) -> Iterator[Section]:
    for number, (name, verdicts) in enumerate(found.targets.items()):
        failing = [
            one for one in verdicts if one.judgement.answer.fails or one.judgement.answer.is_open
        ]
        rows = tuple(_verdict_row(one) for one in failing)
        evidence = dict.fromkeys(line for one in failing for line in one.judgement.evidence)
        yield Section(
            f"target-{number}",
            f"What {name} does",
            lines=tuple(f"evidence: {visible(line)}" for line in evidence),
            table=Table(f"nodes that {name} does not take", _VERDICTS, rows),
        )


def _verdict_row(one: NodeVerdict) -> tuple[str, ...]:
    from onnxpad.show.verdicts import way_text

    judged = one.judgement
    return tuple(
        map(visible, (one.node.label, one.op, str(judged.answer), judged.reason, way_text(one)))
    )


def _traps(found: Inspection) -> Iterator[tuple[str, ...]]:
    for node in found.nodes:
        for trap in node.traps:
            row = (name_text(node), node.op, trap.code, trap.sentence, ", ".join(trap.passes))
            yield tuple(map(visible, row))


def _unknown(found: Inspection) -> Iterator[str]:
    for node in found.nodes:
        if node.pads is None:
            tried = f"; try {either(node.hints)}" if node.hints else ""
            yield visible(f"{node.op} '{name_text(node)}': {node.reason}{tried}")


def _kinds(found: Inspection) -> Iterator[tuple[Card, set[int]]]:
    """A card for all nodes that look alike, with their numbers."""
    alike: dict[Drawing, list[int]] = {}
    for number, (node, chain) in enumerate(zip(found.nodes, found.chains, strict=True)):
        if is_worth_a_row(node):
            alike.setdefault(drawing_of(with_far_pad(chain)), []).append(number)
    for number, (drawing, nodes) in enumerate(alike.items(), 1):
        if svg := window_figure(drawing):
            names = tuple(visible(name_text(found.nodes[one])) for one in nodes)
            yield card_of(f"drawing-{number}", drawing, svg, names), set(nodes)


def card_of(place: str, drawing: Drawing, svg: str, names: tuple[str, ...]) -> Card:
    """One figure with its words, and the nodes that look so."""
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    title = f"{drawing.op} {names[0]}{more}" if names else drawing.op
    return Card(
        place, title, visible(sentence(drawing)), (Picture(svg),), legend(drawing), names[1:]
    )


def _nodes(found: Inspection, drawn: Iterable[tuple[Card, set[int]]]) -> Table:
    places = {number: card.place for card, numbers in drawn for number in numbers}
    rows = []
    for number, node in enumerate(found.nodes):
        cells = map(visible, node_cells(node))
        rows.append((_linked(node, places.get(number)), *cells))
    return Table("operators that can pad", HEADERS, tuple(rows))


def _linked(node: PaddedNode, place: str | None) -> str | Link:
    name = visible(name_text(node))
    return name if place is None else Link(name, place)
