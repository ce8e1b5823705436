"""Operators that work cell by cell, and sums of products."""

import operator
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof.call import Call, Value, lowest, rule
from onnxpad.proof.endings import NoResult, Undecided
from onnxpad.proof.floats import COMPARISONS
from onnxpad.proof.functions import FLOATS
from onnxpad.proof.operators.cell_moves import normal, together
from onnxpad.proof.operators.windowed import centred, power, quantised, root, whole_power
from onnxpad.proof.sized import Size, broadcast, fit, hangs, is_sized, sized

Array = NDArray[Any]


def _truncated(a: Array, b: Array) -> Array:
    """Division of whole numbers, towards zero (Div-14)."""
    if (b == 0).any():
        raise NoResult("a division of whole numbers by 0")
    quotient: Array = np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))
    return quotient


def _divided(a: Array, b: Array) -> Array:
    if a.dtype.kind in "iu":
        return _truncated(a, b)
    with np.errstate(all="ignore"):
        return np.asarray(a / b)


def _mod(a: Array, b: Array) -> Array:
    if (b == 0).any():
        raise NoResult("Mod by 0")
    return np.mod(a, b)


NUMBERS: dict[str, Callable[[Array, Array], Array]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mul": operator.mul,
    "Div": _divided,
    "Mod": _mod,
    "Max": np.maximum,
    "Min": np.minimum,
    "Pow": np.power,
    **COMPARISONS,
}


def _broadcast(call: Call, arrays: list[Array]) -> None:
    try:
        made = np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        broadcast(call.notes, [one.axes for one in call.inputs if one is not None])
        raise NoResult(f"{call.op} of shapes {[array.shape for array in arrays]}") from None
    call.spend(float(np.prod(made, dtype=np.float64)) * len(arrays))


def _of_numbers(call: Call, arrays: list[Array]) -> Value:
    """Of known numbers, in their own type; those that hang on sizes tell how the result does."""
    dtype = np.dtype(bool) if call.op in COMPARISONS else call.need(0).dtype
    if any(map(is_sized, arrays)):
        op = "fmod" if call.get("fmod", 0) else call.op
        if (made := sized(op, call.notes, *arrays)) is not None:
            return Value(made, dtype, known=True)
        arrays = [value.numbers for value in call.inputs if value is not None]
    with np.errstate(over="ignore"):
        made = reduce(np.fmod if call.get("fmod", 0) else NUMBERS[call.op], arrays)
    return Value(np.asarray(made).astype(dtype), dtype, known=True)


@rule(*NUMBERS)
def binary(call: Call) -> list[Value]:
    """Arithmetic with broadcasting; numbers that are known stay numbers, in their own type."""
    arrays, known = together(call, range(len(call.inputs)))
    if call.get("axis") is not None or call.get("broadcast"):
        raise Undecided(f"{call.op} with the broadcasting of opset 6")
    _broadcast(call, arrays)
    dtype = call.need(0).dtype
    if known:
        return [_of_numbers(call, arrays)]
    match call.op:
        case "Add" | "Mul" | "Sub":
            made = getattr(call.d, call.op.lower())(*arrays)
            call.d.learn(call.op, made, *arrays)
            return [call.made(made)]
        case "Max" | "Min":
            return [call.made(extreme(call, arrays, smallest=call.op == "Min"))]
        case "Div" if dtype.kind not in "iu":
            made = call.d.div(*np.broadcast_arrays(*arrays))
            call.d.learn("Div", made, *arrays)
            return [call.made(made)]
        case "Pow":
            return [call.made(_power(call, arrays[0]))]
    made = call.d.function(call.op, {"fmod": call.get("fmod", 0), "type": dtype.str}, *arrays)
    return [call.made(made, np.bool_ if call.op in COMPARISONS else dtype)]


def extreme(call: Call, arrays: list[Array], *, smallest: bool = False) -> Array:
    """Largest or smallest of several, cell by cell."""
    least, floor = lowest(call.need(0).dtype)
    stacked = np.stack(np.broadcast_arrays(*arrays), axis=-1)
    if not smallest:
        return call.d.largest(stacked, least, floor)
    # Negated cells have no floor, and nothing that counts as -inf but -inf itself.
    return call.d.neg(call.d.largest(call.d.neg(stacked), -float("inf")))


