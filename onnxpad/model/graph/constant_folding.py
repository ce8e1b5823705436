"""Small constants that a model computes: the pads arithmetic of exporters.

TorchScript writes the pads of ZeroPad2d as ConstantOfShape, Concat, Reshape, Slice, Transpose,
Reshape, Cast; others take sizes from Shape. The operators follow the ONNX text for small tensors
of numbers, some cells of which may be open (open_cells.py); whatever is missing here stays unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any, TypeAlias

import numpy as np
from onnx import NodeProto, helper, numpy_helper

from onnxpad.geometry.cuts import cells_of_cut
from onnxpad.model.graph.attributes import read_attributes
from onnxpad.model.graph.open_cells import (
    MOST_OPEN,
    ON_CELLS,
    Array,
    by_cells,
    cell_as,
    is_open,
    joint_shape,
    opened,
    settled,
)

Values: TypeAlias = Sequence[Array | None]
LARGEST = 4096
"""Cells of a tensor whose value is followed; pads and shapes have a few, the largest tables of
sizes in use a few hundred."""


def applied(name: str, inputs: Sequence[Array]) -> Array | None:
    """What an elementwise operator gives; None where that is not known.

    Raises ZeroDivisionError where integers are divided by 0.
    """
    if name in _VARIADIC and len(inputs) != 2:
        result: Array | None = inputs[0]
        for other in inputs[1:]:
            result = result if result is None else applied(name, (result, other))
        return result
    with np.errstate(all="ignore"):
        if not any(map(is_open, inputs)):
            return np.asarray(_ELEMENTARY[name](*inputs))
        on_cells = ON_CELLS.get(name)
        return None if on_cells is None else by_cells(on_cells, _ELEMENTARY[name], inputs)


def _divide(first: Array, second: Array) -> Array:
    if first.dtype.kind == "f":
        return np.asarray(first / second)
    _refuse_zero(second)
    quotient = np.abs(first) // np.abs(second)  # ONNX truncates integers towards zero
    return np.asarray(quotient * np.sign(first) * np.sign(second), first.dtype)


def _modulo(first: Array, second: Array) -> Array:
    _refuse_zero(second)
    return np.asarray(np.mod(first, second))


def _refuse_zero(divisor: Array) -> None:
    if not np.all(divisor):
        raise ZeroDivisionError


_VARIADIC = ("Sum", "Max", "Min")
_ELEMENTARY: dict[str, Callable[..., Array]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": _divide,
    "Mod": _modulo,
    "Sum": np.add,
    "Max": np.maximum,
    "Min": np.minimum,
    "Neg": np.negative,
    "Abs": np.abs,
    "Sign": np.sign,
    "Floor": np.floor,
    "Ceil": np.ceil,
    "Round": np.rint,
    "Less": np.less,
    "Greater": np.greater,
    "LessOrEqual": np.less_equal,
    "GreaterOrEqual": np.greater_equal,
    "Equal": np.equal,
    "Not": np.logical_not,
    "And": np.logical_and,
    "Or": np.logical_or,
    "Xor": np.logical_xor,
    "Where": np.where,
}


@dataclass(frozen=True, eq=False)
class _Call:
    """A node and the values of its inputs, None for one that is left out."""

    node: NodeProto
    inputs: Values

    def attribute(self, name: str, default: int = 0) -> Any:  # noqa: ANN401
        """A number, or a list of them."""
        return read_attributes(self.node).get(name, default)

    def required(self, name: str) -> Any:  # noqa: ANN401
        """The same; KeyError where it is not written."""
        return read_attributes(self.node)[name]

    def __getitem__(self, place: int) -> Array:
        """An input that must be there; ValueError where it is not."""
        value = self.inputs[place]
        if value is None:
            raise ValueError(place)
        return value

    @property
    def all(self) -> list[Array]:
        """Every input."""
        return [self[place] for place in range(len(self.inputs))]

    def known(self, place: int) -> Array:
        """An input that must be known in all cells."""
        if is_open(self[place]):
            raise ValueError(place)
        return self[place]

    def numbers(self, name: str, place: int, default: Iterable[int] | None = None) -> list[int]:
        """Integers of an attribute, or of the input that took its place."""
        if isinstance(written := self.attribute(name), tuple):
            return list(written)
        if default is not None and (len(self.inputs) <= place or self.inputs[place] is None):
            return list(default)
        return [int(number) for number in self.known(place).reshape(-1)]


def _concat(call: _Call) -> Array | None:
    rows = call.all
    if sum(row.size for row in rows) > LARGEST:
        return None
    rows = list(map(opened, rows)) if any(map(is_open, rows)) else rows
    return np.concatenate(rows, call.required("axis"))  # Concat-1 has a default


def _reshape(call: _Call) -> Array:
    data, shape = call[0], call.numbers("shape", 1)
    if not call.attribute("allowzero"):
        shape = [data.shape[i] if size == 0 else size for i, size in enumerate(shape)]
    return data.reshape(shape)


def _slice(call: _Call) -> Array:
    data, starts, ends = call[0], call.numbers("starts", 1), call.numbers("ends", 2)
    axes = call.numbers("axes", 3, range(len(starts)))
    steps = call.numbers("steps", 4, [1] * len(starts))
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        cells = cells_of_cut(data.shape[axis], start, end, step)
        if cells is None:
            raise ValueError(end)
        data = np.take(data, list(cells), axis)
    return data


def _flatten(call: _Call) -> Array:
    data, axis = call[0], call.attribute("axis", 1)
    return data.reshape(prod(data.shape[: axis + data.ndim if axis < 0 else axis]), -1)


def _squeeze(call: _Call) -> Array:
    axes = call.numbers("axes", 1, ())
    return np.squeeze(call[0], tuple(axes) if axes or len(call.inputs) > 1 else None)


def _gather(call: _Call) -> Array | None:
    data, index = call[0], call.known(1)
    axis = call.attribute("axis") % data.ndim
    if data.size * index.size > LARGEST * max(1, data.shape[axis]):
        return None
    taken = np.take(data, index.reshape(-1), axis)  # a list of places: one alone is no array
    return taken.reshape(data.shape[:axis] + index.shape + data.shape[axis + 1 :])


def _expand(call: _Call) -> Array | None:
    wide = np.broadcast_shapes(call[0].shape, tuple(call.numbers("shape", 1)))
    return np.broadcast_to(call[0], wide) if prod(wide) <= LARGEST else None


def _split(call: _Call) -> list[Array]:
    """Every output of a Split."""
    data, axis, count = call[0], call.attribute("axis"), len(call.node.output)
    longest = -(-data.shape[axis] // count)  # Split-18 lets the last piece be shorter
    alike = [longest] * (count - 1) + [data.shape[axis] - longest * (count - 1)]
    lengths = call.numbers("split", 1, alike)
    if sum(lengths) != data.shape[axis] or min(lengths) < 0:
        raise ValueError(lengths)
    return np.split(data, np.cumsum(lengths)[:-1], axis)


def _scatter(call: _Call) -> Array | None:
    """ScatterND, the later of two updates to one cell held back as the text leaves them open."""
    data, index, updates = call[0], call.known(1), call[2]
    places = [tuple(int(i) for i in row) for row in index.reshape(-1, index.shape[-1])]
    if call.node.attribute or len(set(places)) < len(places):
        return None
    either = is_open(data) or is_open(updates)
    found = opened(data).copy() if either else data.copy()
    rows = (opened(updates) if either else updates).reshape(-1, *data.shape[index.shape[-1] :])
    for cell, row in zip(places, rows, strict=True):
        found[cell] = row
    return found


def _constant_of_shape(call: _Call) -> Array | None:
    shape = tuple(call.numbers("", 0))
    if prod(shape) > LARGEST:
        return None
    for value in call.node.attribute:
        return np.full(shape, numpy_helper.to_array(value.t).reshape(-1)[0])
    return np.zeros(shape, np.float32)


def _as(data: Array, dtype: np.dtype) -> Array | None:
    if dtype.kind == "O":  # texts
        return None
    if is_open(data):
        return by_cells(partial(cell_as, dtype=dtype), lambda one: one.astype(dtype), [data])
    if data.dtype.kind == "f" and dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if not ((data > limits.min) & (data < limits.max)).all():
            return None
    return data.astype(dtype)


def _elementary(name: str, call: _Call) -> Array | None:
    if call.attribute("fmod") or prod(joint_shape(call.all)) > LARGEST:
        return None
    return applied(name, call.all)


def _clip(call: _Call) -> Array | None:
    """Clip-11 and newer, whose bounds are inputs."""
    found: Array | None = call[0]
    if call.node.attribute or any(one is not None and one.size > 1 for one in call.inputs[1:]):
        return None
    for name, bound in zip(("Max", "Min"), call.inputs[1:], strict=False):
        if found is not None and bound is not None:
            found = applied(name, [found, bound])
    return found


def _relu(call: _Call) -> Array | None:
    zero = applied("Sub", [call[0], call[0]]) if is_open(call[0]) else call[0].dtype.type(0)
    return None if zero is None else applied("Max", [call[0], np.asarray(zero)])


_RULES: dict[str, Callable[[_Call], Array | list[Array] | None]] = {
    **{name: partial(_elementary, name) for name in _ELEMENTARY},
    "Cast": lambda call: _as(
        call[0], np.dtype(helper.tensor_dtype_to_np_dtype(call.attribute("to")))
    ),
    "CastLike": lambda call: _as(call[0], call.known(1).dtype),
    "Clip": _clip,
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "Expand": _expand,
    "Flatten": _flatten,
    "Gather": _gather,
    "Identity": lambda call: call[0],
    "Relu": _relu,
    "Reshape": _reshape,
    "ScatterND": _scatter,
    # The operand of Shape is the shape of what it reads.
    "Shape": lambda call: call[0][call.attribute("start") : call.attribute("end", call[0].size)],
    "Size": lambda call: np.asarray(call[0].size, np.int64),
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "Transpose": lambda call: call[0].transpose(call.attribute("perm") or None),
    "Unsqueeze": lambda call: np.expand_dims(call[0], tuple(call.numbers("axes", 1))),
}
FOLDABLE = frozenset(_RULES)


def fold(node: NodeProto, inputs: Values, output: int = 0) -> Array | None:
    """An output of a node with known inputs (None: left out); None if no rule covers it."""
    rule = _RULES.get(node.op_type)
    if rule is None or not inputs or inputs[0] is None:
        return None
    try:
        results = rule(_Call(node, inputs))
        found = (results if isinstance(results, list) else [results])[output]
    except (ValueError, IndexError, KeyError, TypeError, OverflowError, ZeroDivisionError):
        return None
    if found is None:
        return None
    found = settled(found)
    return found if found.size <= (MOST_OPEN if is_open(found) else LARGEST) else None
