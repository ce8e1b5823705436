"""A resolution as plain data."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

from onnxpad.errors import RequestError
from onnxpad.frameworks import values
from onnxpad.frameworks.steps import AddBias, PadWith, Scale, SliceStep, Step, Windows
from onnxpad.frameworks.words import Slide

if TYPE_CHECKING:
    from onnxpad.resolving import Resolution


def resolution_record(found: Resolution) -> dict[str, Any]:
    """Every number of a resolution; `nodes` is None where ONNX cannot say it, with `reason`."""
    nodes, reason = None, ""
    try:
        nodes = [step_record(step) for step in found.steps]
    except RequestError as error:
        reason = str(error)
    return {
        "framework": found.framework,
        "op": found.op,
        "input_shape": list(found.input_shape),
        "weight_shape": None if found.weight_shape is None else list(found.weight_shape),
        "attributes": {name: plain(value) for name, value in found.attributes.items()},
        "output_shape": list(found.output_shape),
        "pads": list(found.pads),
        "transposed": found.plan.is_transposed,
        "axes": [_axis(slide) for slide in found.plan.slides],
        "divisor": divisor_text(found),
        "fill": None if found.plan.is_pool else str(found.plan.fill),
        "group": found.plan.group,
        "nodes": nodes,
        "reason": reason,
        "evidence": str(found.evidence),
        "source": found.source,
    }


def divisor_text(found: Resolution) -> str | None:
    """What an average divides by; None for other layers."""
    if found.op != "avg_pool":
        return None
    if found.plan.override is None:
        return str(found.plan.divisor)
    return f"{found.plan.override}: it {found.layer.override}"


def step_record(step: Step) -> dict[str, Any]:
    """One ONNX node as plain data."""
    match step:
        case Windows():
            return {"op": step.op, **step.attributes, "takes_bias": step.takes_bias}
        case PadWith():
            more = {"value": step.value} if step.mode == "constant" else {}
            return {"op": "Pad", "mode": str(step.mode), "pads": list(step.pads.flat), **more}
        case SliceStep():
            return {"op": "Slice", "starts": list(step.starts), "ends": list(step.ends)}
        case Scale():
            return {"op": "Mul", "factor": step.factor}
        case AddBias():
            return {"op": "Add", "adds": "bias"}


def plain(value: object) -> object:
    """A value of an attribute as JSON can hold it."""
    if value is None or isinstance(value, bool | str | float):
        return value
    if values.is_list(value):
        return [plain(item) for item in values.items(value)]
    try:
        return index(value)  # type: ignore[arg-type] # it raises TypeError for what has none
    except TypeError:
        return str(value)


def _axis(slide: Slide) -> dict[str, int]:
    return {
        "size": slide.size,
        "kernel": slide.kernel,
        "stride": slide.stride,
        "dilation": slide.dilation,
        "span": slide.span,
        "begin": slide.begin,
        "end": slide.end,
        "output": slide.output,
    }
