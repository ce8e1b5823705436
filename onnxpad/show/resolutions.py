"""Resolved layers: axes, ONNX nodes, and which cells the framework's layer reads."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from onnxpad.errors import RequestError, few
from onnxpad.frameworks.choices import Fill, HowKnown, Role
from onnxpad.padding.expansion import Step
from onnxpad.resolving import Resolution, step_record
from onnxpad.resolving.differences import AxisDifference, Difference
from onnxpad.show.document import Card, Document, Picture, Section, Table
from onnxpad.show.pages.drawings import NOT_COUNTED, Drawing, DrawnAxis, Frame, sentence
from onnxpad.show.wording import shape_text, window_text

_SHOWN = 4
_KNOWN = {
    HowKnown.EXECUTED: "",
    HowKnown.READ: "read, not run: ",
    HowKnown.REMEMBERED: "from memory, not checked: ",
}


def resolution_document(found: Resolution, code: tuple[str, str] | None = None) -> Document:
    """The layer's axes, its ONNX nodes, and where the rule is known from.

    `code` is a framework's name and the same layer in its words.
    """
    cards = partial(_cards, layer_drawing(found))
    named, text = ((f"in {code[0]}:",), code[1]) if code else ((), "")
    notes = (*_facts(found), f"known    {_KNOWN[found.evidence]}{found.source}")
    return Document(
        "Layer",
        f"{found.framework} {found.op}",
        _heading(found),
        sections=(
            Section("axes", "Axes", table=_table(found), notes=notes),
            Section("code", "Code", named, code=text),
            Section("drawing", "What its windows read", cards=cards, windows=True),
        ),
    )


def _cards(drawing: Drawing) -> Iterator[Card]:
    from onnxpad.show.pages.figures import legend, window_figure

    figure = (Picture(window_figure(drawing)),)
    yield Card("layer", drawing.op, sentence(drawing), figure, legend(drawing))


def layer_drawing(found: Resolution) -> Drawing:
    """What a layer of a framework reads, or writes where it is transposed."""
    scatters = found.plan.is_transposed
    pads = any(slide.begin or slide.end for slide in found.plan.slides)
    axes = []
    for slide in found.plan.slides:
        axis = DrawnAxis(slide.size, "", slide.kernel, slide.stride, slide.dilation, slide.output)
        pair = (slide.begin, slide.end)
        if scatters:
            written = (slide.size - 1) * slide.stride + slide.span
            axis, pair = axis._replace(cells=written, windows=slide.size), (-pair[0], -pair[1])
        axes.append(axis._replace(pads=(pair,) * pads))
    frames = (Frame(found.framework, _held(found)),) * pads
    return Drawing(f"{found.framework} {found.op}", tuple(axes), frames, scatters)


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
    layers = tuple(
        Section(
            role,
            layer.framework,
            (_heading(layer) * (layer is second),),
            _table(layer),
            tuple(_facts(layer)),
        )
        for role, layer in (("first", first), ("second", second))
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
        over = 0 if found.plan.is_transposed else max(0, slide.reach - max(slide.end, 0))
        window = window_text([slide.kernel], [slide.stride], [slide.dilation])
        pads = f"{slide.begin},{slide.end}"
        rows.append([str(number + 2), str(slide.size), window, pads, str(over), str(slide.output)])
    if all(row[4] == "0" for row in rows):
        for row in (headers, *rows):
            del row[4]
    return Table(tuple(headers), tuple(map(tuple, rows)), "axes")


def _facts(found: Resolution) -> Iterator[str]:
    try:
        yield f"onnx     {' -> '.join(map(step_text, found.steps))}"
    except RequestError as error:
        yield f"onnx     none: {error!s}"
    if found.divisor:
        yield f"divisor  {found.divisor}"
    if found.op.endswith("conv") and found.plan.fill is not Fill.ZEROS:
        yield f"filled   {found.plan.fill}"
    if found.plan.channels is None:
        kernel = ",".join(str(slide.kernel) for slide in found.plan.slides)
        order = "C,M" if found.plan.is_transposed else "M,C"
        yield f"weight   not given: --weight {order},{kernel} says the channels '?'"
    yield padding_text(found)


def padding_text(found: Resolution) -> str:
    """What the framework takes where no padding is given; '' where it is."""
    words = [word for word in found.layer.words if word.role is Role.PADDING]
    if not words or any(name in found.attributes for word in words for name in word.names):
        return ""
    defaults = [f"{word.name}={word.default!r}" for word in words if word.default is not None]
    plain = "the pads above" if any(found.pads) else "none"
    return f"padding  not given: {', '.join(defaults) or plain} by default"


def step_text(step: Step) -> str:
    """One ONNX node as people write it, without what is 1 or 0 anyway."""
    record = step_record(step)
    op = record.pop("op")
    if op in ("Mul", "Add"):
        return f"Mul({record['factor']:g})" if op == "Mul" else "Add(bias)"
    left_out = {"takes_bias"} | {name for name, value in record.items() if _is_plain(name, value)}
    shown = ((name, value) for name, value in record.items() if name not in left_out)
    return f"{op}({', '.join(f'{name}={_value_text(value)}' for name, value in shown)})"


def _is_plain(name: str, value: Any) -> bool:  # noqa: ANN401 - of an attribute
    ones = name in ("strides", "dilations") and set(value) == {1}
    return ones or (name, value) in (("group", 1), ("value", 0.0))


def _value_text(value: object) -> str:
    if isinstance(value, tuple):
        return str(list(value))
    return f"{value:g}" if isinstance(value, float) else repr(value)


def _verdict(difference: Difference) -> Iterator[str]:
    first, second = difference.first, difference.second
    names = f"{first.framework} and {second.framework}"
    if difference.is_none:
        yield f"{names} give the same for every input"
        return
    shared = ""
    if not difference.same_size:
        sizes = ["x".join(map(str, one.output_shape[2:])) for one in (first, second)]
        yield f"{names} give {' and '.join(sizes)} cells"
        shared = " that both have"
    cells = f"{difference.cells} of {difference.total}"
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
    first, second = axis.starts
    starts = f", the first window starts at {first} and {second}" if first != second else ""
    return f"{where}{starts}" if where else "no difference"


def _range(begin: int, end: int) -> str:
    return str(begin) if begin == end else f"{begin} to {end}"