def _power(call: Call, x: Array) -> Array:
    """A power whose exponent is one known number."""
    exponent = call.need(1)
    if not exponent.known or exponent.cells.size != 1:
        raise Undecided("Pow with an exponent that is not one known number")
    number = float(exponent.cells.reshape(()))
    if number == int(number) and 1 <= number <= 64:
        return whole_power(call, x, int(number))
    near = Fraction(number).limit_denominator(64)
    if np.asarray(float(near)).astype(exponent.dtype) == exponent.cells.reshape(()):
        call.notes.rounded |= near != Fraction(number)
        if near.numerator == 1 and near > 0:
            return root(call, x, near.denominator)
        return power(call, x, near)
    return power(call, x, Fraction(number))


_PARAMETERS = ("alpha", "beta", "gamma", "lambd", "bias", "approximate")
_OF_NUMBERS: dict[str, Callable[[Array], Array]] = {
    "Abs": np.abs,
    "Ceil": np.ceil,
    "Floor": np.floor,
    "Neg": np.negative,
    "Not": np.logical_not,
    "Relu": lambda x: np.maximum(x, 0),
    "Round": np.rint,
    "Sign": np.sign,
}
"""Of known numbers, which stay numbers."""


@rule(*(op for op in FLOATS if op != "Power"), "Neg", "Not", "Relu")
def function(call: Call) -> list[Value]:
    """A function of one number: arithmetic, a number where that is certain, else a name."""
    value = call.need(0)
    call.spend(value.cells.size)
    if value.known and call.op in _OF_NUMBERS:
        if is_sized(value.cells) and (made := sized(call.op, call.notes, value.cells)) is not None:
            return [call.moved(made)]
        return [call.moved(_OF_NUMBERS[call.op](value.numbers).astype(value.dtype))]
    x = call.cells(0)
    match call.op:
        case "Neg":
            return [call.made(call.d.neg(x))]
        case "Not":
            return [call.made(call.d.sub(np.ones_like(x), x))]
        case "Relu":
            return [call.made(extreme(call, [x, np.zeros_like(x)]))]
        case "Reciprocal":
            return [call.made(call.d.div(np.full_like(x, 1), x))]
    parameters = {name: call.get(name) for name in _PARAMETERS if call.get(name) is not None}
    return [call.made(call.d.function(call.op, parameters, x))]


@rule("Sum", "Mean")
def sum_(call: Call) -> list[Value]:
    """Of any number of tensors."""
    arrays = [call.cells(at) for at in range(len(call.inputs))]
    _broadcast(call, arrays)
    total = reduce(call.d.add, arrays)
    if call.op == "Mean":
        total = call.d.div(total, call.d.embed(np.full(total.shape, len(arrays), np.int64)))
    return [call.made(total)]


@rule("Clip")
def clip(call: Call) -> list[Value]:
    """min(max(x, low), high), one number where both bounds are; attributes before opset 11."""
    value, dtype = call.need(0), call.need(0).dtype
    call.spend(2 * value.cells.size)
    operands = [one for one in call.inputs if one is not None]
    if len(operands) > 1 and all(one.known for one in operands):
        low, high = (one.numbers if one else None for one in map(call.optional, (1, 2)))
        if any(is_sized(one.cells) for one in operands):
            call.notes.breaks("Clip of sizes")
        return [call.moved(np.clip(value.numbers, low, high).astype(dtype))]
    x = call.cells(0)
    bounds = _bound(call, 1, "min"), _bound(call, 2, "max")
    for bound, smallest in zip(bounds, (False, True), strict=True):
        if bound is not None:
            limit = call.embedded(bound).reshape([1] * x.ndim)
            x = extreme(call, [x, limit], smallest=smallest)
    least, most = bounds
    if least and most and least.known and most.known and least.cells.item() == most.cells.item():
        x = np.broadcast_to(limit, x.shape)
    return [call.made(x)]


def _bound(call: Call, index: int, name: str) -> Value | None:
    bound = call.optional(index)
    if bound is not None or name not in call.attributes:
        return bound
    dtype = call.need(0).dtype
    return Value(np.asarray(call.get(name), np.float32).astype(dtype), dtype, known=True)


@rule("PRelu")
def prelu(call: Call) -> list[Value]:
    """A slope for what is negative."""
    x, slope = call.cells(0), call.cells(1)
    _broadcast(call, [x, slope])
    return [call.made(call.d.function("PRelu", {}, x, slope))]


