"""Inspections as tables and notes."""

from __future__ import annotations

from collections.abc import Iterator

from onnxpad.inspection import Inspection, PaddedNode
from onnxpad.show.tables import Terminal, table
from onnxpad.show.verdicts import verdicts_text
from onnxpad.show.wording import (
    assumed_text,
    counted,
    input_text,
    limits_text,
    note,
    pads_text,
    paragraph,
    shape_text,
    window_text,
)

_HEADERS = ("node", "operator", "input", "window", "pads", "written as", "fits")
_NAMES, _WHOLE = ("node", "input"), ("operator", "pads")
_CALLS_SHOWN = 2
_NAMES_SHOWN = 3
_AUTO_PADS = ("VALID", "SAME_UPPER", "SAME_LOWER")
# Traps that say why the pads are not known.
_SAY_WHY = frozenset({"computed-pads", "overridable-pads", "optimised-only"})


def inspection_text(
    inspection: Inspection, terminal: Terminal | None = None, *, everything: bool = False
) -> str:
    """The table of padded nodes, what is not known, the traps, and a summary.

    Nodes that can pad and write no padding are left out of the table, unless `everything` is asked
    for.
    """
    nodes = [node for node in inspection.nodes if everything or _is_worth_a_row(node)]
    parts = [
        table(_HEADERS, [_row(node) for node in nodes], terminal, names=_NAMES, whole=_WHOLE),
        paragraph(_unknown(node) for node in inspection.nodes if _needs_reason(node)),
        paragraph(_traps(inspection)),
        paragraph(_placement(inspection)),
        paragraph(limits_text(inspection.limits_met)),
        verdicts_text(inspection.targets, inspection.openings, terminal, everything=everything),
        paragraph(
            [
                assumed_text(inspection.assumed),
                _summary(inspection, len(inspection.nodes) - len(nodes)),
            ]
        ),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _is_worth_a_row(node: PaddedNode) -> bool:
    return bool(node.forms or node.traps or node.pads is None or any(node.pads))


def _needs_reason(node: PaddedNode) -> bool:
    """Whether the pads are not known, and no trap says the same."""
    told = any(trap.code in _SAY_WHY for trap in node.traps)
    return node.pads is None and bool(node.hints or not told)


def _row(node: PaddedNode) -> tuple[str, ...]:
    return (
        _name(node),
        node.op,
        shape_text(node.input_shape),
        window_text(node.kernel, node.strides, node.dilations),
        pads_text(node.pads),
        _written(node),
        _fits(node.conventions),
    )


def _fits(names: tuple[str, ...]) -> str:
    """The first names, whose own rule it is if it is anybody's, and how many more there are."""
    more = len(names) - _NAMES_SHOWN
    return (", ".join(names[:_NAMES_SHOWN]) or "-") + (f" and {more} more" if more > 0 else "")


def _name(node: PaddedNode) -> str:
    if not node.calls:
        return node.node
    more = len(node.calls) - _CALLS_SHOWN
    calls = ", ".join(node.calls[:_CALLS_SHOWN]) + (f" and {more} more" if more > 0 else "")
    return f"{node.node} (called by {calls})"


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


def _unknown(node: PaddedNode) -> str:
    read = input_text(node.input, node.input_shape, node.kernel, node.strides)
    return note(f"unknown: {node.op} '{node.node}'", node.reason, read=read, hints=node.hints)


def _traps(inspection: Inspection) -> Iterator[str]:
    for node in inspection.nodes:
        for trap in node.traps:
            yield note(f"trap: {trap.code}, {node.op} '{node.node}'", trap.sentence)


def _placement(inspection: Inspection) -> Iterator[str]:
    gone = inspection.off_device
    for label, provider in gone.items():
        yield note(f"leaves the GPU: '{label}'", f"onnxruntime runs it with {provider}")
    if inspection.device:
        stay = len(inspection.placement) - len(gone)
        where = _DEVICES[inspection.device]
        nodes = _that_can_pad(len(inspection.placement))
        yield f"{stay} of {nodes} on the {where}"


_DEVICES = {"cpu": "CPU", "cuda": "GPU"}


def _that_can_pad(number: int) -> str:
    return counted(number, "operator that can pad", "operators that can pad")


def _summary(inspection: Inspection, hidden: int) -> str:
    counts = inspection.summary
    if not counts["nodes"]:
        return "no operator that can pad"
    do = "does" if counts["padding"] == 1 else "do"
    text = ", ".join(
        [
            f"{counted(counts['nodes'], 'operator')} can pad, {counts['padding']} {do}",
            f"{counts['forms']['auto_pad']} with auto_pad",
            f"{counts['asymmetric']} asymmetric",
            counted(counts["traps"], "trap"),
        ]
    )
    if counts["unknown"]:
        text += f"; the pads of {counts['unknown']} are not known"
    if hidden:
        write = "writes" if hidden == 1 else "write"
        text += f"; {hidden} that {write} no padding not shown (--all)"
    if counts["traps"] or any(counts["forms"].values()):
        text += "; 'onnxpad explain NAME' says more about a trap or a form, and which passes help"
    return text
