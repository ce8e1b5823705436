"""Arithmetic on arrays of which some cells are not known as numbers.

An open array has the element type object; its cells are numpy numbers, Sums of sizes, or None
where nothing is known. Other arrays are numbers throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import prod
from typing import TypeAlias

import numpy as np

from onnxpad.geometry.size import Size
from onnxpad.geometry.sums import (
    Sum,
    added,
    at_least,
    at_most,
    remainder,
    rounded_down,
    scaled,
    size_of,
    sum_of,
    truncated,
)

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
    if cells and _are_numbers(cells):
        return np.array(cells).reshape(shape)
    array = np.empty(len(cells), object)
    array[:] = cells
    return array.reshape(shape) if cells else np.empty(shape, np.int64)


def _are_numbers(cells: Iterable[Cell]) -> bool:
    return all(issubclass(kind, np.generic) for kind in set(map(type, cells)))


def settled(array: Array) -> Array:
    """The same array, as numbers where none of its cells is open any more."""
    if not is_open(array) or not _are_numbers(cells := array.reshape(-1)):
        return array
    return cells_of(cells, array.shape)


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


def joint_shape(inputs: Sequence[Array]) -> tuple[int, ...]:
    """The shape that inputs broadcast to; ValueError where they do not fit each other."""
    shapes = {one.shape for one in inputs}  # mostly one, which numpy is slow to see
    return shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)


def by_cells(
    operation: Operation, numeric: Callable[..., Array], inputs: Sequence[Array]
) -> Array | None:
    """Apply an operation to each cell of inputs that broadcast; None where they are too large.

    `numeric` is the same for cells that are numbers.
    """
    shape = joint_shape(inputs)
    if prod(shape) > MOST_OPEN:
        return None
    rows = [opened(one) for one in inputs]
    if any(one.shape != shape for one in rows):
        rows = list(np.broadcast_arrays(*rows))
    found: list[Cell] = []
    for cells in zip(*(row.reshape(-1) for row in rows), strict=True):
        if _are_numbers(cells):
            found += list(np.asarray(numeric(*cells)).reshape(1))
        else:
            found.append(tidied(operation(*cells)))
    return cells_of(found, shape)


def tidied(cell: Cell) -> Cell:
    """A sum without sizes is a number."""
    if not isinstance(cell, Sum) or cell.terms:
        return cell
    if cell.real:
        return np.float32(float(cell.offset))
    return np.int64(cell.offset) if cell.offset.denominator == 1 else None


_FINEST = 2**12


def _known(cell: Cell) -> Sum | None:
    """A cell as a sum; a float only where it is a number that floats hold well."""
    if isinstance(cell, Sum) or cell is None:
        return cell
    if isinstance(cell, np.integer):
        return Sum((), Fraction(int(cell)))
    if not isinstance(cell, np.floating) or not np.isfinite(float(cell)):
        return None
    exact = Fraction(float(cell))
    return Sum((), exact, real=True) if exact.denominator <= _FINEST else None


def plus_cells(one: Cell, other: Cell) -> Cell:
    """Add."""
    first, second = _known(one), _known(other)
    return None if first is None or second is None else added(first, second)


def negative_cell(one: Cell) -> Cell:
    """Neg."""
    found = _known(one)
    return None if found is None else scaled(found, -1)


def minus_cells(one: Cell, other: Cell) -> Cell:
    """Sub."""
    return plus_cells(one, negative_cell(other))


def product_cells(one: Cell, other: Cell) -> Cell:
    """Mul, by a number."""
    first, second = _known(one), _known(other)
    if first is None or second is None:
        return None
    if not first.terms:
        first, second = second, first
    return None if second.terms else scaled(first, second.offset)


def quotient_cells(one: Cell, other: Cell) -> Cell:
    """Div by a number: integers are rounded towards 0."""
    first, second = _known(one), _known(other)
    if first is None or second is None or second.terms or not second.offset:
        return None
    if first.real or second.real:
        whole = second.offset.denominator == 1
        return scaled(_real(first), 1 / second.offset) if whole else None
    return truncated(first, int(second.offset))


def modulo_cells(one: Cell, other: Cell) -> Cell:
    """Mod of integers with the sign of the divisor, a positive number."""
    first, second = _known(one), _known(other)
    if first is None or second is None or second.terms or first.real or second.offset <= 0:
        return None
    divisor = int(second.offset)
    if (rest := remainder(first, divisor)) is not None:
        return Sum((), rest)
    share = rounded_down(first, divisor)
    whole = None if share is None else scaled(share, -divisor)
    return None if whole is None else added(first, whole)


def floor_cell(one: Cell) -> Cell:
    """Floor."""
    found = _known(one)
    return None if found is None else rounded_down(found)


def ceil_cell(one: Cell) -> Cell:
    """Ceil."""
    return negative_cell(floor_cell(negative_cell(one)))


def cell_as(one: Cell, dtype: np.dtype) -> Cell:
    """Cast of an open cell: to an integer towards 0, to a float as it is."""
    if (
        not isinstance(one, Sum)
        or dtype.kind not in "if"
        or dtype.itemsize < np.dtype(np.int32).itemsize
    ):
        return None
    if dtype.kind == "f":
        return _real(one)
    return Sum(one.terms, one.offset) if _is_whole(one) else truncated(one)


def _real(one: Sum) -> Sum:
    return Sum(one.terms, one.offset, real=True)


def _is_whole(one: Sum) -> bool:
    return not one.real or remainder(Sum(one.terms, one.offset), 1) == 0


def _is_less(one: Cell, other: Cell) -> bool | None:
    """Whether a cell is below another, where it is the same for all sizes."""
    difference = minus_cells(one, other)
    if not isinstance(difference, Sum):
        return None
    least, most = at_least(difference), at_most(difference)
    if least is not None and least >= 0:
        return False
    return True if most is not None and most < 0 else None


def larger(one: Cell, other: Cell) -> Cell:
    """Max."""
    less = _is_less(one, other)
    return None if less is None else other if less else one


def smaller(one: Cell, other: Cell) -> Cell:
    """Min."""
    less = _is_less(one, other)
    return None if less is None else one if less else other
