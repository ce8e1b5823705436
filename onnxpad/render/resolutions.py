"""Resolved layers as tables and sentences."""

from __future__ import annotations

from onnxpad.errors import RequestError
from onnxpad.layers.words import Evidence, Fill
from onnxpad.render.tables import Terminal, table
from onnxpad.render.wording import pads_text, paragraph, shape_text, visible, window_text
from onnxpad.resolving import Resolution
from onnxpad.resolving.differences import AxisDifference, Difference
from onnxpad.resolving.records import divisor_text

_SHOWN = 4
_KNOWN = {
    Evidence.EXECUTED: "",
    Evidence.READ: "read, not run: ",
    Evidence.REMEMBERED: "from memory, not checked: ",
}


def resolution_text(
    found: Resolution, terminal: Terminal | None = None, *, code: tuple[str, str] | None = None
) -> str:
    """The layer's axes, its ONNX nodes, and where the rule is known from.

    `code` is a framework's name and the same layer in its words.
    """
    parts = [_heading(found), _table(found, terminal), _facts(found)]
    if code is not None:
        parts.append(f"in {code[0]}:\n{_indented(code[1])}")
    return "\n\n".join(part for part in parts if part) + "\n"


def difference_text(difference: Difference, terminal: Terminal | None = None) -> str:
    """Both layers, and which cells differ."""
    both = [difference.first, difference.second]
    blocks = [
        paragraph([_heading(found), _table(found, terminal), *_nodes(found), _divisor(found)])
        for found in both
    ]
    return "\n\n".join([*blocks, _verdict(difference)]) + "\n"


def _heading(found: Resolution) -> str:
    return visible(
        f"{found.framework} {found.op} {shape_text(found.input_shape)} -> "
        f"{shape_text(found.output_shape)}"
    )


def _table(found: Resolution, terminal: Terminal | None) -> str:
    verb = "cropped" if found.plan.is_transposed else "pads"
    headers = ["axis", "input", "window", verb, "reaches over", "output"]
    rows = []
    for number, slide in enumerate(found.plan.slides):
        over = max(0, slide.reach - max(slide.end, 0))
        rows.append(
            [
                str(number + 2),
                str(slide.size),
                window_text([slide.kernel], [slide.stride], [slide.dilation]),
                pads_text([slide.begin, slide.end]),
                str(over) if over and not found.plan.is_transposed else "",
                str(slide.output),
            ]
        )
    if not any(row[4] for row in rows):
        headers.pop(4)
        for row in rows:
            row.pop(4)
    return table(headers, rows, terminal)


def _facts(found: Resolution) -> str:
    lines = list(_nodes(found))
    if divisor := _divisor(found):
        lines.append(divisor)
    if found.op.endswith("conv") and found.plan.fill is not Fill.ZEROS:
        lines.append(f"filled   {found.plan.fill}")
    if found.plan.channels is None:
        kernel = ",".join(str(slide.kernel) for slide in found.plan.slides)
        order = "C,M" if found.plan.is_transposed else "M,C"
        lines.append(f"weight   not given: --weight {order},{kernel} says the channels '?'")
    lines.append(f"known    {_KNOWN[found.evidence]}{found.source}")
    return visible_lines(lines)


def _divisor(found: Resolution) -> str:
    divisor = divisor_text(found)
    return f"divisor  {divisor}" if divisor else ""


def _nodes(found: Resolution) -> list[str]:
    try:
        return [f"onnx     {' -> '.join(str(step) for step in found.steps)}"]
    except RequestError as error:
        return [f"onnx     none: {error}"]


def _verdict(difference: Difference) -> str:
    names = f"{difference.first.framework} and {difference.second.framework}"
    if difference.is_none:
        return f"{names} give the same for every input"
    lines = []
    if not difference.same_size:
        sizes = [
            "x".join(str(size) for size in found.output_shape[2:])
            for found in (difference.first, difference.second)
        ]
        lines.append(f"{names} give {sizes[0]} and {sizes[1]} cells")
    cells = f"{difference.cells} of {difference.total}"
    shared = "" if difference.same_size else " that both have"
    lines.append(f"{names} differ in {cells} cells of each channel{shared}")
    if difference.cells and not any(axis.ranges for axis in difference.axes):
        return paragraph([*lines, "  the divisors differ everywhere"])
    lines += [f"  axis {number + 2}: {_axis(axis)}" for number, axis in enumerate(difference.axes)]
    return paragraph(lines)


def _axis(axis: AxisDifference) -> str:
    if not axis.ranges:
        return "no difference"
    where = ", ".join(
        str(begin) if begin == end else f"{begin} to {end}" for begin, end in axis.ranges[:_SHOWN]
    )
    more = f" and {len(axis.ranges) - _SHOWN} more" if len(axis.ranges) > _SHOWN else ""
    moved = axis.starts[0] != axis.starts[1]
    starts = f", the first window starts at {axis.starts[0]} and {axis.starts[1]}" if moved else ""
    return f"{where}{more}{starts}"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def visible_lines(lines: list[str]) -> str:
    """Lines, each without control characters."""
    return "\n".join(visible(line) for line in lines)
