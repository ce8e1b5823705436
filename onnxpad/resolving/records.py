"""Parts of a resolution as plain data."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

from onnxpad.frameworks import values
from onnxpad.frameworks.steps import AddBias, PadWith, Scale, SliceStep, Step, Windows

if TYPE_CHECKING:
    pass


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


def plain_attribute(value: object) -> object:
    """A value of an attribute as JSON can hold it."""
    if value is None or isinstance(value, bool | str | float):
        return value
    if values.is_list(value):
        return [plain_attribute(item) for item in values.items(value)]
    try:
        return index(value)  # type: ignore[arg-type] # it raises TypeError for what has none
    except TypeError:
        return str(value)
