"""Facts about one QuantizeLinear or DequantizeLinear."""

from __future__ import annotations

from onnxpad.chain import Conversion
from onnxpad.expansion import AttributeValue
from onnxpad.fills import Constant, Fill, Implicit, TensorValue
from onnxpad.graph.reading.attributes import Value
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.quantisation import input_of


def conversion_of(context: Context, node: Node) -> Conversion:
    """What it takes to write the node again."""
    attributes: list[tuple[str, AttributeValue]] = []
    for name, value in context.attributes(node).items():
        if isinstance(value, int | float | str):
            attributes.append((name, value))
    return Conversion(
        node.inputs[0],
        context.type_of(node.inputs[0]).dtype,
        node.inputs[1],
        input_of(node, 2),
        tuple(attributes),
        node.domain,
        node.op_type == "QuantizeLinear",
    )


def zero_fill(context: Context, node: Node) -> Fill:
    """The zero point as a number, a tensor or one value per channel."""
    name = input_of(node, 2)
    if not name:
        return Constant(0)
    value = context.constant(name)
    if value is None:
        dims = context.type_of(name).dims
        return TensorValue(name) if dims in ((), (1,)) else Implicit.PER_CHANNEL
    flat = value.reshape(-1)
    if not flat.size or (flat != flat[0]).any():
        return Implicit.PER_CHANNEL
    return Constant(int(flat[0]))


def fits_axis(
    context: Context, node: Node, attributes: dict[str, Value], spatial: slice, rank: int
) -> bool:
    """Whether scale and zero point are the same along the spatial axes."""
    dims = [context.type_of(name).dims for name in node.inputs[1:3] if name]
    if all(shape in ((), (1,)) for shape in dims):
        return True
    axis = attributes.get("axis", 1)
    if not isinstance(axis, int) or not -rank <= axis < rank:
        return False
    return not spatial.start <= axis % rank < spatial.stop
