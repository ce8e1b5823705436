"""Inspections as pages: what is wrong where, how each node pads, and what it reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from onnxpad.errors import counted, either, few
from onnxpad.inspection import KINDS, Finding, Inspection, PaddedNode, with_far_pad
from onnxpad.runtimes.targets import Target, all_targets, find_target
from onnxpad.show.document import Card, Picture, lines_text
from onnxpad.show.edited import unknown_operator_notes
from onnxpad.show.inspections import (
    HEADERS,
    about_text,
    counts_text,
    is_worth_a_row,
    name_text,
    next_lines,
    node_cells,
)
from onnxpad.show.pages.changes import ORDER
from onnxpad.show.pages.drawings import Drawing, drawing_of
from onnxpad.show.pages.figures import legend, sentence, window_figure
from onnxpad.show.pages.graphs import Vertex, padded_graph
from onnxpad.show.pages.page import CARDS, Link, Page, Section, Table
from onnxpad.show.wording import (
    assumed_text,
    limits_text,
    onnx_pads_text,
    recorded_text,
    visible,
)

if TYPE_CHECKING:
    from onnxpad.rewriting.for_target.report import NodeVerdict

_TRAPS = ("node", "operator", "trap", "what happens", "passes that help")
_VERDICTS = ("node", "operator", "verdict", "why", "rewrite writes")
_PADS = "pads (all begins, then all ends)"
_NEXT = "next: "
_FAILING = ("refused", "wrong", "off-device")
_WHY_TRAPS = (
    "Whatever the target: what other runtimes and tools make of a model that is written like this."
)
_CAUSES = 3
_HAPPENS = {
    "refused": "{} refuses to run the model",
    "off-device": "some leave {}",
}
"""What becomes of nodes, by the kind of their findings; the braces hold the target."""
_DOES = {
    "refuses": "refuses",
    "miscomputes": "computes wrongly",
    "falls back": "leaves to the CPU",
    "unknown": "may not take",
}
_GRAPH = (
    "Red: goes wrong; dashed: in a trap, or not known. A row of nodes that look alike is one box.",
    ORDER,
)


def inspection_page(found: Inspection, model: str) -> Page:
    """The page about one model."""
    said = list(next_lines(found, model))
    commands = [line.removeprefix(_NEXT) for line in said if line.startswith(_NEXT)]
    rest = [line for line in said if not line.startswith(_NEXT)]
    lines = [
        *_headlines(found),
        about_text(found),
        counts_text(found, 0),
        *lines_text(unknown_operator_notes(found.model.unknown_operators)).splitlines(),
        *limits_text(found.limits_met),
        assumed_text(found.assumed),
        recorded_text(found.recorded),
        _not_judged(found),
        *rest,
    ]
    state, verdict = _verdict(found)
    drawn = list(_kinds(found))
    anchors = {number: card.anchor for card, numbers in drawn for number in numbers}
    leads = _Leads({visible(name_text(found.nodes[n])): anchor for n, anchor in anchors.items()})
    graph = _graph(found, anchors)
    return Page(
        "Padding of",
        visible(model),
        state,
        verdict,
        tuple(line for line in lines if line),
        tuple(commands),
        (
            *_targets(found, leads),
            Section("graph", "The padded part of the graph", _GRAPH * bool(graph), graph=graph),
            _trapped(found, leads),
            Section("unknown", "Not known", lines=tuple(_unknown(found))),
            Section(
                "drawings",
                "What the windows read, and of transposed convolutions write",
                cards=tuple(card for card, _ in drawn),
                windows=True,
            ),
            Section("nodes", "Nodes", table=_nodes(found, leads)),
            Section("placement", "Where onnxruntime runs them", table=_placement(found, leads)),
        ),
    )


def _verdict(found: Inspection) -> tuple[str, str]:
    """What is wrong, in one sentence."""
    failing = [one for one in found.findings if one.kind in _FAILING]
    if failing:
        nodes = len({one.node for one in failing})
        told = "; ".join(_failures(found, failing))
        return "wrong", visible(f"{counted(nodes, 'node')} will go wrong: {told}")
    if found.targets:
        unknown = [one for one in found.findings if one.kind == "unknown"]
        if unknown:
            told, first = counted(len({one.node for one in unknown}), "node"), unknown[0]
            return "open", visible(f"what becomes of {told} is not known: {first.reason}")
        names = " and ".join(found.targets)
        if found.not_judged:
            return (
                "fine",
                f"{names}: no padding is refused or computed wrongly; the rest is unjudged",
            )
        return "fine", f"{names}: nothing is refused or computed wrongly"
    trapped = [node for node in found.nodes if node.traps]
    if trapped:
        trap = trapped[0].traps[0]
        do = "is" if len(trapped) == 1 else "are"
        return "open", visible(f"{counted(len(trapped), 'node')} {do} in a trap: {trap.sentence}")
    if any(node.pads is None for node in found.nodes):
        return "open", "the padding of some nodes is not known"
    return "fine", "no trap is known for how this model pads"


def _failures(found: Inspection, failing: Sequence[Finding]) -> Iterator[str]:
    """'opencv gives another shape (2 nodes: why; 1 node: why)', for each thing a target does."""
    does = {
        (name, one.node.label, one.op, KINDS.get(str(one.judgement.answer))): one.judgement.does
        for name, verdicts in found.targets.items()
        for one in verdicts
    }
    happening: dict[str, list[str]] = {}
    for one in failing:
        target = one.code.rsplit(":", 1)[0]
        own = does.get((target, one.node, one.op, one.kind), "") if one.kind == "wrong" else ""
        happens = f"{target} {own}" if own else _HAPPENS[one.kind].format(target)
        happening.setdefault(happens, []).append(one.reason.partition("; ")[0])
    for happens, reasons in happening.items():
        causes = Counter(reasons).most_common()
        told = [f"{counted(number, 'node')}: {reason}" for reason, number in causes[:_CAUSES]]
        if more := len(causes) - _CAUSES:
            told += [f"and {counted(more, 'more cause')}"] * (more > 0)
        why = f": {causes[0][0]}" if len(causes) == 1 else f" ({'; '.join(told)})"
        yield f"{happens}{why}"


def _releases(targets: Iterable[str]) -> Iterator[str]:
    """Which release is meant where none was named, and which engine where a runtime has two."""
    for name in dict.fromkeys(one for target in targets for one in target.split(" + ")):
        target = find_target(name)
        engine = f", {target.engine}" if target.engine else ""
        runtime, _, release = name.partition("@")
        if release and engine:
            yield f"{name} is release {release} of {_family(runtime)}{engine}"
        if release or not target.releases:
            continue
        *older, newest = target.releases
        another = f"; another one: --target {name}@{older[-1]}" if older else ""
        yield f"{name} means release {newest}{engine}{another or _before(target)}"


def _family(runtime: str) -> str:
    """The target whose older releases are those of `runtime`, or itself."""
    return next((one.name for one in all_targets().values() if one.before == runtime), runtime)


def _before(target: Target) -> str:
    """Where the older releases of a runtime are, of which another engine is known."""
    if not target.before:
        return ""
    before = find_target(target.before)
    *_, last = (one for one in before.releases if one not in target.releases)
    told = f"; releases up to {last} have {before.engine} alone (--target {target.name}@{last})"
    newest = target.releases[-1]
    if newest not in before.releases:
        return told
    return f"{told}, which {newest} has too (--target {target.before})"


def _headlines(found: Inspection) -> Sequence[str]:
    if not found.targets:
        return ()
    from onnxpad.show.verdicts import are_many, headlines, opening_lines

    told = [opening_lines(t, found.openings[t], v, of="rewrite ") for t, v in found.targets.items()]
    openings = dict.fromkeys(line for lines in told for line in lines)
    releases = () if are_many(found.targets) else _releases(found.targets)
    return [
        *headlines(found.targets, found.ran),
        *releases,
        *found.target_notes.values(),
        *openings,
    ]


def _not_judged(found: Inspection) -> str:
    from onnxpad.show.verdicts import not_judged_text

    return not_judged_text(found.not_judged) if found.targets else ""


class _Leads(dict[str, str]):
    """The drawing of a node, by its name."""

    def row(self, name: str, *cells: str) -> tuple[str | Link, ...]:
        """A row of a table that begins with a node."""
        shown = visible(name)
        lead = Link(shown, self[shown]) if shown in self else shown
        return lead, *map(visible, cells)


def _targets(found: Inspection, leads: _Leads) -> Iterator[Section]:
    for number, (name, verdicts) in enumerate(found.targets.items()):
        failing = [one for one in verdicts if str(one.judgement.answer) in KINDS]
        rows = tuple(_verdict_rows(failing, leads))
        what = either(list(dict.fromkeys(_DOES[str(one.judgement.answer)] for one in failing)))
        evidence = dict.fromkeys(line for one in failing for line in one.judgement.evidence)
        yield Section(
            f"target-{number}",
            f"What {name} does",
            table=Table(f"nodes that {name} {what}", _VERDICTS, rows),
            notes=tuple(f"evidence: {visible(line)}" for line in evidence),
        )


def _verdict_rows(
    failing: Sequence[NodeVerdict], leads: _Leads
) -> Iterator[tuple[str | Link, ...]]:
    """A row for each node; those of which the same is not known are one, called by the first."""
    from onnxpad.show.verdicts import way_text

    alike: dict[tuple[str, ...], list[str]] = {}
    for number, one in enumerate(failing):
        judged = one.judgement
        apart = "" if judged.answer.is_open else str(number)
        key = apart, one.op, str(judged.answer), judged.why, way_text(one)
        alike.setdefault(key, []).append(one.node.label)
    for (_, op, *rest), (first, *others) in alike.items():
        yield leads.row(first, f"{op}, and {len(others)} more" if others else op, *rest)


def _trapped(found: Inspection, leads: _Leads) -> Section:
    rows = tuple(_traps(found, leads))
    lines = (_WHY_TRAPS,) if rows and found.targets else ()
    return Section("traps", "Traps", lines, Table("traps", _TRAPS, rows))


def _traps(found: Inspection, leads: _Leads) -> Iterator[tuple[str | Link, ...]]:
    for node in found.nodes:
        for trap in node.traps:
            passes = ", ".join(trap.passes)
            yield leads.row(name_text(node), node.op, trap.code, trap.sentence, passes)


def _unknown(found: Inspection) -> Iterator[str]:
    for node in found.nodes:
        if node.pads is None:
            tried = f"; try {either(node.hints)}" if node.hints else ""
            yield visible(f"{node.op} '{name_text(node)}': {node.reason}{tried}")


def _kinds(found: Inspection) -> Iterator[tuple[Card, set[int]]]:
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
            names = tuple(visible(name_text(found.nodes[one])) for one in nodes)
            card = card_of(f"drawing-{number}", drawing, svg, names)
            yield replace(card, is_wrong=not fine), set(nodes)


def card_of(anchor: str, drawing: Drawing, svg: str, names: tuple[str, ...]) -> Card:
    """One figure with its words, and the nodes that look so."""
    title = f"{drawing.op} {few(names, 1)}" if names else drawing.op
    return Card(anchor, title, visible(sentence(drawing)), (Picture(svg),), legend(drawing), names)


def _wrong(found: Inspection) -> set[str]:
    return {one.node for one in found.findings if one.kind in _FAILING}


def _graph(found: Inspection, anchors: Mapping[int, str]) -> str:
    wrong = _wrong(found)
    vertices = [
        Vertex(
            (
                node.op,
                f"pads {onnx_pads_text(node.pads)}" if any(node.pads or (0,)) else _unpadded(node),
            ),
            anchors.get(number, ""),
            visible(name_text(node)),
            "wrong" if node.node in wrong else _state(node),
        )
        for number, node in enumerate(found.nodes)
    ]
    return padded_graph(vertices, found.links)


def _state(node: PaddedNode) -> str:
    return "open" if node.traps or node.pads is None else "fine"


def _unpadded(node: PaddedNode) -> str:
    return "pads not known" if node.pads is None else "no padding"


def _nodes(found: Inspection, leads: _Leads) -> Table:
    place = HEADERS.index("pads")
    rows = tuple(
        leads.row(name_text(node), *cells[: place - 1], onnx_pads_text(node.pads), *cells[place:])
        for node in found.nodes
        for cells in [node_cells(node)]
    )
    headers = tuple(_PADS if header == "pads" else header for header in HEADERS)
    return Table("operators that can pad", headers, rows)


def _placement(found: Inspection, leads: _Leads) -> Table:
    rows = tuple(leads.row(label, provider) for label, provider in found.placement.items())
    return Table("providers of nodes", ("node", "provider"), rows)
