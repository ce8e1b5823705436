"""Sizes behind a Pad node whose pads are not all known as numbers."""

from __future__ import annotations

from collections.abc import Sequence

from onnxpad.geometry.size import Size
from onnxpad.geometry.sums import Sum, size_of, sum_of
from onnxpad.graph.reading.cell_rules import plus_cells
from onnxpad.graph.reading.cells import Cell, opened
from onnxpad.graph.reading.checking import LARGEST
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.pads import constant_integers


def sizes_behind(
    context: Context, node: Node, dims: Sequence[Size | None]
) -> tuple[Size | None, ...]:
    """Sizes of all axes of what the Pad writes; None where they hang on what is not known.

    Axes that the Pad does not list keep their size, and so do those that it pads by 0 for sure.
    """
    places = _places(context, node, len(dims))
    if places is None:
        return (None,) * len(dims)
    found = list(dims)
    value = context.value(node.inputs[1])
    flat: list[Cell] = [None] * (2 * len(places))
    if value is not None and value.size == len(flat):
        flat = list(opened(value).reshape(-1))
    for index, place in enumerate(places):
        found[place] = _padded(dims[place], flat[index], flat[len(places) + index])
    return tuple(found)


def _places(context: Context, node: Node, rank: int) -> list[int] | None:
    """The axes that the Pad pads, where they are known."""
    if len(node.inputs) < 2 or not node.inputs[1]:
        return None
    if len(node.inputs) < 4 or not node.inputs[3]:
        return list(range(rank))
    axes = constant_integers(context, node.inputs[3])
    if axes is None or any(not -rank <= axis < rank for axis in axes):
        return None
    places = [axis % rank for axis in axes]
    return places if len(set(places)) == len(places) else None


def _padded(size: Size | None, begin: Cell, end: Cell) -> Size | None:
    if size is None:
        return None
    amount = plus_cells(begin, end)
    total = plus_cells(sum_of(size), amount)
    found = size_of(total) if isinstance(total, Sum) and not total.real else None
    return None if isinstance(found, int) and not 0 <= found <= LARGEST else found
