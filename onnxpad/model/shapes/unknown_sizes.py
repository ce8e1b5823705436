"""Which open sizes keep what a model computes from being a number, and where a size gets lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from onnx import NodeProto

from onnxpad.geometry.budgets import READ_BACK
from onnxpad.geometry.size import Size, Symbol, show
from onnxpad.geometry.size_fact import SizeFact
from onnxpad.model.graph.constant_folding import FOLDABLE, fold, shape_of
from onnxpad.model.graph.context import Context, given_by, valued_inputs
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.types import Hanging
from onnxpad.padding.effective_pads import numbers_text
from onnxpad.padding.operators import PLAIN_DOMAINS

_MOST_PICKS = 64
_PICKS = frozenset({"Gather", "Slice", "Split", "Squeeze", "Unsqueeze", "Reshape", "Identity"})


def why_unknown(context: Context, name: str) -> Hanging:
    """What the numbers of a tensor hang on; nothing where that is not a size."""
    sizes = list(_unknown(context, name))
    if not sizes or any(where is None for where in sizes):
        return Hanging()
    tensors = list(dict.fromkeys(where[0] for where in sizes if where is not None))
    known = (where for where in sizes if where is not None)
    parts = sorted(known, key=lambda where: (tensors.index(where[0]), where[1]))
    reasons = dict.fromkeys(
        f"axis {axis} of '{tensor}' ({_which(size)})" for tensor, axis, size in parts
    )
    reason = f"computed from the size of {' and '.join(reasons)}"
    stated = dict(_roots(parts))
    if any(not isinstance(one, Symbol) or not one.root for _, _, one in parts):
        return Hanging(reason, ("give the model's inputs fixed sizes",), tuple(stated))
    return Hanging(reason, (numbers_text(tuple(stated.items())),), tuple(stated))


def _roots(parts: Sequence[tuple[str, int, Size | None]]) -> Iterator[tuple[str, SizeFact]]:
    """The dimensions behind the sizes of these axes, with what is known of them.

    A batch among others is left out: it is read with the whole shape.
    """
    sizes = [(axis, one) for _, axis, one in parts if isinstance(one, Symbol) and one.root]
    inner = [(axis, one) for axis, one in sizes if axis or not one.stated.is_batch]
    for axis, one in inner or sizes:
        assert one.root is not None  # noqa: S101  filtered
        yield one.root, replace(one.stated, is_batch=one.stated.is_batch and not axis)


def lost_at(context: Context, name: str, axis: int) -> str:
    """Where a size of a tensor stops being known: an operator, or an input without a shape."""
    seen = set[tuple[str, str]]()
    while (context.scope.id, name) not in seen:
        seen.add((context.scope.id, name))
        inside = _maker_of(context, name)
        if inside is None:
            return f"input '{name}', which has no shape,"
        maker = inside.scope.producers[name]
        open_ones = [read for read in maker.inputs[:1] if not _tells(inside, read, axis)]
        if not open_ones:
            return f"{maker.op_type} '{maker.name or name}'"
        context, name = inside, open_ones[0]
    return ""


def _tells(context: Context, name: str, axis: int) -> bool:
    dims = context.type_of(name).dims
    return dims is not None and (len(dims) <= axis or dims[axis] is not None)


def _which(size: Size | None) -> str:
    return "which nothing in the model tells" if size is None else f"'{show(size)}'"


def _unknown(context: Context, name: str) -> Iterator[tuple[str, int, Size | None] | None]:
    """Sizes without a number that the arithmetic reads; None for anything else that varies."""
    pending, seen = [(context, name)], set[tuple[str, str]]()
    while pending and len(seen) <= READ_BACK:
        context, name = pending.pop()
        if not name or context.constant(name) is not None:
            continue
        inside = _maker_of(context, name)
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
    if pending:
        yield None


def _maker_of(context: Context, name: str) -> Context | None:
    """The context, this or one around it, in which a node writes the tensor."""
    inside: Context | None = context
    while inside is not None and name not in inside.scope.producers:
        inside = inside.outer
    return inside


def _in_branches(context: Context, node: Node, output: int) -> list[tuple[Context, str]]:
    """What an If hangs on: its condition, and what the branches that may run give."""
    taken = context.branch(node)
    bodies = [context.bodies[key] for key in context.bodies if key[0] == node.key]
    found = [(body, given_by(body, output)) for body in ([taken] if taken else bodies)]
    return [(context, node.inputs[0]), *found]


def _picked(context: Context, name: str) -> tuple[str, np.ndarray] | None:
    """A tensor and those of its axes whose sizes `name` holds; None where it is computed."""
    picks: list[tuple[Node, NodeProto, str]] = []
    while len(picks) < _MOST_PICKS:
        maker = context.scope.producers.get(name)
        if maker is None or maker.domain not in PLAIN_DOMAINS or not maker.inputs:
            return None
        source, proto = maker.inputs[0], maker.proto
        if maker.op_type == "Shape":
            dims = context.type_of(source).dims
            axes = None if dims is None else shape_of(proto, list(range(len(dims))))
            return _picked_from(context, axes, source, picks)
        if maker.op_type not in _PICKS:
            return None
        picks.append((maker, proto, name))
        name = source
    return None


def _picked_from(
    context: Context,
    axes: np.ndarray | None,
    source: str,
    picks: Sequence[tuple[Node, NodeProto, str]],
) -> tuple[str, np.ndarray] | None:
    """What is left of the axes of `source` behind the nodes that pick, the last one first."""
    for maker, proto, name in reversed(picks):
        others = [context.constant(one) if one else None for one in maker.inputs[1:]]
        if any(name and one is None for name, one in zip(maker.inputs[1:], others, strict=True)):
            return None
        axes = None if axes is None else fold(proto, [axes, *others], maker.outputs.index(name))
    return None if axes is None else (source, axes)


def _sizes(
    context: Context, source: str, axes: np.ndarray
) -> Iterator[tuple[str, int, Size | None]]:
    dims = context.type_of(source).dims or ()
    for axis in axes.reshape(-1):
        if not isinstance(dims[int(axis)], int):
            yield source, int(axis), dims[int(axis)]
