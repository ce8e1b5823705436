"""Resolved layers as tables and sentences."""

from __future__ import annotations

from onnxpad.errors import RequestError, few
from onnxpad.frameworks.choices import Fill, HowKnown, Role
from onnxpad.padding.expansion import Step
from onnxpad.resolving import Resolution, step_record
from onnxpad.resolving.differences import AxisDifference, Difference
from onnxpad.show.tables import Terminal, table
from onnxpad.show.wording import pads_text, paragraph, shape_text, visible, window_text

_SHOWN = 4
_FEW_CHANNELS, _MANY_CHANNELS = 4, 16
_KNOWN = {
    HowKnown.EXECUTED: "",
    HowKnown.READ: "read, not run: ",
    HowKnown.REMEMBERED: "from memory, not checked: ",
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


def difference_text(difference: Difference, terminal: Terminal | None) -> str:
    """Both layers, and which cells differ."""
    first, second = difference.first, difference.second
    paddings = [padding_text(first), padding_text(second)]
    if paddings[1] and not paddings[0]:
        word = next(word.name for word in second.layer.words if word.role is Role.PADDING)
        paddings[1] += f"; that of {first.framework} is not carried over: "
        paddings[1] += f"--compare '{second.framework} {word}=...'"
    blocks = [
        paragraph(
            [
                _heading(found),
                _table(found, terminal),
                *_nodes(found),
                _divisor(found),
                visible(padding),
            ]
        )
        for found, padding in zip((first, second), paddings, strict=True)
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
    lines += [line for line in (padding_text(found), _axes_note(found)) if line]
    lines.append(f"known    {_KNOWN[found.evidence]}{found.source}")
    return visible_lines(lines)


def _divisor(found: Resolution) -> str:
    divisor = found.divisor
    return f"divisor  {divisor}" if divisor else ""


def padding_text(found: Resolution) -> str:
    """What the framework takes where no padding is given; '' where it is."""
    words = [word for word in found.layer.words if word.role is Role.PADDING]
    if not words or any(name in found.attributes for word in words for name in word.names):
        return ""
    defaults = [f"{word.name}={word.default!r}" for word in words if word.default is not None]
    plain = "the pads above" if any(found.pads) else "none"
    return f"padding  not given: {', '.join(defaults) or plain} by default"


def _axes_note(found: Resolution) -> str:
    """A word on the order of sizes where the last axis looks like the channels of an image."""
    channels, last = found.input_shape[1], found.input_shape[-1]
    if len(found.input_shape) < 4 or last > _FEW_CHANNELS or channels <= _MANY_CHANNELS:
        return ""
    return f"note     sizes are N,C,H,W: {channels} are channels here, and {last} are cells"


def _nodes(found: Resolution) -> list[str]:
    try:
        return [f"onnx     {' -> '.join(map(step_text, found.steps))}"]
    except RequestError as error:
        return [f"onnx     none: {error.told}"]


def step_text(step: Step) -> str:
    """One ONNX node as people write it, without what is 1 or 0 anyway."""
    record = step_record(step)
    op = record.pop("op")
    match op:
        case "Mul":
            return f"Mul({record['factor']:g})"
        case "Add":
            return "Add(bias)"
        case "Pad":
            shown = [f"mode={record['mode']!r}", f"pads={record['pads']}"]
            value = record.get("value", 0.0)
            return f"Pad({', '.join(shown + [f'value={value:g}'] * bool(value))})"
    plain_values = {"strides": {1}, "dilations": {1}}
    shown = [
        f"{name}={list(value) if isinstance(value, tuple) else value}"
        for name, value in record.items()
        if name != "takes_bias"
        and not (name in plain_values and set(value) == plain_values[name])
        and not (name == "group" and value == 1)
    ]
    return f"{op}({', '.join(shown)})"


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
    numbered = enumerate(difference.axes)
    lines += [f"  axis {number + 2}: {_axis(axis, difference)}" for number, axis in numbered]
    return paragraph(lines)


def _axis(axis: AxisDifference, difference: Difference) -> str:
    """Cells that differ, then those that only one of both has."""
    shared, most = min(axis.outputs), max(axis.outputs)
    inside = [(begin, min(end, shared - 1)) for begin, end in axis.ranges if begin < shared]
    where = few([_range(*pair) for pair in inside], _SHOWN)
    if most > shared:
        longer = difference.first if axis.outputs[0] == most else difference.second
        where += f"{', ' if where else ''}{_range(shared, most - 1)} in {longer.framework} only"
    moved = axis.starts[0] != axis.starts[1]
    starts = f", the first window starts at {axis.starts[0]} and {axis.starts[1]}" if moved else ""
    return f"{where}{starts}" if where else "no difference"


def _range(begin: int, end: int) -> str:
    return str(begin) if begin == end else f"{begin} to {end}"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def visible_lines(lines: list[str]) -> str:
    """Lines, each without control characters."""
    return "\n".join(visible(line) for line in lines)
