"""Arithmetic on arrays of which some cells are not known as numbers.

An open array has the element type object; its cells are numpy numbers, Sums of sizes, or None
where nothing is known. Other arrays are numbers throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np

from onnxpad.geometry.size import Size
from onnxpad.geometry.sums import Sum, size_of, sum_of

Array: TypeAlias = np.ndarray
Cell: TypeAlias = np.generic | Sum | None
Operation: TypeAlias = Callable[..., Cell]
MOST_OPEN = 64


def is_open(array: Array) -> bool:
    """Whether some cells are not known as numbers."""
    return array.dtype == object


def cells_of(found: Iterable[Cell], shape: tuple[int, ...]) -> Array:
    """An array of cells; one of numbers where all of them are."""
    cells = list(found)
    if cells and all(isinstance(cell, np.generic) for cell in cells):
        return np.array(cells).reshape(shape)
    array = np.empty(len(cells), object)
    array[:] = cells
    return array.reshape(shape) if cells else np.empty(shape, np.int64)


def settled(array: Array) -> Array:
    """The same array, as numbers where none of its cells is open any more."""
    return cells_of(array.reshape(-1), array.shape) if is_open(array) else array


def opened(array: Array) -> Array:
    """The same array with cells of its own, which may be exchanged for open ones."""
    if is_open(array):
        return array
    found = np.empty(array.size, object)
    found[:] = list(array.reshape(-1))
    return found.reshape(array.shape)


def of_sizes(sizes: Sequence[Size | None]) -> Array:
    """Sizes as Shape gives them."""
    known = (None if size is None else tidied(sum_of(size)) for size in sizes)
    return cells_of(known, (len(sizes),))


def sizes_of(array: Array) -> tuple[Size | None, ...]:
    """Integers of an array as sizes, None for what is none."""
    return tuple(_size(cell) for cell in opened(array).reshape(-1))


def _size(cell: Cell) -> Size | None:
    if isinstance(cell, Sum):
        return None if cell.real else size_of(cell)
    return int(cell) if isinstance(cell, np.integer) else None


def by_cells(
    operation: Operation, numeric: Callable[..., Array], inputs: Sequence[Array]
) -> Array | None:
    """Apply an operation to each cell of inputs that broadcast; None where they are too large.

    `numeric` is the same for cells that are numbers.
    """
    rows = np.broadcast_arrays(*(opened(one) for one in inputs))
    if rows[0].size > MOST_OPEN:
        return None
    found: list[Cell] = []
    for cells in zip(*(row.reshape(-1) for row in rows), strict=True):
        if all(isinstance(cell, np.generic) for cell in cells):
            found += list(np.asarray(numeric(*cells)).reshape(1))
        else:
            found.append(tidied(operation(*cells)))
    return cells_of(found, rows[0].shape)


def tidied(cell: Cell) -> Cell:
    """A sum without sizes is a number."""
    if not isinstance(cell, Sum) or cell.terms:
        return cell
    if cell.real:
        return np.float32(float(cell.offset))
    return np.int64(cell.offset) if cell.offset.denominator == 1 else None