@rule("Cast")
def cast(call: Call) -> list[Value]:
    """Numbers that are known are cast; among floats nothing changes but rounding."""
    from onnx import helper

    value, to = call.need(0), helper.tensor_dtype_to_np_dtype(int(call.get("to")))
    if value.known:
        if is_sized(value.cells) and to in (np.int32, np.int64):
            return [Value(value.cells, to, known=True)]
        if is_sized(value.cells):
            call.notes.breaks(f"sizes become {to}")
        with np.errstate(all="ignore"):
            return [Value(value.numbers.astype(to), to, known=True)]
    wider = value.dtype.kind in "iub" and to.kind in "iuf" and np.can_cast(value.dtype, to)
    exact = value.dtype.kind == "b" or wider or (value.dtype.kind in "iu" and to.kind == "f")
    if value.dtype == to or exact or (_is_float(value.dtype) and _is_float(to)):
        return [call.made(value.cells, to)]
    kinds = {"from": value.dtype.str, "to": to.str}
    return [call.made(call.d.function("Cast", kinds, value.cells), to)]


def _is_float(dtype: np.dtype[Any]) -> bool:
    """Floats of any width, those that numpy itself does not have included."""
    return dtype.kind == "f" or dtype.name == "bfloat16"


@rule("BatchNormalization")
def batch_normalization(call: Call) -> list[Value]:
    """scale (x - mean) / sqrt(var + epsilon) + bias, with numbers that are given."""
    if call.get("training_mode", 0) or call.outputs > 1:
        raise Undecided("BatchNormalization that trains")
    x = call.cells(0)
    shape = (-1, *[1] * (x.ndim - 2))
    scale, bias, mean, variance = (call.cells(at).reshape(shape) for at in range(1, 5))
    epsilon = call.d.embed(np.asarray([call.get("epsilon", 1e-5)], np.float32))
    spread = call.d.function("Sqrt", {}, call.d.add(variance, epsilon.reshape([1] * (x.ndim - 1))))
    call.spend(3 * x.size)
    factor = call.d.div(scale, spread)
    return [call.made(call.d.add(call.d.mul(call.d.sub(x, mean), factor), bias))]


@rule("MatMul", "MatMulInteger", "Gemm")
def matmul(call: Call) -> list[Value]:
    """Sums of products; Gemm scales and adds."""
    if any(hangs(*value.axes) for value in call.inputs if value is not None):
        call.notes.breaks(f"{call.op} sums over an axis")
    if call.op == "MatMulInteger":
        if any(point is not None and point.cells.size > 1 for point in map(call.optional, (2, 3))):
            raise Undecided("MatMulInteger with several zero points")
        a, b = centred(call, 0, 2), centred(call, 1, 3)
    else:
        a, b = call.cells(0), call.cells(1)
    a = a.T if call.get("transA", 0) else a
    b = b.T if call.get("transB", 0) else b
    if min(a.ndim, b.ndim) < 2 or a.shape[-1] != b.shape[-2]:
        raise NoResult(f"{call.op} of shapes {a.shape} and {b.shape}")
    left, right = a[..., :, None, :], np.swapaxes(b, -1, -2)[..., None, :, :]
    try:
        y = call.multiply(left, right)
    except ValueError:
        raise NoResult(f"{call.op} of shapes {a.shape} and {b.shape}") from None
    if call.op == "Gemm":
        y = _scaled(call, y, "alpha")
        added = call.optional(2)
        if added is not None:
            y = call.d.add(y, _scaled(call, call.embedded(added), "beta"))
    return [call.made(y, np.int32 if call.op == "MatMulInteger" else None)]


def _scaled(call: Call, x: Array, name: str) -> Array:
    factor = call.get(name, 1.0)
    if factor == 1.0:
        return x
    return call.d.mul(x, call.d.embed(np.full([1] * x.ndim, factor, np.float32)))


@rule("ReduceMean", "ReduceSum", "ReduceMax", "ReduceL2", "ReduceSumSquare")
def reduced(call: Call) -> list[Value]:
    """Over axes; all of them where none are listed."""
    value = call.need(0)
    axes = call.ints(1, "axes")
    if axes == [] and call.get("noop_with_empty_axes", 0):
        return [value]
    spots = [normal(axis, value.cells.ndim) for axis in axes or range(value.cells.ndim)]
    return [_over(call, sorted(spots), keep=bool(call.get("keepdims", 1)))]


