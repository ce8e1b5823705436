"""A Pad node of any opset as a PadStep."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from onnxpad.geometry.budgets import AXES
from onnxpad.model.graph.attributes import integers
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.flat_numbers import LARGEST, constant_integers
from onnxpad.model.graph.nodes import Node
from onnxpad.model.shapes.unknown_sizes import computed
from onnxpad.padding.chain import Pads, PadStep, Unclear
from onnxpad.padding.fills import Constant, Fill, TensorValue
from onnxpad.padding.operators import (
    Kind,
    PadInput,
    operator,
    pads_are_attributes,
)

_INPUTS = tuple(PadInput)
_MODES = ("constant", "reflect", "edge", "wrap")
_BUT_VALUE = tuple(place for place in PadInput if place is not PadInput.VALUE)


def is_pad(node: Node) -> bool:
    """Whether a node is a Pad of any domain."""
    if node.op_type != "Pad":
        return False
    op = operator(node.domain, node.op_type)
    return op is not None and op.kind is Kind.PAD


def read_pad(context: Context, node: Node, rank: int | None) -> PadStep:
    """What a Pad node does over all axes of its input (ONNX Pad-1 to Pad-25, com.microsoft.Pad).

    `rank` counts all axes; None takes it from the number of pads. `unclear` is set where the
    pads are not constant or do not fit the rank.
    """
    attributes = context.attributes(node)
    mode = str(attributes.get("mode", "constant"))
    if mode not in _MODES:
        wrong = Unclear(f"the ONNX text knows no mode '{mode}'", illegal=True)
        return replace(_unclear(rank, "", mode), unclear=wrong)
    if pads_are_attributes(node.domain, context.scope.opset):
        flat, value = attributes.get("pads", attributes.get("paddings")), attributes.get("value")
        fill: Fill = Constant(float(value) if isinstance(value, int | float) else 0.0)
        if not isinstance(flat, tuple):
            return _unclear(rank, "the Pad has no pads")
        numbers = tuple(map(int, flat))
        if max(map(abs, numbers), default=0) > LARGEST:
            return _unclear(rank, f"the Pad's pads are {list(flat)}, beyond any real size")
        return _placed(numbers, None, rank, fill, mode)
    name, listed = node.input(PadInput.PADS), node.input(PadInput.AXES)
    known = constant_integers(context, name)
    axes = constant_integers(context, listed) if listed else None
    fill = _value(context, node)
    if known is None:
        step = replace(_unclear(rank, "", mode), unclear=_why_not_constant(context, name))
        return replace(step, fill=fill, computed=(1,) * (name in context.scope.producers))
    if listed and axes is None:
        return replace(_unclear(rank, "the Pad's axes are not constant", mode), fill=fill)
    step = _placed(known, axes, rank, fill, mode)
    value_name = node.input(PadInput.VALUE)
    alone = value_name != "" and context.type_of(value_name).dims == (1,)
    lists = (PadInput.VALUE,) * alone + (PadInput.AXES,) * (axes is not None)
    return replace(step, fill=fill, computed=_computed(context, node, fill), listed=lists)


def _computed(context: Context, node: Node, fill: Fill) -> tuple[int, ...]:
    """Inputs behind the data that the model computes, and whose numbers are known all the same."""
    positions = _INPUTS if isinstance(fill, Constant) else _BUT_VALUE
    named = ((position, node.input(position)) for position in positions)
    return tuple(p for p, name in named if name and context.constant_tensor(name) is None)


def _placed(
    flat: tuple[int, ...], axes: tuple[int, ...] | None, rank: int | None, fill: Fill, mode: str
) -> PadStep:
    count = len(flat) // 2
    if max(count, rank or 0) > AXES.most:
        return _unclear(None, AXES.reason(f"the Pad's input has {rank or count:,}"), mode)
    if axes is None:
        if len(flat) % 2 or (rank is not None and count != rank):
            return _unclear(rank, f"the Pad has {len(flat)} pads for {rank} axes", mode)
        return PadStep(Pads(flat[:count], flat[count:]), fill, mode)
    if len(flat) != 2 * len(axes):
        return _unclear(rank, f"the Pad has {len(flat)} pads for {len(axes)} listed axes", mode)
    if rank is None:
        return _unclear(rank, "the Pad lists axes of an input of unknown rank", mode)
    positive = [axis + rank if axis < 0 else axis for axis in axes]
    if any(not 0 <= axis < rank for axis in positive) or len(set(positive)) < len(positive):
        return _unclear(rank, f"the Pad's axes {list(axes)} do not fit {rank} axes", mode)
    begins, ends = [0] * rank, [0] * rank
    for index, axis in enumerate(positive):
        begins[axis], ends[axis] = flat[index], flat[count + index]
    return PadStep(Pads(tuple(begins), tuple(ends)), fill, mode)


def _value(context: Context, node: Node) -> Fill:
    name = node.input(PadInput.VALUE)
    if not name:
        return Constant(0)
    array = context.constant(name)
    if array is None or array.size != 1 or not _is_numeric(array):
        return TensorValue(name)
    value = array.reshape(-1)[0].item()
    return TensorValue(name) if isinstance(value, float) and math.isnan(value) else Constant(value)


def feeds_channels_last(context: Context, node: Node, far: int = 8) -> bool:
    """Whether a reader of what a Pad writes has its channels on the last axis.

    Pads behind it pass that on, and Concats, which may hold cells that a Pad wrote once; `far`
    bounds how many.
    """
    for reader in context.readers(node.outputs[0]) if node.outputs else ():
        passes_on = reader.op_type in ("Concat", "Pad") and far > 0
        if passes_on and feeds_channels_last(context, reader, far - 1):
            return True
        perm = integers(context.attributes(reader), "perm")
        to_front = (0, len(perm) - 1, *range(1, len(perm) - 1))
        if reader.op_type == "Transpose" and len(perm) > 2 and perm == to_front:
            return True
    return False


def _is_numeric(array: np.ndarray) -> bool:
    return array.dtype.kind in "fiub" or array.dtype.name == "bfloat16"


def _why_not_constant(context: Context, name: str) -> Unclear:
    if (value := context.constant(name)) is not None and value.dtype.kind in "iu":
        return Unclear(f"the Pad's pads are {value.reshape(-1).tolist()}, beyond any real size")
    if value is not None:
        return Unclear(f"the Pad's pads '{name}' are no integers")
    producer = context.scope.producers.get(name)
    if name in context.document.overridable:
        replaceable = "are an initializer that an input of the model can replace"
        return Unclear(f"the Pad's pads '{name}' {replaceable}")
    if producer is None:
        return Unclear(f"the Pad's pads '{name}' are not constant")
    reason = f"the Pad's pads are computed while the model runs (by {producer.op_type})"
    return computed(context, name, reason)


def _unclear(rank: int | None, reason: str, mode: str = "constant") -> PadStep:
    return PadStep(Pads.zero(rank or 0), Constant(0), mode, unclear=Unclear(reason))
