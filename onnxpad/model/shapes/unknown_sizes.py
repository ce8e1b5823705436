"""Which open sizes keep what a model computes from being a number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from onnxpad.geometry.budgets import READ_BACK
from onnxpad.geometry.size import Size, Symbol, show
from onnxpad.model.graph.constant_folding import FOLDABLE
from onnxpad.model.graph.context import Context
from onnxpad.padding.chain import Unclear
from onnxpad.padding.effective_pads import numbers_text
from onnxpad.padding.operators import PLAIN_DOMAINS

_OpenAxis = tuple[str, int, Size | None]
"""Tensor, axis, and the size as far as it has a name."""


def computed(context: Context, name: str, reason: str) -> Unclear:
    """Why numbers are not known that a node computes, and the dimensions that they hang on.

    A batch among other sizes is left out: it is read with the whole shape.
    """
    sizes = list(_open_sizes(context, name))
    every = sorted({where for where in sizes if where}, key=lambda where: where[:2])
    if not every or None in sizes:
        return Unclear(reason)
    axes = [one for one in every if not _is_batch(*one)] or every
    told = " and ".join(
        f"axis {axis} of '{tensor}' ({_which(size)})" for tensor, axis, size in axes
    )
    facts = {
        one.root: replace(one.stated, is_batch=one.stated.is_batch and not axis)
        for _, axis, one in axes
        if isinstance(one, Symbol) and one.root
    }
    hint = numbers_text(tuple(facts.items()))
    if any(not isinstance(one, Symbol) or not one.root for *_, one in axes):
        hint = "give the model's inputs fixed sizes"
    reason = f"{reason}; they are computed from the size of {told}"
    return Unclear(reason, (hint,), roots=tuple(facts), of_sizes=True)


def _is_batch(_: str, axis: int, size: Size | None) -> bool:
    return not axis and isinstance(size, Symbol) and size.stated.is_batch


def _which(size: Size | None) -> str:
    return "which nothing in the model tells" if size is None else f"'{show(size)}'"


def _open_sizes(context: Context, name: str) -> Iterator[_OpenAxis | None]:
    """Sizes without a number in shapes that arithmetic reads; None for anything else that varies.

    Arithmetic may take a part of a shape: its other sizes are listed as well.
    """
    pending, seen = [(context, name)], set[tuple[str, str]]()
    while pending and len(seen) <= READ_BACK:
        context, name = pending.pop()
        inside: Context | None = context
        while inside is not None and name not in inside.scope.producers:
            inside = inside.outer
        if not name or context.constant(name) is not None:
            continue
        if inside is None:
            yield None
        elif (inside.scope.id, name) not in seen:
            seen.add((inside.scope.id, name))
            maker = inside.scope.producers[name]
            if maker.domain not in PLAIN_DOMAINS or maker.op_type not in FOLDABLE:
                yield None
            elif maker.op_type == "Shape":
                yield from _open_axes(inside, maker.inputs[0])
            else:
                count = 1 if maker.op_type == "CastLike" else None  # of the other it reads the type
                pending += [(inside, read) for read in maker.inputs[:count]]
    if pending:
        yield None


def _open_axes(context: Context, name: str) -> list[_OpenAxis | None]:
    dims = context.type_of(name).dims
    if dims is None:
        return [None]
    return [(name, axis, size) for axis, size in enumerate(dims) if not isinstance(size, int)]
