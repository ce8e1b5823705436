"""Resolved layers: axes and ONNX nodes."""

from __future__ import annotations

from collections.abc import Iterator

from onnxpad.errors import RequestError, few
from onnxpad.frameworks.choices import Fill, HowKnown, Role
from onnxpad.padding.expansion import Step
from onnxpad.resolving import Resolution, step_record
from onnxpad.resolving.differences import Difference
from onnxpad.show.document import Document, Section, Table
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
    named, text = ((f"in {code[0]}:",), code[1]) if code else ((), "")
    notes = (*_facts(found), f"known    {_KNOWN[found.evidence]}{found.source}")
    return Document(
        "Layer",
        f"{found.framework} {found.op}",
        _heading(found),
        sections=(
            Section("axes", "Axes", table=_table(found), notes=notes),
            Section("code", "Code", named, code=text),
        ),
    )


def difference_document(difference: Difference) -> Document:
    """Which cells of two layers differ, then both layers."""
    first, second = difference.first, difference.second
    headline, *axes = _verdict(difference)
    layers = (
        Section(role, layer.framework, (_heading(layer),), _table(layer), tuple(_facts(layer)))
        for role, layer in (("first", first), ("second", second))
    )
    return Document("Layers", "", headline, tuple(axes), tuple(layers))


def _verdict(difference: Difference) -> Iterator[str]:
    first, second = difference.first, difference.second
    names = f"{first.framework} and {second.framework}"
    if difference.is_none:
        yield f"{names} give the same for every input"
        return
    shared = "" if difference.same_size else " that both have"
    cells = f"{difference.cells} of {difference.total}"
    yield f"{names} differ in {cells} cells of each channel{shared}"
    for number, axis in enumerate(difference.axes):
        last = min(axis.outputs) - 1  # cells behind it are in one output alone
        both = [(begin, min(end, last)) for begin, end in axis.ranges if begin <= last]
        ranges = few([f"{begin} to {end}" for begin, end in both], _SHOWN)
        parts = [f"cells {ranges} differ" if ranges else "no cell is read otherwise"]
        for text, (one, other) in (
            ("the first window starts at", axis.starts),
            ("the sizes are", axis.outputs),
        ):
            parts += [f"{text} {one} and {other}"] * (one != other)
        yield f"  axis {number + 2}: {', '.join(parts)}"


def _heading(found: Resolution) -> str:
    sizes = f"{shape_text(found.input_shape)} -> {shape_text(found.output_shape)}"
    return f"{found.framework} {found.op} {sizes}"


def _table(found: Resolution) -> Table:
    """A row for each axis; a last window that hangs over the padding has a column of its own."""
    slides, crops = found.plan.slides, found.plan.is_transposed
    over = [0 if crops else max(0, slide.reach - max(slide.end, 0)) for slide in slides]
    verb = "cropped" if crops else "pads"
    headers = ("axis", "input", "window", verb, *["reaches over"] * any(over), "output")
    rows = tuple(
        (
            str(number + 2),
            str(slide.size),
            window_text([slide.kernel], [slide.stride], [slide.dilation]),
            f"{slide.begin},{slide.end}",
            *[str(over[number])] * any(over),
            str(slide.output),
        )
        for number, slide in enumerate(slides)
    )
    return Table(headers, rows, "axes")


def _facts(found: Resolution) -> Iterator[str]:
    try:
        yield f"onnx     {' -> '.join(map(_step_text, found.steps))}"
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
    words = [word for word in found.layer.words if word.role is Role.PADDING]
    if words and not any(name in found.attributes for word in words for name in word.names):
        defaults = [f"{word.name}={word.default!r}" for word in words if word.default is not None]
        plain = "the pads above" if any(found.pads) else "none"
        yield f"padding  not given: {', '.join(defaults) or plain} by default"


def _step_text(step: Step) -> str:
    """One ONNX node as people write it, without what is 1 or 0 anyway."""
    record = step_record(step)
    op = record.pop("op")
    if op in ("Mul", "Add"):
        return f"Mul({record['factor']:g})" if op == "Mul" else "Add(bias)"
    shown = []
    for name, value in record.items():
        ones = name in ("strides", "dilations") and set(value) == {1}
        if not (ones or name == "takes_bias" or (name, value) in (("group", 1), ("value", 0.0))):
            shown.append(f"{name}={list(value) if isinstance(value, tuple) else repr(value)}")
    return f"{op}({', '.join(shown)})"
