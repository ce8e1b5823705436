"""Arithmetic that folding knows: how each operator computes with numbers, and with open cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from onnxpad.graph.reading import cell_rules
from onnxpad.graph.reading.cells import Array, Operation, by_cells, is_open


class Operator(NamedTuple):
    """An elementwise operator: on arrays of numbers, and on cells that may be open."""

    numeric: Callable[..., Array]
    symbolic: Operation | None = None
    variadic: bool = False


def applied(name: str, inputs: Sequence[Array], *, c_modulo: bool = False) -> Array | None:
    """What the operator gives; None where that is not known.

    Raises ZeroDivisionError where integers are divided by 0.
    """
    operator = C_MODULO if c_modulo else ELEMENTARY[name]
    if not operator.variadic:
        return _once(operator, inputs)
    found: Array | None = inputs[0]
    for other in inputs[1:]:
        found = None if found is None else _once(operator, (found, other))
    return found


def _once(operator: Operator, inputs: Sequence[Array]) -> Array | None:
    with np.errstate(all="ignore"):
        if not any(is_open(one) for one in inputs):
            return np.asarray(operator.numeric(*inputs))
        if operator.symbolic is None:
            return None
        return by_cells(operator.symbolic, operator.numeric, inputs)


def _divide(first: Array, second: Array) -> Array:
    if first.dtype.kind == "f":
        return np.asarray(first / second)
    _refuse_zero(second)
    quotient = np.abs(first) // np.abs(second)  # ONNX truncates integers towards zero
    return np.asarray(quotient * np.sign(first) * np.sign(second), first.dtype)


def _modulo(first: Array, second: Array) -> Array:
    _refuse_zero(second)
    return np.asarray(np.mod(first, second))


def _c_modulo(first: Array, second: Array) -> Array:
    if second.dtype.kind != "f":
        _refuse_zero(second)
    return np.asarray(np.fmod(first, second))


def _refuse_zero(divisor: Array) -> None:
    if not np.all(divisor):
        raise ZeroDivisionError


_Table: TypeAlias = dict[str, Operator]
C_MODULO = Operator(_c_modulo, cell_rules.c_modulo_cells)
ELEMENTARY: _Table = {
    "Add": Operator(np.add, cell_rules.plus_cells),
    "Sub": Operator(np.subtract, cell_rules.minus_cells),
    "Mul": Operator(np.multiply, cell_rules.product_cells),
    "Div": Operator(_divide, cell_rules.quotient_cells),
    "Mod": Operator(_modulo, cell_rules.modulo_cells),
    "Sum": Operator(np.add, cell_rules.plus_cells, variadic=True),
    "Max": Operator(np.maximum, cell_rules.larger, variadic=True),
    "Min": Operator(np.minimum, cell_rules.smaller, variadic=True),
    "Neg": Operator(np.negative, cell_rules.negative_cell),
    "Abs": Operator(np.abs, lambda one: cell_rules.larger(one, cell_rules.negative_cell(one))),
    "Sign": Operator(np.sign),
    "Floor": Operator(np.floor, cell_rules.floor_cell),
    "Ceil": Operator(np.ceil, cell_rules.ceil_cell),
    "Round": Operator(np.rint),
    "Less": Operator(np.less, cell_rules.is_less),
    "Greater": Operator(np.greater, lambda one, other: cell_rules.is_less(other, one)),
    "LessOrEqual": Operator(
        np.less_equal, lambda one, other: cell_rules.inverted(cell_rules.is_less(other, one))
    ),
    "GreaterOrEqual": Operator(
        np.greater_equal, lambda one, other: cell_rules.inverted(cell_rules.is_less(one, other))
    ),
    "Equal": Operator(np.equal, cell_rules.is_equal),
    "Not": Operator(np.logical_not, cell_rules.inverted),
    "And": Operator(np.logical_and),
    "Or": Operator(np.logical_or),
    "Xor": Operator(np.logical_xor),
    "Where": Operator(np.where, cell_rules.chosen),
}
