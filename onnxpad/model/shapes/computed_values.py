"""What is known of the values of small tensors before a run: numbers, and sizes without one."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from onnx import GraphProto, NodeProto, helper

from onnxpad.geometry.size import Size, Symbol, show
from onnxpad.model.reading.context import Context
from onnxpad.model.reading.nodes import Node
from onnxpad.model.reading.scopes import PLAIN_DOMAINS
from onnxpad.model.shapes.constant_folding import FOLDABLE, fold, shape_of
from onnxpad.model.shapes.open_cells import MOST_OPEN, Array, is_open
from onnxpad.model.shapes.types import dtype_code

if TYPE_CHECKING:
    from onnxpad.model.reading.context import Context


def computed(context: Context, name: str) -> Array | None:
    """The value of a tensor that a node writes, as far as arithmetic on sizes tells it."""
    inside: Context | None = context
    while inside is not None and name not in inside.scope.producers:
        inside = inside.outer
    if inside is None:
        return None
    node = inside.scope.producers[name]
    if node.domain not in PLAIN_DOMAINS:
        return None
    try:
        if node.op_type == "If":
            return _of_branch(inside, node, node.outputs.index(name))
        proto = inside.bound(node)
        if node.op_type not in FOLDABLE or not node.inputs or proto is None:
            return None
        if node.op_type == "Shape":
            return _shape(inside, node, proto)
        inputs = _operands(inside, node)
        if any(name and one is None for name, one in zip(node.inputs, inputs, strict=True)):
            return None
        return fold(proto, inputs, node.outputs.index(name))
    except RecursionError:
        return None


def _shape(context: Context, node: Node, proto: NodeProto) -> Array | None:
    """Sizes of the input's type; of an input whose value is known, those of the value."""
    dims = context.type_of(node.inputs[0]).dims
    if dims is None or None in dims:
        value = context.value(node.inputs[0])
        dims = dims if value is None else value.shape
    return None if dims is None else shape_of(proto, dims)


def valued_inputs(node: Node) -> tuple[str, ...]:
    """Inputs whose values a node reads; of what CastLike is like it reads the type alone."""
    return tuple(node.inputs[: 1 if node.op_type == "CastLike" else None])


def _operands(context: Context, node: Node) -> list[Array | None]:
    """The values of the inputs; None for one that is left out or not known."""
    found = [_operand(context, name) if name else None for name in node.inputs]
    if node.op_type == "CastLike" and len(found) > 1:
        dtype = context.type_of(node.inputs[1]).dtype
        if dtype:  # it is all that a CastLike takes of this input
            found[1] = np.empty(0, helper.tensor_dtype_to_np_dtype(dtype_code(dtype)))
    return found


def _operand(context: Context, name: str) -> Array | None:
    """The value of an input; a small one of which only the shape is known has open cells."""
    value = context.value(name)
    if value is not None:
        return value
    dims = context.type_of(name).dims
    sizes = [size for size in dims or () if isinstance(size, int)]
    if dims is None or len(sizes) < len(dims) or prod(sizes) > MOST_OPEN:
        return None
    return np.full(sizes, None, object)


def _of_branch(context: Context, node: Node, output: int) -> Array | None:
    """What an If gives where its condition is known."""
    body = context.branch(node)
    return None if body is None else body.value(given_by(body, output))


def given_by(body: Context, output: int) -> str:
    """The name of an output of a graph inside a node, '' where it has fewer."""
    proto = body.scope.proto
    known = isinstance(proto, GraphProto) and output < len(proto.output)
    return str(proto.output[output].name) if known else ""


def condition(context: Context, node: Node) -> bool | None:
    """The condition of an If, where it is known."""
    found = context.value(node.inputs[0]) if node.inputs else None
    if found is None or is_open(found) or found.size != 1:
        return None
    return bool(found.reshape(-1)[0])


_EXAMPLE = 640
_PICKS = frozenset({"Gather", "Slice", "Split", "Squeeze", "Unsqueeze", "Reshape", "Identity"})


