"""Where onnxpad's own rule has the last word on a size, whatever the file or inference says.

onnx 1.23.2 keeps the name of a size that Slice-10 cuts, and rounds Resize and Upsample otherwise
than onnxruntime.
"""

from __future__ import annotations

from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.cut_rules import places
from onnxpad.graph.reading.node_facts import NodeFacts
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.resize_rules import scales_of
from onnxpad.graph.reading.result_types import merge
from onnxpad.graph.reading.scopes import PLAIN_DOMAINS
from onnxpad.graph.reading.types import Type

_SETTLING = ("Slice", "Resize", "Upsample")
_NO_SHAPES = 2
"""Tensors of this rank and more are no shapes, whose values inference follows."""


def is_settled(context: Context, node: Node) -> bool:
    """Whether a Slice, Resize or Upsample reads from constants what it makes of sizes."""
    if node.op_type not in _SETTLING or node.domain not in PLAIN_DOMAINS or not node.inputs:
        return False
    source = context.type_of(node.inputs[0])
    if source.dims is None or len(source.dims) < _NO_SHAPES:
        return False
    facts = NodeFacts(context, node)
    if node.op_type == "Slice":
        return None not in places(facts)
    return bool(scales_of(node.op_type, len(node.inputs), facts))


def joined(context: Context, node: Node, declared: Type, found: Type) -> Type:
    """What is known of a result that a rule found and the file or inference declares.

    Of a settled one, what is declared counts only on axes whose size in front is not known.
    """
    whole = merge(declared, found)
    if not is_settled(context, node) or whole.dims is None or found.dims is None:
        return whole
    source = context.type_of(node.inputs[0]).dims or (None,) * len(whole.dims)
    if len(source) != len(whole.dims):
        return whole
    sides = zip(whole.dims, found.dims, source, strict=True)
    return Type(whole.dtype, tuple(own if read is not None else said for said, own, read in sides))
