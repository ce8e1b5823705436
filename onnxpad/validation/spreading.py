"""How operators between padded ones pass on the rounding of their inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.model.comparing.networks import Operation
from onnxpad.validation.evaluator import Arithmetic, NotEvaluable

Array = NDArray[Any]
Errors = Mapping[str, Array | None]
Run = Callable[[Mapping[str, Array]], dict[str, Array]]

_MOVES = {
    *("Slice", "Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Concat"),
    *("Split", "Gather", "Expand", "Tile", "DepthToSpace", "SpaceToDepth"),
}
# Largest slope of each elementwise function.
_SLOPES = {
    "Relu": 1.0,
    "Clip": 1.0,
    "Abs": 1.0,
    "Neg": 1.0,
    "Tanh": 1.0,
    "Sigmoid": 0.25,
    "Softplus": 1.0,
    "Softsign": 1.0,
    "Sin": 1.0,
    "Cos": 1.0,
    "Erf": 1.13,
    "HardSwish": 1.5,
    "Gelu": 1.13,
    "Mish": 1.09,
}
_EXACT_SLOPES = ("Relu", "Clip", "Abs", "Neg")


def spread_errors(
    operation: Operation,
    operands: Mapping[str, Array],
    errors: Errors,
    results: Mapping[str, Array],
    run: Run,
    arithmetic: Arithmetic,
) -> dict[str, Array | None]:
    """Bounds on the errors of an operation's results (None: exact).

    `operands` and `results` are values by tensor name, `errors` bounds on the operands' errors;
    `run` computes the same operation on other values. Raises NotEvaluable for operators whose
    rounding is not known here, and where an error reaches an operand that may not carry one.
    """
    carried = {name: error for name, error in errors.items() if error is not None}
    kind = operation.op_type
    if kind in _MOVES:
        return _moved(operation, operands, carried, run)
    if not carried and all(result.dtype.kind in "iub" for result in results.values()):
        return dict.fromkeys(results)
    names = [*operation.inputs, ""]
    (name, result), *others = results.items()
    first, second = (carried.get(names[0], 0.0), carried.get(names[1], 0.0))
    if others or set(carried) - set(names[:2]):
        raise NotEvaluable(f"how {operation.label} rounds is not known")
    if kind in ("QuantizeLinear", "DequantizeLinear", "Cast") and names[1] not in carried:
        return {name: _converted(operation, operands, first, result, arithmetic)}
    if kind in _SLOPES and names[1] not in carried:
        bound = _SLOPES[kind] * np.asarray(first)
        exact = kind in _EXACT_SLOPES
        return {name: _filled(bound if exact else bound + 4 * arithmetic.of_store(result), result)}
    sizes = [np.abs(operands[n].astype(np.float64)) for n in names[:2] if n in operands]
    if len(sizes) != 2 or result.dtype.kind == "b":
        raise NotEvaluable(f"how {operation.label} rounds is not known")
    bound = _of_two(operation, sizes, (np.asarray(first), np.asarray(second)))
    return {name: _filled(bound + arithmetic.of_store(result), result)}


def _of_two(operation: Operation, sizes: list[Array], errors: tuple[Array, Array]) -> Array:
    (a, b), (da, db) = sizes, errors
    match operation.op_type:
        case "Add" | "Sub":
            return np.asarray(da + db)
        case "Max" | "Min":
            return np.asarray(np.maximum(da, db))
        case "Mul":
            return np.asarray(a * db + b * da + da * db)
        case "Div" if not np.any(db):
            return np.asarray(da / b)
    raise NotEvaluable(f"how {operation.label} rounds is not known")


def _moved(
    operation: Operation, operands: Mapping[str, Array], carried: Mapping[str, Array], run: Run
) -> dict[str, Array | None]:
    """A copying operator copies errors; the same operator does so."""
    if not carried:
        return {name: None for name in operation.outputs if name}
    data = operation.inputs if operation.op_type == "Concat" else operation.inputs[:1]
    if not set(carried) <= set(data):
        raise NotEvaluable(f"{operation.label}: the operand that says where to copy is not exact")
    if any(name not in operands for name in data if name):
        raise NotEvaluable(f"{operation.label} copies a tensor that is not known")
    feeds = {}
    for name, value in operands.items():
        if name in data:
            error = carried.get(name, np.zeros(value.shape))
            feeds[name] = _upwards(np.asarray(error), value.dtype)
        else:
            feeds[name] = value
    return {name: error.astype(np.float64) for name, error in run(feeds).items()}


def _upwards(error: Array, dtype: np.dtype) -> Array:
    """An error in the type of the data that it is copied like, never smaller than it is."""
    if dtype.kind == "f":
        return np.asarray(np.nextafter(error.astype(dtype), np.inf, dtype=dtype))
    if dtype.kind == "b":
        return np.asarray(error > 0)
    return np.minimum(np.ceil(error), np.iinfo(dtype).max).astype(dtype)


def _converted(
    operation: Operation,
    operands: Mapping[str, Array],
    error: Array | float,
    result: Array,
    arithmetic: Arithmetic,
) -> Array | None:
    """QuantizeLinear jumps by whole steps, DequantizeLinear scales, Cast rounds to its type."""
    if operation.op_type == "Cast":
        if result.dtype.kind != "f":
            if np.any(error):
                raise NotEvaluable(f"{operation.label} cuts off an inexact value")
            return None
        given = operands[operation.inputs[0]].dtype
        if given.itemsize > result.dtype.itemsize:  # near a tie, two values part by a whole step
            step = np.spacing(np.abs(result)).astype(np.float64)
            return _filled(np.where(np.asarray(error) > 0, error + step, 0.0), result)
        store = 0.0 if given == result.dtype else arithmetic.of_store(result)
        return _filled(error + store, result)
    scale = operands[operation.inputs[1]].astype(np.float64)
    if scale.size > 1:
        shape = [1] * result.ndim
        shape[int(operation.attributes.get("axis", 1))] = scale.size
        scale = scale.reshape(shape)
    if operation.op_type == "DequantizeLinear":
        return _filled(error * scale + arithmetic.of_store(result), result)
    if not np.any(error):
        return None
    steps = np.asarray(error) / scale
    return _filled(np.where(steps > 0, 1.0 + np.floor(steps), 0.0), result)


def _filled(bound: Array | float, result: Array) -> Array | None:
    full = np.broadcast_to(np.asarray(bound, np.float64), result.shape)
    return full if np.any(full) else None