def why_unknown(context: Context, name: str) -> tuple[str, tuple[str, ...]]:
    """What the numbers of a tensor hang on, and what to try; ('', ()) where that is not a size."""
    sizes = list(_unknown(context, name))
    if not sizes or any(where is None for where in sizes):
        return "", ()
    tensors = list(dict.fromkeys(where[0] for where in sizes if where is not None))
    known = (where for where in sizes if where is not None)
    parts = sorted(known, key=lambda where: (tensors.index(where[0]), where[1]))
    reasons = dict.fromkeys(
        f"axis {axis} of '{tensor}' ({_which(size)})" for tensor, axis, size in parts
    )
    roots = [size.root if isinstance(size, Symbol) else None for _, _, size in parts]
    hint = " ".join(dict.fromkeys(f"--dim '{root}={_EXAMPLE}'" for root in roots))
    hints = (hint,) if all(roots) else ("give the model's inputs fixed sizes",)
    return f"computed from the size of {' and '.join(reasons)}", hints


def _which(size: Size | None) -> str:
    return "which nothing in the model tells" if size is None else f"'{show(size)}'"


def _unknown(context: Context, name: str) -> Iterator[tuple[str, int, Size | None] | None]:
    """Sizes without a number that the arithmetic reads; None for anything else that varies."""
    pending, seen = [(context, name)], set()
    while pending:
        context, name = pending.pop()
        if not name or context.constant(name) is not None:
            continue
        inside: Context | None = context
        while inside is not None and name not in inside.scope.producers:
            inside = inside.outer
        if inside is None:
            yield None
            continue
        maker = inside.scope.producers[name]
        if (inside.scope.id, name) in seen:
            continue
        seen.add((inside.scope.id, name))
        if maker.domain in PLAIN_DOMAINS and maker.op_type == "If":
            pending += _in_branches(inside, maker, maker.outputs.index(name))
        elif maker.domain not in PLAIN_DOMAINS or maker.op_type not in FOLDABLE:
            yield None
        elif (picked := _picked(inside, name)) is not None:
            yield from _sizes(inside, *picked)
        elif maker.op_type == "Shape":
            yield None
        else:
            pending += [(inside, read) for read in valued_inputs(maker)]


def _in_branches(context: Context, node: Node, output: int) -> list[tuple[Context, str]]:
    """What an If hangs on: its condition, and what the branches that may run give."""
    taken = context.branch(node)
    bodies = [context.bodies[key] for key in context.bodies if key[0] == node.key]
    found = [(body, given_by(body, output)) for body in ([taken] if taken else bodies)]
    return [(context, node.inputs[0]), *found]


def _picked(context: Context, name: str) -> tuple[str, np.ndarray] | None:
    """A tensor and those of its axes whose sizes `name` holds; None where it is computed."""
    maker = context.scope.producers.get(name)
    if maker is None or maker.domain not in PLAIN_DOMAINS or not maker.inputs:
        return None
    source, proto = maker.inputs[0], context.bound(maker)
    if proto is None:
        return None
    if maker.op_type == "Shape":
        dims = context.type_of(source).dims
        return None if dims is None else (source, shape_of(proto, list(range(len(dims)))))
    if maker.op_type not in _PICKS:
        return None
    found = _picked(context, source)
    if found is None:
        return None
    others = [context.constant(one) if one else None for one in maker.inputs[1:]]
    if any(name and one is None for name, one in zip(maker.inputs[1:], others, strict=True)):
        return None
    axes = fold(proto, [found[1], *others], maker.outputs.index(name))
    return None if axes is None else (found[0], axes)


def _sizes(
    context: Context, source: str, axes: np.ndarray
) -> Iterator[tuple[str, int, Size | None]]:
    dims = context.type_of(source).dims or ()
    for axis in axes.reshape(-1):
        if not isinstance(dims[int(axis)], int):
            yield source, int(axis), dims[int(axis)]
