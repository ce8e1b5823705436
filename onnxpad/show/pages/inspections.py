"""What pages show of an inspection beside its tables: the verdict, the graph, and windows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from onnxpad.errors import counted, few
from onnxpad.inspection import (
    KINDS,
    Finding,
    Inspection,
    PaddedNode,
    is_worth_a_row,
    with_far_pad,
)
from onnxpad.runtimes.targets import Target, all_targets, find_target
from onnxpad.show.document import Card, Document, Picture, Section, Table
from onnxpad.show.pages.changes import ORDER
from onnxpad.show.pages.drawings import Drawing, drawing_of, sentence
from onnxpad.show.pages.figures import legend, window_figure
from onnxpad.show.pages.graphs import Vertex, padded_graph
from onnxpad.show.pages.page import CARDS
from onnxpad.show.verdicts import are_many
from onnxpad.show.wording import onnx_pads_text, visible

_TRAPS = ("node", "operator", "trap", "what happens", "passes that help")
_WHY_TRAPS = (
    "Whatever the target: what other runtimes and tools make of a model that is written like this."
)
_GRAPH = (
    "Red: goes wrong; dashed: in a trap, or not known. A row of nodes that look alike is one box.",
    ORDER,
)
_FAILING = ("refused", "wrong", "off-device")
_CAUSES = 3
_HAPPENS = {
    "refused": "{} refuses to run the model",
    "off-device": "some leave {}",
}
"""What becomes of nodes, by the kind of their findings; the braces hold the target."""


def as_page(document: Document, inspection: Inspection) -> Document:
    """The document with a verdict and pictures."""
    state, verdict = _verdict_of(inspection)
    targets = inspection.targets
    releases = () if are_many(targets) else _releases([*targets])
    notes = (*releases, *inspection.target_notes.values())
    sections = (
        Section("releases", "", notes),
        *_pictures(inspection),
        *document.sections,
        _placement(inspection),
    )
    shown = sorted(sections, key=lambda one: not one.anchor.startswith("target"))
    return replace(document, sections=tuple(shown), state=state, verdict=verdict)


def _pictures(inspection: Inspection) -> Iterator[Section]:
    """The padded part of the graph, and the windows of nodes that look alike."""
    drawn = cache(lambda: tuple(_drawn_nodes(inspection)))
    yield Section(
        "graph",
        "The padded part of the graph",
        about=_GRAPH,
        graph=lambda: _graph_of(inspection, drawn()),
    )
    yield _trap_table(inspection)
    yield Section(
        "drawings",
        "What the windows read, and of transposed convolutions write",
        cards=lambda: (card for card, _ in drawn()),
        windows=True,
    )


def _trap_table(inspection: Inspection) -> Section:
    rows = tuple(
        (node.node, node.op, trap.code, trap.sentence, ", ".join(trap.passes))
        for node in inspection.nodes
        for trap in node.traps
    )
    about = (_WHY_TRAPS,) if inspection.targets else ()
    table = Table(_TRAPS, rows, "traps")
    return Section("traps", "Traps", about=about, table=table)


def _placement(inspection: Inspection) -> Section:
    rows = Table(("node", "provider"), tuple(inspection.placement.items()), "providers of nodes")
    title = "Where onnxruntime runs them"
    return Section("placement", title, table=rows)


def _verdict_of(found: Inspection) -> tuple[str, str]:
    """The colour of the page, and what is wrong, in one sentence."""
    failing = [one for one in found.findings if one.kind in _FAILING]
    if failing:
        nodes = len({one.node for one in failing})
        told = "; ".join(_failures(found, failing))
        return "wrong", f"{counted(nodes, 'node')} will go wrong: {told}"
    if found.targets:
        unknown = [one for one in found.findings if one.kind == "unknown"]
        if unknown:
            told, first = counted(len({one.node for one in unknown}), "node"), unknown[0]
            return "open", f"what becomes of {told} is not known: {first.reason}"
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
        return "open", f"{counted(len(trapped), 'node')} {do} in a trap: {trap.sentence}"
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


def _releases(targets: Sequence[str]) -> Iterator[str]:
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
