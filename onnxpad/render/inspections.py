"""Inspections as tables and notes."""

from __future__ import annotations

from collections.abc import Iterator

from onnxpad.inspection import Inspection, PaddedNode
from onnxpad.render.tables import Terminal, table
from onnxpad.render.wording import (
    counted,
    input_text,
    note,
    pads_text,
    paragraph,
    shape_text,
    window_text,
)

_HEADERS = ("node", "operator", "input", "window", "pads", "written as", "fits")
_CALLS_SHOWN = 2


def inspection_text(inspection: Inspection, terminal: Terminal | None = None) -> str:
    """The table of padded nodes, what is not known, the traps, and a summary."""
    parts = [
        table(_HEADERS, [_row(node) for node in inspection.nodes], terminal),
        paragraph(_unknown(node) for node in inspection.nodes if node.pads is None),
        paragraph(_traps(inspection)),
        _summary(inspection),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _row(node: PaddedNode) -> tuple[str, ...]:
    return (
        _name(node),
        node.op,
        shape_text(node.input_shape),
        window_text(node.kernel, node.strides, node.dilations),
        pads_text(node.pads),
        _written(node),
        ", ".join(node.conventions) or "-",
    )


def _name(node: PaddedNode) -> str:
    if not node.calls:
        return node.node
    more = len(node.calls) - _CALLS_SHOWN
    calls = ", ".join(node.calls[:_CALLS_SHOWN]) + (f" and {more} more" if more > 0 else "")
    return f"{node.node} (called by {calls})"


def _written(node: PaddedNode) -> str:
    if mode := node.written.get("mode"):
        value = f" {node.written['value']}" if "value" in node.written else ""
        words = [f"{mode}{value}", *(form for form in node.forms if form not in (mode, "pad-node"))]
    else:
        words = [
            str(node.written.get(form, "")) or form for form in node.forms if form == "auto_pad"
        ]
        words += [form for form in node.forms if form != "auto_pad"]
    return ", ".join(words) or "no padding"


def _unknown(node: PaddedNode) -> str:
    read = input_text(node.input, node.input_shape, node.kernel, node.strides)
    return note(f"unknown: {node.op} '{node.node}'", node.reason, read=read, hints=node.hints)


def _traps(inspection: Inspection) -> Iterator[str]:
    for node in inspection.nodes:
        for trap in node.traps:
            yield note(f"trap: {trap.code}, {node.op} '{node.node}'", trap.sentence)


def _summary(inspection: Inspection) -> str:
    counts = inspection.summary
    text = ", ".join(
        [
            counted(counts["nodes"], "padded operator"),
            f"{counts['forms']['auto_pad']} with auto_pad",
            f"{counts['asymmetric']} asymmetric",
            counted(counts["traps"], "trap"),
        ]
    )
    if counts["unknown"]:
        text += f"; the pads of {counts['unknown']} are not known"
    if counts["traps"]:
        text += "; 'onnxpad explain NAME' says more about a trap"
    return text
