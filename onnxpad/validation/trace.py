"""Part of a model computed node by node: padded operators in float64, with bounds on rounding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad import processes
from onnxpad.model.comparing.networks import Network, Operation
from onnxpad.padding.plain_operators import MOVES
from onnxpad.probing.evaluator import Arithmetic, Call, NotEvaluable, bounded, evaluate, supports
from onnxpad.sessions import RunFailure
from onnxpad.validation.bench import Bench

Array = NDArray[Any]
ErrorBounds = Mapping[str, Array | None]
Run = Callable[[Mapping[str, Array]], dict[str, Array]]
SHARE = 4
"""Of the memory that the work may take, all values of a trace have one part in so many."""
_MOVES = MOVES | {"Concat"}
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


@dataclass(frozen=True, slots=True)
class Traced:
    """A tensor: its value, the type that the model gives it, and a bound on a runtime's error.

    `error` is None where any runtime must give exactly this value.
    """

    value: Array
    dtype: np.dtype[Any]
    error: Array | None = None

    def stored(self) -> Array:
        """The value in the model's type."""
        return self.value.astype(self.dtype)


Traces = dict[str, Traced]


def trace(
    bench: Bench,
    network: Network,
    indices: Sequence[int],
    feeds: Mapping[str, Array],
    arithmetic: Arithmetic | None,
    failed: list[str] | None = None,
) -> Traces:
    """Every tensor that the nodes at `indices` make from `feeds`.

    Padded operators follow the ONNX text in float64; every other operator is run alone in
    onnxruntime. With `arithmetic`, errors are bounded as that arithmetic spreads them; without,
    values only. Raises NotEvaluable where a node can neither be evaluated nor run, or where the
    error that it adds is not known; with a list `failed`, such nodes and all behind them are left
    out, and it gets the reasons. Raises it as well where all values together take a quarter of the
    memory that the work may take.
    """
    known: Traces = {name: Traced(value, value.dtype) for name, value in feeds.items()}
    held, allowed = 0, processes.current().memory_allowed()
    for index in indices:
        operation = network.operation(index)
        try:
            made = _made(bench, network, operation, known, arithmetic)
        except NotEvaluable as reason:
            if failed is None:
                raise
            failed.append(str(reason))
            continue
        for name, traced in zip(operation.outputs, made, strict=False):
            if name:
                known[name] = traced
                held += traced.value.nbytes
        if held > allowed // SHARE:
            raise NotEvaluable(
                f"{operation.label}: one by one, the tensors up to here take more than "
                f"{processes.readable(allowed // SHARE)}; --memory "
                f"{processes.readable(10 * allowed, '')} lets them"
            )
    return known


def _made(
    bench: Bench,
    network: Network,
    operation: Operation,
    known: Traces,
    arithmetic: Arithmetic | None,
) -> list[Traced]:
    """The outputs of one node."""
    inputs = [_input(network, known, name) for name in operation.inputs]
    with np.errstate(all="ignore"):  # infinities and NaN are values like others here
        if not supports(operation.op_type, operation.domain):
            return _run_alone(bench, network, operation, known, arithmetic)
        try:
            return _evaluated(operation, inputs, arithmetic)
        except NotEvaluable as reason:
            raise NotEvaluable(f"{operation.label}: {reason}") from reason


def _input(network: Network, known: Traces, name: str) -> Traced | None:
    if not name:
        return None
    if name in known:
        return known[name]
    value = network.constant(name)
    if value is None:
        raise NotEvaluable(f"tensor '{name}' is not known here")
    return Traced(value, value.dtype)


def _evaluated(
    operation: Operation, inputs: Sequence[Traced | None], arithmetic: Arithmetic | None
) -> list[Traced]:
    arrays = [None if t is None else t.value for t in inputs]
    errors = [None if t is None else t.error for t in inputs]
    facts = (operation.op_type, operation.domain, operation.opset, operation.attributes, arrays)
    bounds: list[Array | None]
    if arithmetic is None:
        values = evaluate(*facts)
        bounds = [None] * len(values)
    else:
        values, allowed = bounded(Call(*facts), errors, arithmetic)
        bounds = [_or_none(bound) for bound in allowed]
    first = next(t for t in inputs if t is not None)
    traced = []
    for value, bound in zip(values, bounds, strict=True):
        dtype = first.dtype if value.dtype.kind == "f" else value.dtype
        traced.append(Traced(value, dtype, bound))
    return traced


def _run_alone(
    bench: Bench,
    network: Network,
    operation: Operation,
    known: Traces,
    arithmetic: Arithmetic | None,
) -> list[Traced]:
    feeds = {name: known[name] for name in network.names_read([operation.index]) & known.keys()}
    stored = {name: traced.stored() for name, traced in feeds.items()}
    errors = {name: _with_storing(traced) for name, traced in feeds.items()}
    outputs = [name for name in operation.outputs if name]

    def run(values: Mapping[str, Array]) -> dict[str, Array]:
        part = bench.part(network, [operation.index], values, outputs)
        results = bench.run(part, values)
        if isinstance(results, RunFailure):
            raise NotEvaluable(f"onnxruntime cannot run {operation.label} alone: {results}")
        return results

    values = run(stored)
    bounds: dict[str, Array | None] = dict.fromkeys(outputs)
    if arithmetic is not None:
        constants = {name: network.constant(name) for name in operation.inputs}
        operands = {n: v for n, v in constants.items() if v is not None} | stored
        bounds = spread_errors(operation, operands, errors, values, run, arithmetic)
    return [
        Traced(values[name], values[name].dtype, bounds[name])
        if name
        else Traced(np.zeros(0), np.dtype("float32"))
        for name in operation.outputs
    ]


def _with_storing(traced: Traced) -> Array | None:
    """The error of the value, and what storing it in the model's type added."""
    if traced.value.dtype == traced.dtype or traced.value.dtype.kind != "f":
        return traced.error
    moved = np.abs(traced.value - traced.stored().astype(np.float64))
    moved = np.where(np.isnan(moved), 0.0, moved)
    return _or_none(moved if traced.error is None else moved + traced.error)


def _or_none(error: Array) -> Array | None:
    return error if np.any(error) else None


def spread_errors(
    operation: Operation,
    operands: Mapping[str, Array],
    errors: ErrorBounds,
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
