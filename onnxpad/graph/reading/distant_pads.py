"""What operators between a Pad and its reader make of pads and value."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from onnxpad.chain import Pads, PadStep
from onnxpad.fills import Constant, Fill, Implicit, TensorValue
from onnxpad.graph.reading.attributes import Value
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.crossing import Path, data_position, facts_of, hands_on
from onnxpad.graph.reading.elementwise import BINARY, is_inference, made_of
from onnxpad.graph.reading.optimised import vanishes
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.pads import constant_integers
from onnxpad.graph.reading.quantisation import dequantised, is_in_blocks, quantised


@dataclass(frozen=True)
class _Carried:
    """Pads and value on the way; the value broadcasts with the tensor, or is a tensor's name."""

    begins: tuple[int, ...]
    ends: tuple[int, ...]
    value: np.ndarray | str

    @property
    def padded(self) -> list[int]:
        sides = zip(self.begins, self.ends, strict=True)
        return [axis for axis, pair in enumerate(sides) if any(pair)]


def seen_behind(context: Context, step: PadStep, path: Path) -> PadStep:
    """A Pad as the operator behind `path` sees it."""
    carried = _start(context, step, path)
    names = tuple(f"{node.op_type} '{node.name or node.outputs[0]}'" for node in path.nodes)
    reason = "" if carried else f"the Pad writes {step.fill}, whose type is not known"
    for node, name in zip(path.nodes, names, strict=True):
        if not isinstance(carried, _Carried):
            break
        carried = _behind(context, node, carried)
        reason = f"what {name} makes of the Pad is not known" if carried is None else ""
    idle = all(vanishes(context, node) for node in path.nodes)
    step = replace(step, crossed=names, is_idle=idle)
    if carried is None or step.unclear:
        return replace(step, unclear=step.unclear or reason)
    return replace(step, pads=Pads(carried.begins, carried.ends), fill=_fill(carried.value))


def _start(context: Context, step: PadStep, path: Path) -> _Carried | None:
    if isinstance(step.fill, TensorValue):
        return _Carried(step.pads.begins, step.pads.ends, step.fill.tensor)
    if not isinstance(step.fill, Constant):
        return None
    dtype = context.type_of(path.source).dtype
    known = dtype in ("float16", "float32", "float64", "bool") or "int" in dtype
    if not known and step.fill.value != 0:
        return None
    if "int" in dtype and not float(step.fill.value).is_integer():
        return None
    value = np.full((1,) * len(step.pads.begins), step.fill.value, dtype if known else "float32")
    return _Carried(step.pads.begins, step.pads.ends, value)


def _fill(value: np.ndarray | str) -> Fill:
    if isinstance(value, str):
        return TensorValue(value)
    first = value.reshape(-1)[0]
    return Constant(first.item()) if (value == first).all() else Implicit.PER_CHANNEL


def _behind(context: Context, node: Node, carried: _Carried) -> _Carried | None:
    attributes = context.attributes(node)
    match node.op_type:
        case "Transpose":
            return _transposed(attributes, carried)
        case "Unsqueeze" | "Squeeze":
            return _reranked(context, node, attributes, carried)
        case "QuantizeLinear" | "DequantizeLinear":
            return _converted(context, node, attributes, carried)
        case "DynamicQuantizeLinear":
            return _scaled(node, carried)
        case _:
            return _computed(context, node, carried)


def _transposed(attributes: dict[str, Value], carried: _Carried) -> _Carried | None:
    rank = len(carried.begins)
    perm = attributes.get("perm", tuple(reversed(range(rank))))
    if not isinstance(perm, tuple) or sorted(perm) != list(range(rank)):
        return None
    order = [int(axis) for axis in perm]
    value = carried.value if isinstance(carried.value, str) else carried.value.transpose(order)
    begins, ends = (tuple(side[axis] for axis in order) for side in (carried.begins, carried.ends))
    return _Carried(begins, ends, value)


def _reranked(
    context: Context, node: Node, attributes: dict[str, Value], carried: _Carried
) -> _Carried | None:
    listed = attributes.get("axes")
    axes = constant_integers(context, node.inputs[1]) if len(node.inputs) > 1 else listed
    if not isinstance(axes, tuple) or not axes:
        return None
    grows = node.op_type == "Unsqueeze"
    rank = len(carried.begins) + (len(axes) if grows else 0)
    places = sorted({int(axis) + rank if axis < 0 else int(axis) for axis in axes})
    if len(places) < len(axes) or not 0 <= places[0] <= places[-1] < rank:
        return None
    if not grows and set(places) & set(carried.padded):
        return None
    sides = []
    for side in (carried.begins, carried.ends):
        cells = list(side)
        for place in places if grows else reversed(places):
            cells[place : place + (not grows)] = [0] if grows else []
        sides.append(tuple(cells))
    value = carried.value
    if not isinstance(value, str):
        value = np.expand_dims(value, places) if grows else value.squeeze(tuple(places))
    return _Carried(sides[0], sides[1], value)


def _converted(
    context: Context, node: Node, attributes: dict[str, Value], carried: _Carried
) -> _Carried | None:
    rank = len(carried.begins)
    if is_in_blocks(attributes):
        return None
    convert = quantised if node.op_type == "QuantizeLinear" else dequantised
    value = convert(context, node, attributes, carried.value, rank)
    if value is None or not (isinstance(value, str) or _is_even(value.shape, carried)):
        return None
    return replace(carried, value=value)


def _scaled(node: Node, carried: _Carried) -> _Carried | None:
    """0 becomes the zero point; the range that sets both holds 0 with the Pad and without it."""
    if isinstance(carried.value, str) or carried.value.any() or not all(node.outputs[2:3]):
        return None
    return replace(carried, value=node.outputs[2]) if len(node.outputs) > 2 else None


def _computed(context: Context, node: Node, carried: _Carried) -> _Carried | None:
    facts, value = facts_of(context, node), carried.value
    if node.op_type == "Dropout" and not is_inference(facts):
        return None
    if isinstance(value, str):
        return carried if hands_on(context, node) else None
    position = data_position(context, node)
    for place, name in enumerate(node.inputs):
        if name and place != position and not _is_even(context.type_of(name).dims, carried):
            return None
    if node.op_type in BINARY:
        if facts.others[0] is None or (node.op_type == "Div" and value.dtype.kind != "f"):
            return None
        facts.others.insert(position, None)
    made = made_of(node.op_type, value, facts)
    return None if made is None else replace(carried, value=made)


def _is_even(dims: tuple[object, ...] | None, carried: _Carried) -> bool:
    """Whether what broadcasts with the tensor is the same all along the padded axes."""
    if dims is None or len(dims) > len(carried.begins):
        return False
    sizes = (1,) * (len(carried.begins) - len(dims)) + dims
    return all(sizes[axis] == 1 for axis in carried.padded)
