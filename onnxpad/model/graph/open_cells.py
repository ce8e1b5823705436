"""Arithmetic on arrays of which some cells are not known as numbers.

An open array has the element type object; its cells are numpy numbers, multiples of a size, or None
where nothing is known. Other arrays are numbers throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import TypeAlias

import numpy as np

from onnxpad.geometry.linear import (
    Linear,
    added,
    linear_of,
    minus,
    never_below,
    remainder,
    rounded_down,
    scaled,
    size_of,
    truncated,
)
from onnxpad.geometry.size import Size

Array: TypeAlias = np.ndarray
Cell: TypeAlias = np.generic | Linear | None
Operation: TypeAlias = Callable[..., Cell]
MOST_OPEN = 64
_FINEST = 2**12


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
    known = (None if size is None else _tidied(linear_of(size)) for size in sizes)
    return cells_of(known, (len(sizes),))


def integers_of(array: Array) -> list[Linear | None]:
    """Integers of an array, None for what is none."""
    known = map(_known, opened(array).reshape(-1))
    return [None if one is None or one.real else one for one in known]


def sizes_of(array: Array) -> tuple[Size | None, ...]:
    """Integers of an array as sizes, None for what is none."""
    return tuple(None if one is None else size_of(one) for one in integers_of(array))


def joint_shape(inputs: Sequence[Array]) -> tuple[int, ...]:
    """The shape that inputs broadcast to; ValueError where they do not fit each other."""
    shapes = {one.shape for one in inputs}  # mostly one, which numpy is slow to see
    return shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)


def by_cells(
    operation: Operation, numeric: Callable[..., Array], inputs: Sequence[Array]
) -> Array | None:
    """Apply an operation to each cell of inputs that broadcast; None where they are too large.

    `numeric` is the same for cells that are numbers. An unknown cell makes the result unknown.
    """
    shape = joint_shape(inputs)
    if prod(shape) > MOST_OPEN:
        return None
    rows = np.broadcast_arrays(*map(opened, inputs))
    found: list[Cell] = []
    for cells in zip(*(row.reshape(-1) for row in rows), strict=True):
        if _are_numbers(cells):
            found += list(np.asarray(numeric(*cells)).reshape(1))
            continue
        known = list(map(_known, cells))
        found.append(None if None in known else _tidied(operation(*known)))
    return cells_of(found, shape)


def _known(cell: Cell) -> Linear | None:
    """A cell as a multiple of a size; a float only where it is a number that floats hold well."""
    if isinstance(cell, Linear) or cell is None:
        return cell
    if not isinstance(cell, np.integer | np.floating) or not np.isfinite(cell):
        return None
    exact, real = Fraction(cell.item()), isinstance(cell, np.floating)
    return None if exact.denominator > _FINEST else Linear((), exact, real)


def _tidied(cell: Cell) -> Cell:
    """A multiple of no size is a number."""
    if not isinstance(cell, Linear) or cell.terms:
        return cell
    if cell.real:
        return np.float32(float(cell.added))
    return np.int64(cell.added) if cell.added.denominator == 1 else None


def _product(one: Linear, other: Linear) -> Linear | None:
    whole, share = (other, one) if other.terms else (one, other)
    return None if share.terms else scaled(whole, share.added)


def _quotient(one: Linear, other: Linear) -> Linear | None:
    """Div by a number: integers are rounded towards 0."""
    if other.terms or not other.added:
        return None
    if not one.real and not other.real:
        return truncated(one, int(other.added))
    whole = other.added.denominator == 1
    return scaled(replace(one, real=True), 1 / other.added) if whole else None


def _modulo(one: Linear, other: Linear) -> Linear | None:
    """Mod of integers with the sign of the divisor, a positive number."""
    if other.terms or one.real or other.real or other.added <= 0:
        return None
    down = rounded_down(one, int(other.added))
    whole = None if down is None else scaled(down, other.added)
    return None if whole is None else minus(one, whole)


def _ceil(one: Linear) -> Linear | None:
    down = rounded_down(-one)
    return None if down is None else -down


def _larger(one: Linear, other: Linear) -> Linear | None:
    """The maximum, where it is the same of both for all sizes."""
    difference = minus(one, other)
    if difference is None:
        return None
    return one if never_below(difference, 0) else other if never_below(-difference, 0) else None


def _smaller(one: Linear, other: Linear) -> Linear | None:
    larger = _larger(one, other)
    return None if larger is None else other if larger is one else one


ON_CELLS: dict[str, Callable[..., Linear | None]] = {
    "Add": added,
    "Sub": minus,
    "Mul": _product,
    "Div": _quotient,
    "Mod": _modulo,
    "Max": _larger,
    "Min": _smaller,
    "Neg": Linear.__neg__,
    "Floor": rounded_down,
    "Ceil": _ceil,
}
"""Operators of ONNX that are known for open cells."""


def cell_as(one: Linear, dtype: np.dtype) -> Linear | None:
    """Cast of an open cell: to an integer towards 0, to a float as it is."""
    if dtype.kind not in "if" or dtype.itemsize < np.dtype(np.int32).itemsize:
        return None
    if dtype.kind == "f":
        return replace(one, real=True)
    is_whole = remainder(one, 1) == 0 or not one.real
    return replace(one, real=False) if is_whole else truncated(one)