@rule("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(call: Call) -> list[Value]:
    """A pool whose window is all of the axes behind the channels."""
    return [_over(call, list(range(2, call.need(0).cells.ndim)), keep=True)]


def _over(call: Call, spots: list[int], *, keep: bool) -> Value:
    """The mean, sum, maximum or norm over some axes, each of which is kept with size 1, or goes."""
    x = call.cells(0)
    call.spend(2 * x.size)
    call.breaks(f"{call.op} reads an axis as a whole", *spots)
    kept = [size for at, size in enumerate(x.shape) if at not in spots]
    moved = np.moveaxis(x, spots, range(-len(spots), 0)).reshape(*kept, -1)
    if moved.shape[-1] == 0:
        raise NoResult(f"{call.op} of no cell")
    power = {"ReduceL2": 2, "ReduceSumSquare": 2, "GlobalLpPool": int(call.get("p", 2))}
    if call.op in ("ReduceMax", "GlobalMaxPool"):
        y = call.d.largest(moved, *lowest(call.need(0).dtype))
    else:
        p = power.get(call.op, 1)
        odd = call.op == "GlobalLpPool" and p % 2
        y = call.d.total(whole_power(call, call.d.function("Abs", {}, moved) if odd else moved, p))
    if call.op in ("ReduceMean", "GlobalAveragePool"):
        y = call.d.div(y, call.d.embed(np.full(y.shape, moved.shape[-1], np.int64)))
    if call.op in ("ReduceL2", "GlobalLpPool"):
        y = root(call, y, power[call.op])
    if keep:
        y = y.reshape([1 if at in spots else size for at, size in enumerate(x.shape)])
    return call.made(y, None, _less(call, spots, keep=keep))


def _less(call: Call, spots: list[int], *, keep: bool) -> list[Size]:
    """The axes of the first operand without some, or with size 1 there."""
    axes = call.need(0).axes
    return [1 if at in spots else size for at, size in enumerate(axes) if keep or at not in spots]


@rule("ArgMax", "ArgMin")
def place(call: Call) -> list[Value]:
    """Where an axis has its largest or smallest cell: of equal ones the first, or the last."""
    value, x = call.need(0), call.cells(0)
    axis = normal(int(call.get("axis", 0)), x.ndim)
    call.spend(2 * x.size)
    call.breaks(f"{call.op} reads an axis as a whole", axis)
    if x.shape[axis] == 0:
        raise NoResult(f"{call.op} of no cell")
    moved, places = np.moveaxis(x, axis, -1), np.arange(x.shape[axis])
    moved = call.d.neg(moved) if call.op == "ArgMin" else moved
    if call.get("select_last_index", 0):
        moved, places = moved[..., ::-1], places[::-1]
    y = call.d.chosen(moved, places, -float("inf"), floats=value.dtype.kind == "f")
    keep = bool(call.get("keepdims", 1))
    y = np.expand_dims(y, axis) if keep else y
    return [call.made(y, np.int64, _less(call, [axis], keep=keep))]


@rule("QuantizeLinear", "DequantizeLinear")
def quantisation(call: Call) -> list[Value]:
    """round(x / scale) + zero point, saturated; and (q - zero point) scale."""
    x, scale, point = call.cells(0), call.cells(1), call.optional(2)
    if call.get("block_size", 0):
        raise Undecided(f"{call.op} in blocks")
    axis = int(call.get("axis", 1))
    zero = np.zeros_like(x) if point is None else _along(call, call.embedded(point), x, axis)
    scale = _along(call, scale, x, axis)
    call.spend(2 * x.size)
    if call.op == "DequantizeLinear":
        _, floor = lowest(call.need(0).dtype)
        if floor is not None:
            call.d.bound(x, floor)
        less = call.d.sub(x, zero)
        call.d.learn("Sub", less, x, zero)
        made = call.d.mul(less, scale)
        call.d.learn("Mul", made, less, scale)
        return [call.made(made, call.need(1).dtype)]
    dtype = np.dtype(np.uint8) if point is None else point.dtype
    if dtype.kind not in "iu" or call.get("output_dtype", 0):
        raise Undecided(f"QuantizeLinear to {dtype}")
    real = call.d.div(x, np.broadcast_to(scale, x.shape))
    call.d.learn("Div", real, x, scale)
    return [call.made(quantised(call, real, zero, dtype), dtype)]


def _along(call: Call, values: Array, x: Array, axis: int) -> Array:
    """One number, or one for each cell of an axis."""
    if values.size == 1:
        return values.reshape([1] * x.ndim)
    axis = normal(axis, x.ndim)
    for value in call.inputs[1:]:
        if value is not None and len(value.shape) == 1:
            fit(call.notes, [call.need(0).axes[axis], value.axes[0]])
    if values.ndim == 1 and values.size != x.shape[axis]:
        raise NoResult(f"{call.op}: {values.size} scales for {x.shape[axis]} cells of axis {axis}")
    if values.shape != (x.shape[axis],):
        raise Undecided(f"{call.op} with scales of shape {values.shape}")
    return values.reshape(-1, *[1] * (x.ndim - axis - 1))
