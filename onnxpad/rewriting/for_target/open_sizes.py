"""Operators that make, or cut, tensors of sizes that are open until the model runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnxpad.geometry.size import Size
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.shapes.shape_rules import NodeFacts
from onnxpad.runtimes.conditions.companions import (
    COMPUTED_CROP,
    COMPUTED_RESIZE,
    COMPUTED_SPREAD,
    OPEN_RESHAPE,
)

_NO_CELLS = 2
"""Tensors of this rank and less are the numbers of a shape, or what a Flatten makes."""
_SCALES, _SIZES = 2, 3
_SPREADS = {"ConstantOfShape": 0, "Expand": 1}
"""Where the operators that repeat cells read sizes."""


def said_of_open_sizes(context: Context, node: Node) -> Iterator[str]:
    """What is said of a Slice, Resize, Upsample, Reshape, Expand or ConstantOfShape."""
    if node.op_type == "Slice":
        if _cuts_where_computed(context, node):
            yield COMPUTED_CROP[0]
    elif node.op_type in ("Resize", "Upsample"):
        if _resizes_where_computed(context, node):
            yield COMPUTED_RESIZE[0]
    elif _makes_other_sizes(context, node):
        if node.op_type == "Reshape":
            yield OPEN_RESHAPE[0]
        elif _is_computed(context, node, _SPREADS[node.op_type]):
            yield COMPUTED_SPREAD[0]


def _makes_other_sizes(context: Context, node: Node) -> bool:
    """Whether it makes cells of open sizes, and not of those that it reads."""
    read, made = (context.type_of(name).dims for name in (node.inputs[0], node.outputs[0]))
    return _is_open(made) and (read is None or made is None or read[1:] != made[1:])


def _cuts_where_computed(context: Context, node: Node) -> bool:
    """Whether a Slice of cells, not of the numbers of a shape, is cut where the model computes."""
    shape = next((context.type_of(name).dims for name in node.inputs), None)
    return _is_open(shape) and any(_is_computed(context, node, place) for place in (1, 2))


def _resizes_where_computed(context: Context, node: Node) -> bool:
    """Whether cells are resized to open sizes, or by scales, that the model computes."""
    if not _is_open(context.type_of(node.outputs[0]).dims):
        return False
    if _is_computed(context, node, _SIZES):
        listed = NodeFacts(context, node).sizes(_SIZES)
        attributes = context.attributes(node)
        return "axes" in attributes or listed is None or _is_open(listed)
    scales = _SCALES if len(node.inputs) > _SCALES else 1
    return "scales" not in context.attributes(node) and _is_computed(context, node, scales)


def _is_open(shape: Sequence[Size | None] | None) -> bool:
    """Whether a size of cells is open, other than that of the batch."""
    return (
        shape is not None
        and len(shape) > _NO_CELLS
        and any(not isinstance(size, int) for size in shape[1:])
    )


def _is_computed(context: Context, node: Node, place: int) -> bool:
    name = node.inputs[place] if len(node.inputs) > place else ""
    return bool(name) and context.constant(name) is None
