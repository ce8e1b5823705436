"""Inspections: what targets do, the padded nodes with pictures, traps, and what is not known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from onnxpad.errors import counted, few
from onnxpad.inspection import Inspection, PaddedNode, is_worth_a_row
from onnxpad.show.document import Document, Line, Note, Section, Table
from onnxpad.show.following import next_lines
from onnxpad.show.pages.cards import state_of, window_cards
from onnxpad.show.wording import (
    EACH,
    alike,
    assumed_text,
    frameworks_text,
    limits_text,
    open_in_file_text,
    pads_text,
    route_text,
    shape_text,
    visible,
    window_text,
)

if TYPE_CHECKING:
    from onnxpad.model.graph.broken import UnknownOperator

_HEADERS = ("node", "operator", "input", "window", "pads", "written as", "fits")
_AUTO_PADS = ("VALID", "SAME_UPPER", "SAME_LOWER")
_DEVICES = {"cpu": "CPU", "cuda": "GPU"}
_INPUTS_SHOWN = 3
# Traps that say why the pads are not known.
_SAY_WHY = frozenset({"computed-pads", "overridable-pads", "optimised-only"})


def inspection_document(
    inspection: Inspection,
    model: str = "MODEL",
    *,
    everything: bool = False,
    each: bool = False,
    page: bool = False,
) -> Document:
    """A summary, what targets do or the padded nodes, traps, and what is not known.

    `everything` shows padded nodes beside those that a target does not take, and nodes that write
    no padding. Findings that are alike are one row or line, unless `each` is asked for. `model`
    stands in commands. A `page` has every node.
    """
    each, everything = each or page, everything or page
    verdicts: tuple[Section, ...] = ()
    line = [f"{route_text(model)}: {counts_text(inspection)}"]
    if inspection.targets:
        from onnxpad.show.verdicts import answers_text, targets_section

        line += (f"{name}: {answers_text(one)}" for name, one in inspection.targets.items())
        line += (one.note for one in inspection.installed.values())
        verdicts = (targets_section(inspection, everything=everything and not page, each=each),)
    has_rows = any(one.lines or (one.table and one.table.rows) for one in verdicts)
    worth = [node for node in inspection.nodes if is_worth_a_row(node)]
    shown = inspection.nodes if everything else [] if has_rows else worth
    headline, *more = [*_headlines(inspection), counts_text(inspection)]
    if has_rows and not shown:
        more.append("--all shows how each node pads")
    elif hidden := len(inspection.nodes) - len(shown):
        more.append(f"{counted(hidden, 'node')} without padding not shown (--all)")
    title = "What the windows read, and of transposed convolutions write"
    cards = partial(window_cards, inspection)
    unknown_operators = unknown_operator_notes(inspection.model.unknown_operators)
    return Document(
        "Padding of",
        model,
        headline,
        (*more, _about_text(inspection), *next_lines(inspection, model)),
        (
            Section("operators", "", tuple(unknown_operators)),
            *verdicts,
            Section("traps", "Traps", tuple(_trap_notes(inspection, each=each))),
            Section("drawings", title, cards=cards, windows=True, on_page_alone=True),
            Section("nodes", "Nodes", table=_nodes(shown, each=each or everything)),
            Section("unknown", "Not known", tuple(_unknown(inspection, each=each))),
            Section("leaving", "", tuple(_leaving(inspection))),
            Section("facts", "", tuple(_facts(inspection))),
        ),
        state_of(inspection),
        "" if each or everything else EACH,
        line=visible("; ".join(line)),
    )


def _headlines(inspection: Inspection) -> Iterator[str]:
    """A line on each target, and how far what is said of them goes."""
    if not inspection.targets:
        return
    from onnxpad.show.verdicts import headlines, not_judged_text

    yield from headlines(inspection)
    yield from filter(None, (open_in_file_text(inspection.assumed),))
    yield from (f"note: {text}" for text in inspection.unmeasured.values())
    yield from (one.note for one in inspection.installed.values())
    yield not_judged_text(inspection.not_judged)


def unknown_operator_notes(found: Iterable[UnknownOperator]) -> Iterator[Note]:
    """A note on each operator that ONNX does not have: which node it is, and what follows."""
    for one in found:
        more = f" and {one.nodes - 1} more" if one.nodes > 1 else ""
        yield Note(f"unknown operator: {one.operator} '{one.node}'{more}", one.sentence)


def _facts(inspection: Inspection) -> Iterator[str]:
    yield from limits_text(inspection.limits_met)
    yield assumed_text(inspection.assumed)
    if recorded := assumed_text(inspection.recorded):
        yield f"{recorded}, as the model itself says in its metadata (onnxpad.holds_where)"


def _nodes(nodes: Sequence[PaddedNode], *, each: bool) -> Table:
    """The nodes; those of which the same is said are a row, unless `each` is asked for."""
    groups = alike(nodes, _cells, each=each)
    rows = ((few([node.node for node in group], 1), *_cells(group[0])) for group in groups)
    return Table(_HEADERS, tuple(rows), "operators that can pad")


def _cells(node: PaddedNode) -> tuple[str, ...]:
    """What stands in its row behind its name."""
    return (
        node.op,
        shape_text(node.input_shape),
        window_text(node.kernel, node.strides, node.dilations),
        pads_text(node.pads),
        _written(node),
        "" if "mode" in node.written else frameworks_text(node.conventions),
    )


def _written(node: PaddedNode) -> str:
    if mode := node.written.get("mode"):
        value = node.written.get("value", "")
        shown = f"{value:g}" if isinstance(value, float) else str(value)
        words = [f"{mode} {shown}".rstrip()]
        words += [form for form in node.forms if form not in (mode, "pad-node")]
    else:
        words = [_auto_pad(node)] * ("auto_pad" in node.forms)
        words += [form for form in node.forms if form != "auto_pad"]
    if not words and node.pads is None:
        return "pads" if "pads" in node.written else "not known"
    return ", ".join(words) or "no padding"


def _auto_pad(node: PaddedNode) -> str:
    value = str(node.written.get("auto_pad", "auto_pad"))
    return value if value in _AUTO_PADS or value.startswith("@") else f"{value} (invalid)"


def _unknown(inspection: Inspection, *, each: bool) -> Iterator[Note]:
    """Operators whose pads are not known, or not what a Pad in front of them adds.

    Where a trap says why, only what settles it is told.
    """
    told: list[tuple[PaddedNode, str]] = []
    for node, chain in zip(inspection.nodes, inspection.chains, strict=False):
        trapped = any(trap.code in _SAY_WHY for trap in node.traps)
        if node.pads is None and (node.hints or not trapped):
            told.append((node, node.reason))
        elif node.pads is not None and chain.pad is not None and chain.pad.unclear:
            told.append((node, "what the Pad in front of it adds is not known"))
    for group in alike(told, lambda one: (one[0].op, one[1], one[0].hints), each=each):
        node, reason = group[0]
        where = few([f"'{one.node}'" for one, _ in group], 1)
        yield Note(f"unknown: {node.op} {where}", reason, tuple(node.hints))


def _trap_notes(inspection: Inspection, *, each: bool) -> Iterator[Note]:
    """A note for each kind of trap and operator; the sentence is that of the first node."""
    found = [(node, trap) for node in inspection.nodes for trap in node.traps]
    # Sentences say whether pads are known.
    kinds = alike(found, lambda one: (one[1].code, one[0].op, one[0].pads is None), each=each)
    for group in kinds:
        node, trap = group[0]
        where = few([f"'{one.node}'" for one, _ in group], 1)
        yield Note(f"trap: {trap.code}, {node.op} {where}", trap.sentence)


def _leaving(inspection: Inspection) -> Iterator[Line]:
    gone = inspection.off_device
    for label, provider in gone.items():
        yield Note(f"leaves the GPU: '{label}'", f"onnxruntime runs it with {provider}")
    if inspection.device:
        total = len(inspection.placement)
        nodes = counted(total, "operator that can pad", "operators that can pad")
        yield f"{total - len(gone)} of {nodes} on the {_DEVICES[inspection.device]}"


def _about_text(inspection: Inspection) -> str:
    """What the model is."""
    facts = inspection.model
    named = [f"'{name}' {shape_text(sizes)}" for name, sizes in facts.inputs.items()]
    inputs = few(named, _INPUTS_SHOWN)
    parts = [facts.producer or "no producer named", f"opset {facts.opset}" if facts.opset else ""]
    parts += [counted(facts.operators, "node")]
    parts += [f"input{'s' * bool(named[1:])} {inputs}" if inputs else "no input"]
    return ", ".join(filter(None, parts))


def counts_text(inspection: Inspection) -> str:
    """'6 operators can pad, 5 with padding, 6 with auto_pad, 3 asymmetric, 2 traps'."""
    counts = inspection.summary
    if not counts["nodes"]:
        return "no operator that can pad"
    parts = [
        f"{counted(counts['nodes'], 'operator')} can pad, {counts['padding']} with padding",
        f"{counts['forms']['auto_pad']} with auto_pad",
        f"{counts['asymmetric']} asymmetric",
        counted(counts["traps"], "trap"),
    ]
    text = ", ".join(parts)
    return f"{text}; the pads of {counts['unknown']} are not known" if counts["unknown"] else text
