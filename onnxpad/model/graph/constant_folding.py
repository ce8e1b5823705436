"""Small constants that a model computes: the pads arithmetic of exporters.

TorchScript writes the pads of ZeroPad2d as ConstantOfShape, Concat, Reshape, Slice, Transpose,
Reshape, Cast; others take sizes from Shape. The operators follow the ONNX text for small tensors
of numbers, some cells of which may be open (open_cells.py); whatever is missing here stays unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import prod
from typing import TypeAlias

import numpy as np
from onnx import AttributeProto, NodeProto, helper, numpy_helper

from onnxpad.geometry.cuts import cells_of_cut
from onnxpad.geometry.size import Size
from onnxpad.model.graph.open_cells import (
    MOST_OPEN,
    ON_CELLS,
    Array,
    by_cells,
    cell_as,
    is_open,
    joint_shape,
    of_sizes,
    opened,
    settled,
)


def applied(name: str, inputs: Sequence[Array]) -> Array | None:
    """What an elementwise operator gives; None where that is not known.

    Raises ZeroDivisionError where integers are divided by 0.
    """
    first, *others = inputs
    if name in _VARIADIC and len(others) != 1:
        found: Array | None = first
        for other in others:
            found = None if found is None else applied(name, (found, other))
        return found
    with np.errstate(all="ignore"):
        if not any(map(is_open, inputs)):
            return np.asarray(ELEMENTARY[name](*inputs))
        on_cells = ON_CELLS.get(name)
        return None if on_cells is None else by_cells(on_cells, ELEMENTARY[name], inputs)


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
ELEMENTARY: dict[str, Callable[..., Array]] = {
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


Values: TypeAlias = Sequence[Array | None]
Attributes: TypeAlias = dict[str, AttributeProto]
FoldingRule: TypeAlias = Callable[[Attributes, Values], Array | None]
LARGEST = 4096
"""Cells of a tensor whose value is followed; pads and shapes have a few, the largest tables of
sizes in use a few hundred."""


def need(inputs: Values, position: int) -> Array:
    """An input that must be known; ValueError where it is not."""
    value = inputs[position]
    if value is None:
        raise ValueError(position)
    return value


def numbers(inputs: Values, position: int) -> list[int]:
    """Integers at an input, all of which must be known."""
    found = need(inputs, position)
    if is_open(found):
        raise ValueError(position)
    return [int(number) for number in found.reshape(-1)]


def _is_shape(sizes: Iterable[int]) -> bool:
    """Whether these are sizes of a tensor that is small enough; no size is below 0."""
    known = list(sizes)
    return min(known, default=0) >= 0 and prod(known) <= LARGEST


def axes_of(attributes: Attributes, inputs: Values) -> tuple[int, ...]:
    """The attribute axes, or the input of that name; ValueError where it is not known."""
    return tuple(attributes["axes"].ints if "axes" in attributes else numbers(inputs, 1))


def _concat(attributes: Attributes, inputs: Values) -> Array | None:
    rows = [need(inputs, position) for position in range(len(inputs))]
    if sum(row.size for row in rows) > LARGEST:
        return None
    if any(is_open(row) for row in rows):
        rows = [opened(row) for row in rows]
    return np.concatenate(rows, attributes["axis"].i)


def _reshape(attributes: Attributes, inputs: Values) -> Array:
    data = need(inputs, 0)
    shape = list(attributes["shape"].ints) if "shape" in attributes else numbers(inputs, 1)
    if "allowzero" not in attributes or not attributes["allowzero"].i:
        shape = [data.shape[i] if size == 0 else size for i, size in enumerate(shape)]
    return data.reshape(shape)


def _slice(attributes: Attributes, inputs: Values) -> Array:
    data = need(inputs, 0)
    if "starts" in attributes:
        starts, ends = list(attributes["starts"].ints), list(attributes["ends"].ints)
        axes = list(attributes["axes"].ints) if "axes" in attributes else None
        steps = [1] * len(starts)
    else:
        starts, ends = numbers(inputs, 1), numbers(inputs, 2)
        axes = numbers(inputs, 3) if len(inputs) > 3 and inputs[3] is not None else None
        given = numbers(inputs, 4) if len(inputs) > 4 and inputs[4] is not None else None
        steps = given or [1] * len(starts)
    if len(starts) > data.ndim:
        raise ValueError(starts)
    for axis, start, end, step in zip(axes or range(len(starts)), starts, ends, steps, strict=True):
        cells = cells_of_cut(data.shape[axis], start, end, step)
        if cells is None:
            raise ValueError(end)
        data = np.take(data, list(cells), axis)
    return data


def _flatten(attributes: Attributes, inputs: Values) -> Array:
    data = need(inputs, 0)
    axis = attributes["axis"].i if "axis" in attributes else 1
    return data.reshape(prod(data.shape[: axis + data.ndim if axis < 0 else axis]), -1)


def _transpose(attributes: Attributes, inputs: Values) -> Array:
    listed = list(attributes["perm"].ints) if "perm" in attributes else None
    return need(inputs, 0).transpose(listed)


def _unsqueeze(attributes: Attributes, inputs: Values) -> Array:
    return np.expand_dims(need(inputs, 0), axes_of(attributes, inputs))


def _squeeze(attributes: Attributes, inputs: Values) -> Array:
    listed = "axes" in attributes or len(inputs) > 1
    return np.squeeze(need(inputs, 0), axes_of(attributes, inputs) if listed else None)


def _gather(attributes: Attributes, inputs: Values) -> Array | None:
    data, index = need(inputs, 0), need(inputs, 1)
    if is_open(index):
        return None
    axis = (attributes["axis"].i if "axis" in attributes else 0) % data.ndim
    if data.size * index.size > LARGEST * max(1, data.shape[axis]):
        return None
    taken = np.take(data, index.reshape(-1), axis)  # a list of places: one alone is no array
    return taken.reshape(data.shape[:axis] + index.shape + data.shape[axis + 1 :])


def _expand(_: Attributes, inputs: Values) -> Array | None:
    data, shape = need(inputs, 0), tuple(numbers(inputs, 1))
    wide = np.broadcast_shapes(data.shape, shape)
    return np.broadcast_to(data, wide) if _is_shape(wide) else None


def split(attributes: Attributes, inputs: Values, count: int) -> list[Array]:
    """The outputs of a Split that has `count` of them."""
    data = need(inputs, 0)
    axis = attributes["axis"].i if "axis" in attributes else 0
    if "split" in attributes:
        lengths = list(attributes["split"].ints)
    elif len(inputs) > 1:
        lengths = numbers(inputs, 1)
    else:  # Split-18 lets the last piece be shorter
        longest = -(-data.shape[axis] // count)
        lengths = [longest] * (count - 1) + [data.shape[axis] - longest * (count - 1)]
    if sum(lengths) != data.shape[axis] or min(lengths) < 0:
        raise ValueError(lengths)
    return np.split(data, np.cumsum(lengths)[:-1], axis)


def _scatter(attributes: Attributes, inputs: Values) -> Array | None:
    """ScatterND, the later of two updates to one cell held back as the text leaves them open."""
    data, index, updates = need(inputs, 0), need(inputs, 1), need(inputs, 2)
    reduction = attributes["reduction"].s if "reduction" in attributes else b"none"
    indices = [tuple(int(i) for i in row) for row in index.reshape(-1, index.shape[-1])]
    if is_open(index) or reduction != b"none" or len(set(indices)) < len(indices):
        return None
    either = is_open(data) or is_open(updates)
    found = opened(data).copy() if either else data.copy()
    rows = (opened(updates) if either else updates).reshape(-1, *data.shape[index.shape[-1] :])
    for cell, row in zip(indices, rows, strict=True):
        found[cell] = row
    return found


MOVES: dict[str, FoldingRule] = {
    "Concat": _concat,
    "Reshape": _reshape,
    "Slice": _slice,
    "Flatten": _flatten,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Gather": _gather,
    "Expand": _expand,
    "ScatterND": _scatter,
    "Identity": lambda _, inputs: need(inputs, 0),
}


def fold(node: NodeProto, inputs: Values, output: int = 0) -> Array | None:
    """An output of a node with known inputs, or None where there is no rule for it.

    An input that is None is left out.
    """
    rule = _RULES.get(node.op_type)
    if rule is None or not inputs or inputs[0] is None:
        return None
    attributes = {entry.name: entry for entry in node.attribute}
    try:
        if node.op_type == "Split":
            found: Array | None = split(attributes, inputs, len(node.output))[output]
        else:
            found = None if output else rule(attributes, inputs)
    except (ValueError, IndexError, KeyError, TypeError, OverflowError, ZeroDivisionError):
        return None
    if found is None:
        return None
    found = settled(found)
    return found if found.size <= (MOST_OPEN if is_open(found) else LARGEST) else None


def shape_of(node: NodeProto, dims: Sequence[Size | None]) -> Array:
    """The output of Shape for sizes as they are known."""
    marks = {entry.name: entry.i for entry in node.attribute}
    return of_sizes(dims[marks.get("start", 0) : marks.get("end", len(dims))])


def _constant_of_shape(attributes: Attributes, inputs: Values) -> Array | None:
    shape = tuple(numbers(inputs, 0))
    if not _is_shape(shape):
        return None
    value = numpy_helper.to_array(attributes["value"].t) if "value" in attributes else None
    if value is None:
        return np.zeros(shape, np.float32)
    return np.full(shape, value.reshape(-1)[0], value.dtype)


def _cast(attributes: Attributes, inputs: Values) -> Array | None:
    return _as(need(inputs, 0), np.dtype(helper.tensor_dtype_to_np_dtype(attributes["to"].i)))


def _cast_like(_: Attributes, inputs: Values) -> Array | None:
    wanted = need(inputs, 1)
    return None if is_open(wanted) else _as(need(inputs, 0), wanted.dtype)


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


def _elementary(name: str, attributes: Attributes, inputs: Values) -> Array | None:
    values = [need(inputs, position) for position in range(len(inputs))]
    as_in_c = "fmod" in attributes and attributes["fmod"].i
    if as_in_c or prod(joint_shape(values)) > LARGEST:
        return None
    return applied(name, values)


def _clip(attributes: Attributes, inputs: Values) -> Array | None:
    """Clip-11 and newer, whose bounds are inputs."""
    found: Array | None = need(inputs, 0)
    if any(bound is not None and bound.size > 1 for bound in inputs[1:]):
        return None
    for name, bound in zip(("Max", "Min"), inputs[1:], strict=False):
        if found is not None and bound is not None:
            found = applied(name, [found, bound])
    return None if attributes else found


def _relu(_: Attributes, inputs: Values) -> Array | None:
    data = need(inputs, 0)
    zero = applied("Sub", [data, data]) if is_open(data) else np.zeros((), data.dtype)
    return None if zero is None else applied("Max", [data, zero])


_RULES: dict[str, FoldingRule] = {
    "ConstantOfShape": _constant_of_shape,
    "Cast": _cast,
    "CastLike": _cast_like,
    "Split": lambda _, inputs: need(inputs, 0),
    "Size": lambda _, inputs: np.asarray(need(inputs, 0).size, np.int64),
    "Clip": _clip,
    "Relu": _relu,
}
_RULES |= MOVES | {name: partial(_elementary, name) for name in ELEMENTARY}

FOLDABLE = frozenset(_RULES) | {"Shape"}
