"""Parts of a resolution as plain data."""

from __future__ import annotations

from operator import index
from typing import Any

from onnxpad.frameworks import values
from onnxpad.frameworks.steps import numbers, pad_value, spatial_pads, takes_bias
from onnxpad.padding.expansion import Step


def step_record(step: Step) -> dict[str, Any]:
    """One ONNX node as plain data."""
    match step.op_type:
        case "Pad":
            mode, pads = dict(step.attributes)["mode"], list(spatial_pads(step).flat)
            more = {"value": pad_value(step)} if mode == "constant" else {}
            return {"op": "Pad", "mode": mode, "pads": pads, **more}
        case "Slice":
            starts, ends = numbers(step, "starts"), numbers(step, "ends")
            return {"op": "Slice", "starts": list(starts), "ends": list(ends)}
        case "Mul":
            return {"op": "Mul", "factor": numbers(step, "factor")[0]}
        case "Add":
            return {"op": "Add", "adds": "bias"}
        case op:
            return {"op": op, **dict(step.attributes), "takes_bias": takes_bias(step)}


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
