"""Resolved layers: axes, ONNX nodes, and which cells the framework's layer reads."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from onnxpad.errors import RequestError, few
from onnxpad.frameworks.choices import Fill, HowKnown, Role
from onnxpad.padding.expansion import Step
from onnxpad.resolving import Resolution, step_record
from onnxpad.resolving.differences import AxisDifference, Difference
from onnxpad.show.document import Card, Document, Picture, Section, Table
from onnxpad.show.pages.drawings import NOT_COUNTED, Drawing, Frame, sentence
from onnxpad.show.wording import pads_text, shape_text, visible, window_text

_SHOWN = 4
_FEW_CHANNELS, _MANY_CHANNELS = 4, 16
_KNOWN = {
    HowKnown.EXECUTED: "",
    HowKnown.READ: "read, not run: ",
    HowKnown.REMEMBERED: "from memory, not checked: ",
}


def resolution_document(found: Resolution, code: tuple[str, str] | None = None) -> Document:
    """The layer's axes, its ONNX nodes, and where the rule is known from.

    `code` is a framework's name and the same layer in its words.
    """
    drawing = layer_drawing(found)
    pasted = (f"in {code[0]}:", *(f"  {line}" for line in code[1].splitlines())) if code else ()
    return Document(
        "Layer",
        drawing.op,
        _heading(found),
        sections=(
            Section("axes", "Axes", table=_table(found), notes=tuple(_facts(found))),
            Section("code", "Code", pasted),
            Section(
                "drawing", "What its windows read", cards=partial(_cards, drawing), windows=True
            ),
        ),
    )


def _cards(drawing: Drawing) -> Iterator[Card]:
    from onnxpad.show.pages.figures import legend, window_figure

    figure = (Picture(window_figure(drawing)),)
    yield Card("layer", drawing.op, visible(sentence(drawing)), figure, legend(drawing))


def layer_drawing(found: Resolution) -> Drawing:
    """What a layer of a framework reads, or writes where it is transposed."""
    slides, scatters = found.plan.slides, found.plan.is_transposed
    sign = -1 if scatters else 1
    begins = tuple(sign * slide.begin for slide in slides)
    ends = tuple(sign * slide.end for slide in slides)
    frame = Frame(begins, ends, _held(found), found.framework)
    cells = [(s.size - 1) * s.stride + s.span if scatters else s.size for s in slides]
    return Drawing(
        f"{found.framework} {found.op}",
        tuple(cells),
        tuple(slide.kernel for slide in slides),
        tuple(slide.stride for slide in slides),
        tuple(slide.dilation for slide in slides),
        (frame,) * any(begins + ends),
        tuple(slide.size if scatters else slide.output for slide in slides),
        scatters,
    )


def _held(found: Resolution) -> str:
    if found.plan.is_transposed:
        return ""
    if not found.plan.is_pool:
        return "0" if found.fill == str(Fill.ZEROS) else str(found.fill)
    if found.divisor is None:
        return "the lowest value"
    counted = all(slide.counted == (slide.begin, slide.end) for slide in found.plan.slides)
    return "0" if counted else NOT_COUNTED


def difference_document(difference: Difference) -> Document:
    """Both layers, and which cells differ."""
    first, second = difference.first, difference.second
    paddings = [padding_text(first), padding_text(second)]
    if paddings[1] and not paddings[0]:
        word = next(word.name for word in second.layer.words if word.role is Role.PADDING)
        paddings[1] += f"; that of {first.framework} is not carried over: "
        paddings[1] += f"--compare '{second.framework} {word}=...'"
    layers = tuple(
        Section(
            role,
            layer.framework,
            (_heading(layer) * (layer is second),),
            _table(layer),
            (*_nodes(layer), _divisor(layer), padding),
        )
        for role, layer, padding in zip(("first", "second"), (first, second), paddings, strict=True)
    )
    verdict = Section("cells", "Cells that differ", tuple(_verdict(difference)))
    return Document("Layers", "", _heading(first), sections=(*layers, verdict))


def _heading(found: Resolution) -> str:
    sizes = f"{shape_text(found.input_shape)} -> {shape_text(found.output_shape)}"
    return f"{found.framework} {found.op} {sizes}"


def _table(found: Resolution) -> Table:
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
    return Table(tuple(headers), tuple(map(tuple, rows)), "axes")


def _facts(found: Resolution) -> Iterator[str]:
    yield from _nodes(found)
    yield _divisor(found)
    if found.op.endswith("conv") and found.plan.fill is not Fill.ZEROS:
        yield f"filled   {found.plan.fill}"
    if found.plan.channels is None:
        kernel = ",".join(str(slide.kernel) for slide in found.plan.slides)
        order = "C,M" if found.plan.is_transposed else "M,C"
        yield f"weight   not given: --weight {order},{kernel} says the channels '?'"
    yield padding_text(found)
    yield _axes_note(found)
    yield f"known    {_KNOWN[found.evidence]}{found.source}"


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


def _verdict(difference: Difference) -> Iterator[str]:
    names = f"{difference.first.framework} and {difference.second.framework}"
    if difference.is_none:
        yield f"{names} give the same for every input"
        return
    if not difference.same_size:
        sizes = [
            "x".join(str(size) for size in found.output_shape[2:])
            for found in (difference.first, difference.second)
        ]
        yield f"{names} give {sizes[0]} and {sizes[1]} cells"
    cells = f"{difference.cells} of {difference.total}"
    shared = "" if difference.same_size else " that both have"
    yield f"{names} differ in {cells} cells of each channel{shared}"
    if difference.cells and not any(axis.ranges for axis in difference.axes):
        yield "  the divisors differ everywhere"
        return
    for number, axis in enumerate(difference.axes):
        yield f"  axis {number + 2}: {_axis(axis, difference)}"


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
