"""What OpenCV 5 runs on bytes, between conversions from them and to them, and what it gets wrong.

It puts a DequantizeLinear, an operator and a QuantizeLinear together as one operator on bytes. By
240 models; it asks neither which arithmetic it is, nor whether all bytes are of one type.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.reading.asked import seen_from
from onnxpad.padding.operators import PLAIN_DOMAINS
from onnxpad.padding.surroundings import Neighbour, quantised_at
from onnxpad.runtimes.conditions.companions import BYTES_CHANGED, BYTES_COMPARED, BYTES_JOINED

_BYTES = ("int8", "uint8")
_COMPARES = ("Sub", "Div", "Max", "Min")
_JOINS = ("Add", "Mul", *_COMPARES)
_WEIGHT = {"Conv": 1, "QLinearConv": 3}


def said_of_bytes(context: Context, node: Node) -> Iterator[str]:
    """What is said of a Sigmoid, or of arithmetic of two tensors, between such conversions."""
    kinds = _kinds(context, node) - {""}
    if len(kinds) > 1:
        yield (BYTES_CHANGED if node.op_type == "Sigmoid" else BYTES_JOINED)[0]
    elif kinds and node.op_type in _COMPARES:
        yield BYTES_COMPARED[0]


def runs_on_bytes(context: Context, node: Node) -> bool:
    """Whether it becomes an operator on bytes."""
    if node.domain not in PLAIN_DOMAINS or not node.inputs:
        return False
    if node.op_type == "MaxPool":
        return context.type_of(node.inputs[0]).dtype in _BYTES
    return _convolves(context, node) or bool(_kinds(context, node))


def stops_beside_bytes(context: Context, node: Node) -> bool:
    """Whether a branch that an If may run reads what a node of the main graph computes.

    In a model that has an operator on bytes, wherever that is: by 150 models.
    """
    if node.op_type != "If" or node.domain not in PLAIN_DOMAINS:
        return False
    known = context.branch(node)
    bodies = [body for (key, _), body in context.bodies.items() if key == node.key]
    return any(map(_reads_computed, bodies if known is None else [known]))


def _reads_computed(body: Context) -> bool:
    read = [*body.scope.outputs, *(name for node in body.scope.ordered() for name in node.inputs)]
    return any(_is_of_main(body, name) for name in read) or any(
        _reads_computed(inner) for inner in body.bodies.values()
    )


def _is_of_main(context: Context, name: str) -> bool:
    """Whether a node of the main graph, not this one, makes a tensor that is no constant."""
    inside: Context | None = context
    while inside is not None and not inside.scope.defines(name):
        inside = inside.outer
    maker = None if inside is None else inside.scope.producers.get(name)
    is_main = inside is not None and inside is not context and inside.scope.parent is None
    return is_main and maker is not None and maker.op_type != "Constant"


def _convolves(context: Context, node: Node) -> bool:
    """Whether it is a convolution on bytes: its weight int8 around 0, its pads written evenly."""
    position = _WEIGHT.get(node.op_type)
    if position is None or len(node.inputs) <= position:
        return False
    pads = context.attributes(node).get("pads", ())
    if not isinstance(pads, tuple) or pads[: len(pads) // 2] != pads[len(pads) // 2 :]:
        return False
    if node.op_type == "QLinearConv":
        return _is_signed(context, node.inputs[position : position + 3])
    weight = context.scope.producers.get(node.inputs[position])
    if weight is None or weight.op_type != "DequantizeLinear" or not _is_alone(context, node):
        return False
    return _dequantises(context, node.inputs[0]) and _is_signed(context, weight.inputs)


def _is_signed(context: Context, weight: list[str]) -> bool:
    """By a weight, its scale and its zero point."""
    zero = context.constant(weight[2]) if weight[2:] else None
    return context.type_of(weight[0]).dtype == "int8" and zero is not None and not zero.any()


def _is_alone(context: Context, node: Node) -> bool:
    return quantised_at(seen_from(context), node, alone=True) is not None


def _dequantises(context: Context, name: str, *, once: bool = False) -> bool:
    """Whether a DequantizeLinear with a zero point makes a tensor, that is read `once`."""
    maker = context.scope.producers.get(name)
    if maker is None or maker.op_type != "DequantizeLinear" or not maker.inputs[2:]:
        return False
    return not once or context.scope.uses.get(name, 0) == 1


def _kinds(context: Context, node: Node) -> set[str]:
    """The types of the bytes that a Sigmoid or arithmetic stands between; none for others."""
    wanted = 1 if node.op_type == "Sigmoid" else 2
    if node.op_type not in ("Sigmoid", *_JOINS) or len(node.inputs) != wanted:
        return set()
    if not all(_dequantises(context, name, once=True) for name in node.inputs):
        return set()
    behind = _quantised_behind(context, node)
    if behind is None:
        return set()
    back = {one.op_type for one in context.readers(behind.outputs[0])}
    if node.op_type == "Sigmoid" and "DequantizeLinear" not in back:
        return set()
    bytes_read = [context.scope.producers[name].inputs[0] for name in node.inputs]
    return {context.type_of(name).dtype for name in (*bytes_read, behind.inputs[2])}


def _quantised_behind(context: Context, node: Node) -> Neighbour | None:
    """The QuantizeLinear that alone reads its result, behind arithmetic that of a Relu as well."""
    found = quantised_at(seen_from(context), node, alone=True)
    readers = context.readers(node.outputs[0])
    if found is None and len(readers) == 1 and readers[0].op_type == "Relu":
        is_kept = node.op_type == "Sigmoid" or node.outputs[0] in context.scope.outputs
        return None if is_kept else quantised_at(seen_from(context), readers[0], alone=True)
    return found
