"""A Pad node of any opset as a PadStep."""

from __future__ import annotations

import math
from dataclasses import replace

from onnxpad.chain import PadStep
from onnxpad.fills import Constant, Fill, TensorValue
from onnxpad.graph.reading.attributes import Unbound
from onnxpad.graph.reading.checking import LARGEST
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.placing import placed, unclear

_FIRST_WITH_INPUTS = 11


def read_pad(context: Context, node: Node, rank: int | None) -> PadStep:
    """What a Pad node does over all axes of its input (ONNX Pad-1 to Pad-25, com.microsoft.Pad).

    `rank` counts all axes; None takes it from the number of pads. `unclear` is set where the
    pads are not constant or do not fit the rank.
    """
    attributes = context.attributes(node)
    mode = attributes.get("mode", "constant")
    by_attribute = node.domain in ("", "ai.onnx") and context.scope.opset < _FIRST_WITH_INPUTS
    if isinstance(mode, Unbound):
        return unclear(rank, f"the Pad's mode is the function's attribute '{mode.name}'")
    if by_attribute:
        flat = attributes.get("pads", attributes.get("paddings"))
        fill: Fill = Constant(float(attributes.get("value", 0.0)))  # type: ignore[arg-type]
        if not isinstance(flat, tuple):
            return unclear(rank, "the Pad has no pads")
        numbers: tuple[int, ...] | None = tuple(int(pad) for pad in flat)
        axes = None
    else:
        numbers = constant_integers(context, _input(node, 1))
        axes = constant_integers(context, _input(node, 3)) if _input(node, 3) else None
        fill = _value(context, node)
        if numbers is None:
            computed = context.scope.producers.get(_input(node, 1)) is not None
            step = unclear(rank, _why_not_constant(context, _input(node, 1)), str(mode))
            return replace(step, fill=fill, still_fused=computed)
        if _input(node, 3) and axes is None:
            return unclear(rank, "the Pad's axes are not constant", str(mode))
    return placed(numbers or (), axes, rank, fill, str(mode))


def constant_integers(context: Context, name: str) -> tuple[int, ...] | None:
    """A constant tensor of integers as a flat tuple, or None."""
    if not name:
        return None
    array = context.constant(name)
    if array is None or array.dtype.kind not in "iu":
        return None
    numbers = tuple(int(value) for value in array.reshape(-1))
    return None if any(abs(number) > LARGEST for number in numbers) else numbers


def _value(context: Context, node: Node) -> Fill:
    name = _input(node, 2)
    if not name:
        return Constant(0)
    array = context.constant(name)
    if array is None or array.size != 1 or array.dtype.kind not in "fiu":
        return TensorValue(name)
    value = array.reshape(-1)[0].item()
    return TensorValue(name) if isinstance(value, float) and math.isnan(value) else Constant(value)


def _why_not_constant(context: Context, name: str) -> str:
    producer = context.scope.producers.get(name)
    if name in context.document.overridable:
        return f"the Pad's pads '{name}' are an initializer that an input of the model can replace"
    if producer is None:
        return f"the Pad's pads '{name}' are not constant"
    return f"the Pad's pads are computed while the model runs (by {producer.op_type})"


def _input(node: Node, position: int) -> str:
    return node.inputs[position] if len(node.inputs) > position else ""
