"""Which open sizes keep what a model computes from being a number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from onnxpad.geometry.budgets import READ_BACK
from onnxpad.geometry.size import Size, Symbol, show
from onnxpad.model.graph.constant_folding import FOLDABLE, fold
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.open_cells import of_sizes
from onnxpad.padding.chain import Unclear
from onnxpad.padding.effective_pads import numbers_text
from onnxpad.padding.operators import PLAIN_DOMAINS

_PICKS = frozenset({"Gather", "Slice", "Split", "Squeeze"})


def computed(context: Context, name: str, reason: str) -> Unclear:
    """Why numbers are not known that a node computes, and the dimensions that they hang on.

    A batch among other sizes is left out: it is read with the whole shape.
    """
    if name in context.hanging:
        return context.hanging[name]
    sizes = list(_unknown(context, name))
    axes = sorted({where for where in sizes if where}, key=lambda where: where[:2])
    found = Unclear(reason)
    if axes and None not in sizes:
        told = " and ".join(
            f"axis {axis} of '{tensor}' ({_which(size)})" for tensor, axis, size in axes
        )
        rooted = [(a, one) for _, a, one in axes if isinstance(one, Symbol) and one.root]
        inner = [(a, one) for a, one in rooted if a or not one.stated.is_batch] or rooted
        facts = {
            str(one.root): replace(one.stated, is_batch=one.stated.is_batch and not a)
            for a, one in inner
        }
        hint = "give the model's inputs fixed sizes"
        if len(rooted) == len(axes):
            hint = numbers_text(tuple(facts.items()))
        reason = f"{reason}; they are computed from the size of {told}"
        found = Unclear(reason, (hint,), roots=tuple(facts), of_sizes=True)
    context.hanging[name] = found
    return found


def _which(size: Size | None) -> str:
    return "which nothing in the model tells" if size is None else f"'{show(size)}'"


def _maker_of(context: Context, name: str) -> Context | None:
    """The context, this or one around it, in which a node writes the tensor."""
    inside: Context | None = context
    while inside is not None and name not in inside.scope.producers:
        inside = inside.outer
    return inside


def _unknown(context: Context, name: str) -> Iterator[tuple[str, int, Size | None] | None]:
    """Sizes without a number that the arithmetic reads; None for anything else that varies."""
    pending, seen = [(context, name)], set[tuple[str, str]]()
    while pending and len(seen) <= READ_BACK:
        context, name = pending.pop()
        inside = _maker_of(context, name)
        if not name or context.constant(name) is not None:
            continue
        if inside is None:
            yield None
        elif (inside.scope.id, name) not in seen:
            seen.add((inside.scope.id, name))
            maker = inside.scope.producers[name]
            axes = _axes_in(inside, maker, name)
            if maker.domain not in PLAIN_DOMAINS or maker.op_type not in FOLDABLE:
                yield None
            elif axes is not None:
                yield from axes
            else:
                count = 1 if maker.op_type == "CastLike" else None  # of the other it reads the type
                pending += [(inside, read) for read in maker.inputs[:count]]
    if pending:
        yield None


def _axes_in(
    context: Context, maker: Node, name: str
) -> list[tuple[str, int, Size | None] | None] | None:
    """The open axes whose sizes a Shape gives, or a pick from one; None for anything else."""
    is_shape = maker.op_type == "Shape"
    shape = maker if is_shape else context.scope.producers.get(maker.input(0))
    if shape is None or shape.op_type != "Shape" or not (is_shape or maker.op_type in _PICKS):
        return None
    source = shape.inputs[0]
    dims = context.type_of(source).dims
    axes = None if dims is None else fold(shape.proto, [of_sizes(range(len(dims)))])
    if axes is not None and not is_shape:
        others = [context.constant(one) if one else None for one in maker.inputs[1:]]
        if any(name and one is None for name, one in zip(maker.inputs[1:], others, strict=True)):
            return None
        axes = fold(maker.proto, [axes, *others], maker.outputs.index(name))
    if dims is None or axes is None:
        return [None]
    places = [int(axis) for axis in axes.reshape(-1)]
    return [(source, place, dims[place]) for place in places if not isinstance(dims[place], int)]
