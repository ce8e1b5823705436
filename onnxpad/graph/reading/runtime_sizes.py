"""Sizes that stand between a model's arithmetic and a number."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from onnxpad.geometry.size import Size, Symbol, show
from onnxpad.graph.reading.context import FOLDABLE, Context
from onnxpad.graph.reading.folding import fold, shape_of
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.scopes import PLAIN_DOMAINS

_EXAMPLE = 640


def why_unknown(context: Context, name: str) -> tuple[str, tuple[str, ...]]:
    """What the numbers of a tensor hang on, and what to try; ('', ()) where that is not a size."""
    sizes = list(_unknown(context, name))
    if not sizes or any(where is None for where in sizes):
        return "", ()
    parts = [where for where in sizes if where is not None]
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
    pending, seen = [name], set()
    while pending:
        name = pending.pop()
        if not name or name in seen or context.constant(name) is not None:
            continue
        seen.add(name)
        maker = context.scope.producers.get(name)
        if maker is None or maker.op_type not in FOLDABLE or maker.domain not in PLAIN_DOMAINS:
            yield None
        elif maker.op_type == "Shape":
            yield from _sizes(context, maker, None)
        elif (shape := _shape_behind(context, maker)) is not None:
            yield from _sizes(context, shape, maker)
        else:
            pending += maker.inputs


def _shape_behind(context: Context, node: Node) -> Node | None:
    """The Shape from which a node picks."""
    if node.op_type not in ("Gather", "Slice"):
        return None
    maker = context.scope.producers.get(node.inputs[0])
    return maker if maker is not None and maker.op_type == "Shape" else None


def _sizes(
    context: Context, shape: Node, picked_by: Node | None
) -> Iterator[tuple[str, int, Size | None] | None]:
    source = shape.inputs[0]
    dims = context.type_of(source).dims
    if dims is None:
        yield None
        return
    places = shape_of(shape.proto, list(range(len(dims))))
    if picked_by is not None:
        given = [context.constant(one) if one else None for one in picked_by.inputs[1:]]
        places = fold(picked_by.proto, [places, *given])
    for axis in np.arange(len(dims)) if places is None else places.reshape(-1):
        if not isinstance(dims[int(axis)], int):
            yield source, int(axis), dims[int(axis)]
