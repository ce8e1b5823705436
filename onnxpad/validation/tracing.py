"""Part of a model computed node by node: padded operators in float64, with bounds on rounding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.model.comparing.networks import Network, Operation
from onnxpad.sessions import RunFailure
from onnxpad.validation.bench import Bench
from onnxpad.validation.evaluator import Arithmetic, Call, NotEvaluable, bounded, evaluate, supports
from onnxpad.validation.spreading import spread_errors

Array = NDArray[Any]


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
) -> Traces:
    """Every tensor that the nodes at `indices` make from `feeds`.

    Padded operators follow the ONNX text in float64; every other operator is run alone in
    onnxruntime. With `arithmetic`, errors are bounded as that arithmetic spreads them; without,
    values only. Raises NotEvaluable where a node can neither be evaluated nor run, or where the
    error that it adds is not known.
    """
    known: Traces = {name: Traced(value, value.dtype) for name, value in feeds.items()}
    for index in indices:
        operation = network.operation(index)
        inputs = [_input(network, known, name) for name in operation.inputs]
        with np.errstate(all="ignore"):  # infinities and NaN are values like others here
            if supports(operation.op_type, operation.domain):
                try:
                    made = _evaluated(operation, inputs, arithmetic)
                except NotEvaluable as reason:
                    raise NotEvaluable(f"{operation.label}: {reason}") from reason
            else:
                made = _run_alone(bench, network, operation, known, arithmetic)
        for name, traced in zip(operation.outputs, made, strict=False):
            if name:
                known[name] = traced
    return known


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
