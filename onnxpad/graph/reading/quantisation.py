"""What QuantizeLinear and DequantizeLinear make of a padded cell."""

from __future__ import annotations

import numpy as np

from onnxpad.graph.reading.attributes import Value
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.ordering import Node


def is_in_blocks(attributes: dict[str, Value]) -> bool:
    """Whether scales hold for blocks of cells."""
    return attributes.get("block_size", 0) != 0


def quantised(
    context: Context, node: Node, attributes: dict[str, Value], value: np.ndarray | str, rank: int
) -> np.ndarray | str | None:
    """What QuantizeLinear makes of a cell, an array that broadcasts with the tensor."""
    if isinstance(value, str):
        return None
    zero = _zero_point(context, node, attributes, rank, "output_dtype")
    if not value.any() or zero is None or isinstance(zero, str):
        return zero if not value.any() else None
    scale = _along(context, node, 1, attributes, rank)
    if scale is None or value.dtype not in (np.float32, np.float64):
        return None
    limits = np.iinfo(zero.dtype)
    with np.errstate(all="ignore"):
        whole = np.rint(value / scale.astype(value.dtype)).astype(np.float64) + zero
    return np.asarray(np.clip(whole, limits.min, limits.max)).astype(zero.dtype)


def dequantised(
    context: Context, node: Node, attributes: dict[str, Value], value: np.ndarray | str, rank: int
) -> np.ndarray | str | None:
    """What DequantizeLinear makes of a cell; 0 where the cell holds the zero point."""
    zero = _zero_point(context, node, attributes, rank, "")
    if isinstance(value, str) or isinstance(zero, str):
        same = isinstance(zero, str) and isinstance(value, str) and zero == value
        return np.zeros((1,) * rank, np.float32) if same else None
    if zero is None:
        return None
    steps = value.astype(np.int64) - zero.astype(np.int64)
    if not steps.any():
        return np.zeros((1,) * rank, np.float32)
    scale = _along(context, node, 1, attributes, rank)
    if scale is None or scale.dtype != np.float32:
        return None
    return np.asarray(steps.astype(np.float32) * scale)


def _zero_point(
    context: Context, node: Node, attributes: dict[str, Value], rank: int, dtype_attribute: str
) -> np.ndarray | str | None:
    """The zero points shaped to broadcast with the tensor, or the name of one that is not known."""
    name = input_of(node, 2)
    if not name:
        dtype = context.type_of(node.outputs[0] if dtype_attribute else node.inputs[0]).dtype
        fallback = "uint8" if dtype_attribute and not attributes.get(dtype_attribute) else ""
        kind = dtype if "int" in dtype else fallback
        return np.zeros((1,) * rank, kind) if kind in _WHOLE else None
    if context.constant_tensor(name) is None:
        return name if context.type_of(name).dims in ((), (1,)) else None
    found = _along(context, node, 2, attributes, rank)
    return found if found is not None and found.dtype.name in _WHOLE else None


_WHOLE = ("int8", "uint8", "int16", "uint16", "int32")


def _along(
    context: Context, node: Node, position: int, attributes: dict[str, Value], rank: int
) -> np.ndarray | None:
    value = context.constant(input_of(node, position)) if input_of(node, position) else None
    if value is None:
        return None
    if value.size == 1:
        return value.reshape((1,) * rank)
    axis = attributes.get("axis", 1)
    if value.ndim != 1 or not isinstance(axis, int) or not -rank <= axis < rank:
        return None
    return value.reshape([-1 if place == axis % rank else 1 for place in range(rank)])


def input_of(node: Node, position: int) -> str:
    """The name of an input, '' where it is left out."""
    return node.inputs[position] if len(node.inputs) > position else ""
