"""How far a finite-precision evaluation of a padded operator may lie from the exact result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from onnxpad.probing.evaluator.kernels import Array, NotEvaluable, Requantised, max_pool
from onnxpad.probing.evaluator.operators import Call, Results, pool_of, solve, widened

BLOCKED = 8.0
"""Factor on sqrt(K)u that no measured sum of K terms exceeded (1.6 at most, Higham's lambda)."""

Errors = Sequence[Array | None]


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Relative roundings of one runtime: of sums, of a product's operands, of what is stored.

    `transforms` counts extra terms for algorithms that are no plain sums (Winograd).
    """

    sums: float = 2.0**-24
    operands: float = 0.0
    store: float = 2.0**-24
    transforms: int = 0
    smallest: float = 2.0**-149

    def of_sum(self, terms: int) -> float:
        """Bound on |computed - exact| / sum of |terms| for a sum of that many products.

        Higham, Accuracy and Stability of Numerical Algorithms, 3.1: gamma_K for any order, and
        lambda sqrt(K) u for the blocked sums that runtimes use, whichever is smaller.
        """
        k = terms + self.transforms
        if k == 0:
            return 0.0
        rigorous = k * self.sums / (1 - k * self.sums) if k * self.sums < 0.5 else 1.0
        return min(rigorous, BLOCKED * sqrt(k) * self.sums) + 2 * self.operands

    def of_store(self, y: Array) -> Array:
        """Bound on the rounding of a value when it is stored."""
        spacing: Array = (self.store + self.sums) * np.abs(y) + self.smallest
        return spacing


def magnitude(call: Call) -> tuple[Array, int]:
    """S = sum |w||x| at every output element, and K = the number of terms summed there.

    S bounds a sum's rounding as gamma_K S. Quantised operators give S in steps of y's scale.
    MaxPool, Pad and ConvInteger round nothing: K is 0. Raises NotEvaluable as `evaluate` does.
    """
    terms = _terms(call)
    if terms == 0:
        return np.zeros(_real(solve(call)[0]).shape), 0
    if call.op_type in _QUANTISED:
        scale = 0 if call.op_type == "QLinearConv" else 256.0
        steps = widened(call.needed(1)) / widened(call.needed(6 if scale == 0 else 3))
        return np.abs(_real(solve(call)[0])) + scale * steps.reshape(()), terms
    positive = replace(call.absolute(), attributes={**call.attributes, "activation": ""})
    return _real(solve(positive)[0]), terms


def bounded(call: Call, errors: Errors, arithmetic: Arithmetic) -> tuple[list[Array], list[Array]]:
    """Exact outputs, and for each a bound on |computed - exact|.

    `errors` bound those of the inputs (None: none).

    Exact operators give 0 where their inputs are exact. Quantised results may jump only where the
    real value lies within its bound of a rounding point. Raises NotEvaluable as `evaluate` does,
    and for quantised operators whose inputs carry errors.
    """
    carried = [error if error is not None and np.any(error) else None for error in errors]
    results = solve(call)
    values = [r.rounded() if isinstance(r, Requantised) else r for r in results]
    return values, _allowed(call, carried, arithmetic, results)


def _allowed(call: Call, carried: Errors, arithmetic: Arithmetic, results: Results) -> list[Array]:
    if call.op_type in ("MaxPool", "NhwcMaxPool"):
        return _largest(call, carried, results)
    moved = _moved(call, carried, _real(results[0]).shape)
    if call.op_type in ("Pad", "ConvInteger"):
        return [moved]
    size, terms = magnitude(call)
    bound = moved + arithmetic.of_sum(terms) * (size + moved)
    result = results[0]
    if isinstance(result, Requantised):
        return [jumps(result, bound)]
    return [_slope(call) * bound + arithmetic.of_store(result)]


def jumps(result: Requantised, bound: Array) -> Array:
    """Whole steps by which a rounded value may change when the real one moves by `bound`."""
    beyond = bound - result.tie()
    steps: Array = np.where(beyond < 0, 0.0, 1.0 + np.floor(np.maximum(beyond, 0)))
    return steps


def _largest(call: Call, errors: Errors, results: Results) -> list[Array]:
    """A maximum moves at most as far as the cell in its window that moves most."""
    moved = errors[0] if errors else None
    if moved is None:
        return [np.zeros(_real(result).shape) for result in results]
    if call.op_type == "NhwcMaxPool":
        raise NotEvaluable("NhwcMaxPool: its input carries rounding")
    bound, _ = max_pool(moved, pool_of(call, moved.shape[2:]))
    bound = np.maximum(bound, 0)
    return [bound, np.where(bound > 0, np.inf, 0.0)]


def _moved(call: Call, errors: Errors, shape: tuple[int, ...]) -> Array:
    """How the operator passes on the errors of its inputs.

    Its result is a sum of products of one cell of x and one of w (or a norm, whose slope is at
    most 1), so one factor is replaced by its error and the other by its largest magnitude.
    """
    total = np.zeros(shape)
    for position, error in enumerate(errors):
        if error is None:
            continue
        if position in _ADDED.get(call.op_type, ()):
            total += error.reshape(-1, *[1] * (len(shape) - 2)) if error.ndim == 1 else error
        elif position == 0 and call.op_type not in _STEPPED:
            total += _passed(call, error, _grown(call, errors, 1))
        elif position == 1 and call.op_type in _ADDED:
            total += _passed(call, _grown(call, errors, 0), error)
        else:
            raise NotEvaluable(f"{call.op_type}: its input {position} carries rounding")
    return total


def _grown(call: Call, errors: Errors, position: int) -> Array | None:
    value = call.absolute().given(position)
    error = errors[position] if position < len(errors) else None
    return value if value is None or error is None else value + error


def _passed(call: Call, first: Array | None, second: Array | None) -> Array:
    """The operator without bias, fill or activation, on these two operands."""
    attributes = {**call.attributes, "activation": "", "value": 0.0}
    rest: list[Array | None] = []
    if call.op_type == "Pad":
        rest = [None, call.given(3)]
        second = call.given(1)
    elif call.op_type == "ConvTransposeWithDynamicPads":
        rest = [call.given(2)]
    inputs = [first, second, *rest]
    return _real(solve(replace(call, inputs=inputs, attributes=attributes))[0])


def _slope(call: Call) -> float:
    """Largest slope of a fused activation."""
    first = abs(float([*call.attributes.get("activation_params", ()), 0.0][0]))
    name = call.attributes.get("activation", "")
    return {"LeakyRelu": max(1.0, first), "HardSigmoid": first}.get(name, 1.0)


def _terms(call: Call) -> int:
    if call.op_type in _EXACT:
        return 0
    if call.op_type in ("AveragePool", "LpPool", "QLinearAveragePool"):
        norm = 10 if call.op_type == "LpPool" else 3
        return int(np.prod(call.attributes.get("kernel_shape", (1,)))) + norm
    if call.op_type == "QLinearConv":
        return 4
    w = call.needed(1)
    if call.op_type.startswith("ConvTranspose"):
        return int(w.shape[0] // call.group * np.prod(w.shape[2:])) + 1
    return int(np.prod(w.shape[1:])) + 1 + (call.op_type == "FusedConv")


def _real(result: Array | Requantised) -> Array:
    return result.real if isinstance(result, Requantised) else result


_EXACT = ("Pad", "MaxPool", "NhwcMaxPool", "ConvInteger")
_QUANTISED = ("QLinearConv", "QLinearAveragePool")
_STEPPED = (*_QUANTISED, "ConvInteger")
_ADDED = {
    "Conv": (2,),
    "FusedConv": (2, 3),
    "ConvTranspose": (2,),
    "ConvTransposeWithDynamicPads": (3,),
}
