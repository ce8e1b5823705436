"""Inspections: what targets do, the padded nodes with pictures, traps, and what is not known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from onnxpad.errors import counted, few
from onnxpad.inspection import Inspection, PaddedNode, is_worth_a_row
from onnxpad.runtimes.traps import Trap, of_another
from onnxpad.show.document import Document, Line, Note, Section, Table
from onnxpad.show.following import next_lines
from onnxpad.show.wording import (
    assumed_text,
    frameworks_text,
    input_text,
    limits_text,
    onnx_pads_text,
    open_in_file_text,
    pads_text,
    recorded_text,
    shape_text,
    window_text,
)

if TYPE_CHECKING:
    from onnxpad.model.graph.broken import UnknownOperator

_HEADERS = ("node", "operator", "input", "window", "pads", "written as", "fits")
_PADS_OF_PAGES = "pads (all begins, then all ends)"
_NAMES, _WHOLE = ("node", "input"), ("operator", "pads")
T = TypeVar("T")
_AUTO_PADS = ("VALID", "SAME_UPPER", "SAME_LOWER")
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
    """A summary, what targets do, the padded nodes, and what is not known.

    Nodes that can pad and write no padding are left out of the table, unless `everything` is asked
    for; findings that are alike are one row or line, unless `each` is. `model` stands in commands.
    A `page` has every node, and pads as ONNX writes them.
    """
    each = each or page
    shown = [node for node in inspection.nodes if everything or page or is_worth_a_row(node)]
    lines = [
        *_headlines(inspection),
        _about_text(inspection),
        _counts_text(inspection, len(inspection.nodes) - len(shown)),
    ]
    traps = Section("traps", "Traps" * page, tuple(_trap_notes(inspection, each=each)))
    pictures: tuple[Section, ...] = ()
    state = ""
    if page:
        from onnxpad.show.pages.inspections import picture_sections, state_of

        state, pictures = state_of(inspection), tuple(picture_sections(inspection))
    return Document(
        "Padding of",
        model,
        lines[0],
        (*lines[1:], *unknown_operator_notes(inspection.model.unknown_operators)),
        (
            *(() if inspection.targets else (traps,)),
            Section("next", "", tuple(next_lines(inspection, model))),
            *_target_sections(inspection, everything=everything, each=each),
            *pictures,
            Section("nodes", "Nodes", table=_nodes(shown, each=each, page=page)),
            *((traps,) if inspection.targets else ()),
            Section("unknown", "Not known", tuple(_unknown(inspection, each=each))),
            Section("leaving", "", tuple(_leaving(inspection))),
            Section("facts", "", tuple(_facts(inspection))),
        ),
        state,
        verdict="" if inspection.targets else lines[-1],
    )


def _headlines(inspection: Inspection) -> list[str]:
    """A line on each target, and how far what is said of them goes."""
    if not inspection.targets:
        return []
    from onnxpad.show.verdicts import headlines, not_judged_text

    return [
        *headlines(inspection.targets, inspection.ran),
        *filter(None, (open_in_file_text(inspection.assumed),)),
        *(f"note: {text}" for text in inspection.unmeasured.values()),
        *(one.note for one in inspection.installed.values()),
        not_judged_text(inspection.not_judged),
    ]


def _target_sections(inspection: Inspection, *, everything: bool, each: bool) -> Iterator[Section]:
    if inspection.targets:
        from onnxpad.show.verdicts import target_sections

        options = {"everything": everything, "each": each}
        yield from target_sections(inspection.targets, inspection.openings, **options)


def unknown_operator_notes(found: Iterable[UnknownOperator]) -> Iterator[Note]:
    """A note on each operator that ONNX does not have: which node it is, and what follows."""
    for one in found:
        more = f" and {one.nodes - 1} more" if one.nodes > 1 else ""
        yield Note(f"unknown operator: {one.operator} '{one.node}'{more}", one.sentence)


def _facts(inspection: Inspection) -> Iterator[str]:
    yield from limits_text(inspection.limits_met)
    yield assumed_text(inspection.assumed)
    yield recorded_text(inspection.recorded)


def _alike(nodes: Iterable[T], key: Callable[[T], object], *, each: bool) -> list[list[T]]:
    """The nodes in groups of one key, in the order of the first of each; alone with `each`."""
    groups: dict[object, list[T]] = {}
    for number, node in enumerate(nodes):
        groups.setdefault(number if each else key(node), []).append(node)
    return list(groups.values())


def _needs_reason(node: PaddedNode) -> bool:
    """Whether the pads are not known, and no trap says the same."""
    told = any(trap.code in _SAY_WHY for trap in node.traps)
    return node.pads is None and bool(node.hints or not told)


def _nodes(nodes: Sequence[PaddedNode], *, each: bool, page: bool) -> Table:
    """The nodes; those of which the same is said are a row, unless `each` is asked for."""
    named = [(node.node, *_cells(node, page=page)) for node in nodes]
    groups = _alike(named, lambda row: row[1:], each=each)
    rows = tuple((few([row[0] for row in rows], 1), *rows[0][1:]) for rows in groups)
    headers = tuple(_PADS_OF_PAGES if page and name == "pads" else name for name in _HEADERS)
    return Table(headers, rows, "operators that can pad", _NAMES, _WHOLE, _HEADERS[-1])


def _cells(node: PaddedNode, *, page: bool) -> tuple[str, ...]:
    """What stands in its row behind its name."""
    return (
        node.op,
        shape_text(node.input_shape),
        window_text(node.kernel, node.strides, node.dilations),
        onnx_pads_text(node.pads) if page else pads_text(node.pads),
        _written(node),
        "" if "mode" in node.written else frameworks_text(node.conventions),
    )


def _written(node: PaddedNode) -> str:
    if mode := node.written.get("mode"):
        value = node.written.get("value", "")
        shown = f"{value:g}" if isinstance(value, float) else str(value)
        words = [
            f"{mode} {shown}".rstrip(),
            *(form for form in node.forms if form not in (mode, "pad-node")),
        ]
    else:
        words = [_auto_pad(node) for form in node.forms if form == "auto_pad"]
        words += [form for form in node.forms if form != "auto_pad"]
    if not words and node.pads is None:
        return "pads" if "pads" in node.written else "not known"
    return ", ".join(words) or "no padding"


def _auto_pad(node: PaddedNode) -> str:
    value = str(node.written.get("auto_pad", "auto_pad"))
    return value if value in _AUTO_PADS or value.startswith("@") else f"{value} (invalid)"


def _why_unknown(node: PaddedNode) -> object:
    return node.op, node.reason, node.hints


def _unknown(inspection: Inspection, *, each: bool) -> Iterator[Note]:
    """Operators whose pads are not known, or not what a Pad in front of them adds."""
    unknown = [node for node in inspection.nodes if _needs_reason(node)]
    for group in _alike(unknown, _why_unknown, each=each):
        node = group[0]
        where = few([f"'{one.node}'" for one in group], 1)
        read = input_text(node.input, node.input_shape, node.kernel, node.strides)
        yield Note(f"unknown: {node.op} {where}", node.reason, read, tuple(node.hints))
    behind = [
        node
        for node, chain in zip(inspection.nodes, inspection.chains, strict=False)
        if node.pads is not None and chain.pad is not None and chain.pad.unclear
    ]
    for group in _alike(behind, lambda node: node.op, each=each):
        where = few([f"'{one.node}'" for one in group], 1)
        reason = "what the Pad in front of it adds is not known; what settles the Pad settles it"
        yield Note(f"unknown: {group[0].op} {where}", reason)


def _trap_notes(inspection: Inspection, *, each: bool) -> Iterator[Note]:
    """A note for each kind of trap and operator; the sentence is that of the first node.

    Nodes whose pads are not known are apart: sentences say whether they are.
    """
    found = [(node, trap) for node in inspection.nodes for trap in node.traps]
    for group in _alike(found, _kind_of_trap, each=each):
        node, trap = group[0]
        where = few([f"'{one.node}'" for one, _ in group], 1)
        yield Note(f"trap: {trap.code}, {node.op} {where}", trap.sentence)


def _kind_of_trap(found: tuple[PaddedNode, Trap]) -> object:
    node, trap = found
    return trap.code, node.op, node.pads is None


def _leaving(inspection: Inspection) -> Iterator[Line]:
    gone = inspection.off_device
    for label, provider in gone.items():
        yield Note(f"leaves the GPU: '{label}'", f"onnxruntime runs it with {provider}")
    if inspection.device:
        stay = len(inspection.placement) - len(gone)
        where = _DEVICES[inspection.device]
        nodes = _that_can_pad(len(inspection.placement))
        yield f"{stay} of {nodes} on the {where}"


_DEVICES = {"cpu": "CPU", "cuda": "GPU"}


def _that_can_pad(number: int) -> str:
    return counted(number, "operator that can pad", "operators that can pad")


_INPUTS = ("input", "inputs")
_INPUTS_SHOWN = 3


def _about_text(inspection: Inspection) -> str:
    """What the model is."""
    facts = inspection.model
    named = [f"'{name}' {shape_text(sizes)}" for name, sizes in facts.inputs.items()]
    inputs = few(named, _INPUTS_SHOWN)
    parts = [facts.producer or "no producer named", f"opset {facts.opset}" if facts.opset else ""]
    parts += [
        counted(facts.operators, "node"),
        f"{_INPUTS[len(facts.inputs) > 1]} {inputs}" if inputs else "no input",
    ]
    return ", ".join(part for part in parts if part)


def traps_texts(inspection: Inspection, shown: int = 0) -> list[str]:
    """'2 traps', or '1 trap, 2 more of onnxruntime': a runtime not asked about is named.

    Of each, as many codes as are to be `shown`.
    """
    found: dict[str, Counter[str]] = {}
    for code in (one.code for node in inspection.nodes for one in node.traps):
        found.setdefault(of_another(code, inspection.targets), Counter())[code] += 1
    texts: list[str] = []
    for runtime, codes in sorted(found.items()):
        text = f"{codes.total()} more" if texts else counted(codes.total(), "trap")
        text += f" of {runtime}" if runtime else ""
        named = few([code for code, _ in codes.most_common()], shown) if shown else ""
        texts.append(f"{text} ({named})" if named else text)
    return texts


def _counts_text(inspection: Inspection, hidden: int) -> str:
    """How it pads."""
    counts = inspection.summary
    if not counts["nodes"]:
        return "no operator that can pad"
    do = "does" if counts["padding"] == 1 else "do"
    behind = sum(
        "pad-node" in node.forms and node.pads is not None and not any(node.pads)
        for node in inspection.nodes
        if "mode" not in node.written
    )
    rest = counts["nodes"] - counts["padding"] - counts["unknown"] - behind - hidden
    text = ", ".join(
        [
            f"{counted(counts['nodes'], 'operator')} can pad, {counts['padding']} {do}",
            *([f"{behind} more behind a Pad"] if behind else []),
            *([f"{counted(rest, 'adds', 'add')} no cell"] if rest > 0 else []),
            f"{counts['forms']['auto_pad']} with auto_pad",
            f"{counts['asymmetric']} asymmetric",
            *(traps_texts(inspection) or ["0 traps"]),
        ]
    )
    if counts["unknown"]:
        text += f"; the pads of {counts['unknown']} are not known"
    if hidden:
        write = "writes" if hidden == 1 else "write"
        text += f"; {hidden} that {write} no padding not shown (--all)"
    return text
