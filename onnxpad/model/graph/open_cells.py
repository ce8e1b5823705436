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


def _are_numbers(cells: Iterable[Cell]) -> bool:
    return all(issubclass(kind, np.generic) for kind in set(map(type, cells)))


def settled(array: Array) -> Array:
    """The same array, as numbers where none of its cells is open any more."""
    cells = list(array.reshape(-1)) if is_open(array) else [None]
    if not _are_numbers(cells):
        return array
    return np.array(cells, None if cells else np.int64).reshape(array.shape)


def opened(array: Array) -> Array:
    """The same array with cells of its own, which may be exchanged for open ones."""
    return array if is_open(array) else _objects(array.reshape(-1)).reshape(array.shape)


def _objects(cells: Iterable[Cell]) -> Array:
    return np.array(list(cells), object)


def of_sizes(sizes: Sequence[Size | None]) -> Array:
    """Sizes as Shape gives them."""
    cells = (None if size is None else _tidied(linear_of(size)) for size in sizes)
    return settled(_objects(cells))


def sizes_of(array: Array) -> tuple[Size | None, ...]:
    """Integers of an array as sizes, None for what is none."""
    cells = map(_known, opened(array).reshape(-1))
    return tuple(None if cell is None or cell.real else size_of(cell) for cell in cells)


def joint_shape(inputs: Sequence[Array]) -> tuple[int, ...]:
    """The shape that inputs broadcast to; ValueError where they do not fit each other."""
    shapes = {one.shape for one in inputs}  # mostly one, which numpy is slow to see
    return shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)


def by_cells(
    operation: Operation, numeric: Callable[..., Array], inputs: Sequence[Array]
) -> Array | None:
    """Broadcast inputs and apply `operation` to open cells, `numeric` to numbers; None if large."""
    if prod(joint_shape(inputs)) > MOST_OPEN:
        return None

    def result(*cells: Cell) -> Cell:
        if _are_numbers(cells):
            number: Cell = np.asarray(numeric(*cells)).reshape(1)[0]
            return number
        known = list(map(_known, cells))
        return None if None in known else _tidied(operation(*known))

    results = np.frompyfunc(result, len(inputs), 1)(*map(opened, inputs))
    return settled(np.asarray(results, object))


def _known(cell: Cell) -> Linear | None:
    """A cell as a multiple of a size; a float only where it is a number that floats hold well."""
    if isinstance(cell, Linear) or cell is None:
        return cell
    if not isinstance(cell, np.integer | np.floating) or not np.isfinite(cell):
        return None
    exact, real = Fraction(cell.item()), isinstance(cell, np.floating)
    return None if exact.denominator > _FINEST else Linear(None, Fraction(0), exact, real)


def _tidied(cell: Cell) -> Cell:
    """A multiple of no size is a number."""
    if not isinstance(cell, Linear) or cell.atom:
        return cell
    if cell.real:
        return np.float32(float(cell.added))
    return np.int64(cell.added) if cell.added.denominator == 1 else None


def _product(one: Linear, other: Linear) -> Linear | None:
    whole, share = (other, one) if other.atom else (one, other)
    return None if share.atom else scaled(whole, share.added)


def _quotient(one: Linear, other: Linear) -> Linear | None:
    """Div by a number: integers are rounded towards 0."""
    if other.atom or not other.added:
        return None
    if not one.real and not other.real:
        return truncated(one, int(other.added))
    whole = other.added.denominator == 1
    return scaled(replace(one, real=True), 1 / other.added) if whole else None


def _modulo(one: Linear, other: Linear) -> Linear | None:
    """Mod of integers with the sign of the divisor, a positive number."""
    if other.atom or one.real or other.real or other.added <= 0:
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
