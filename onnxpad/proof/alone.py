"""One operator alone in float64, by its text: what is right where no runtime is to be asked."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof.call import RULES, Budget, Value
from onnxpad.proof.endings import NoResult, Undecided
from onnxpad.proof.evaluation import Evaluation
from onnxpad.proof.floats import Numeric
from onnxpad.proof.graphs import Node
from onnxpad.proof.sized import Notes

Array = NDArray[Any]
_PRODUCTS, _AT_ONCE = 1 << 34, 1 << 26
"""Products of one operator, some seconds of work; cells in memory at once, half a GiB."""


def has_rule(domain: str, op: str) -> bool:
    """Whether the kernel knows the operator."""
    return (domain, op) in RULES


def computed(
    op: str,
    domain: str,
    opset: int,
    attributes: Mapping[str, Any],
    inputs: Sequence[Array | None],
    outputs: int = 1,
) -> list[Array]:
    """The outputs of one operator in their own types, computed in float64.

    `inputs` stand in the operator's order, None where left out; `attributes` are plain values.
    A window of padding alone averages to 0. Raises Undecided where the text gives no result, where
    readers disagree on it, and where it takes more than the budget.
    """
    names = [f"x{at}" if one is not None else "" for at, one in enumerate(inputs)]
    made = [f"y{at}" for at in range(outputs)]
    node = Node(op, domain, opset, names, made, dict(attributes))
    values = {
        name: _given(value, known=at > 0 or op == "Pad")
        for at, (name, value) in enumerate(zip(names, inputs, strict=True))
        if value is not None
    }
    evaluation = Evaluation(_Plain({}), Notes(), Budget(_PRODUCTS, _AT_ONCE))
    try:
        with np.errstate(all="ignore"):  # infinities and NaN are values like others here
            found = evaluation.node(node, values)
            return [one.cells.astype(one.dtype) for one in found]
    except NoResult as reason:
        raise Undecided(str(reason)) from reason
    except MemoryError as error:
        raise Undecided(f"{op} needs more memory than there is") from error


def _given(value: Array, *, known: bool) -> Value:
    """An operand: numbers that attributes may stand for are known, data are cells."""
    return Value(value if known else value.astype(np.float64), value.dtype, known=known)


class _Plain(Numeric):
    """Numbers as they come, those beside a turn of rounding too."""

    holds_products = False

    def contract(self, a: Array, b: Array) -> Array:
        """Sum of a b over the last axis; rows [..., 1, n, k] by columns [..., m, 1, k] at once."""
        if a.ndim < 3 or a.shape[-3] != 1 or b.shape[-2] != 1:
            return super().contract(a, b)
        return np.asarray(np.swapaxes(a[..., 0, :, :] @ np.swapaxes(b[..., 0, :], -1, -2), -1, -2))

    def clear(self, a: Array, tie: float, made: Array) -> Array:
        """What was rounded, as it is."""
        del a, tie
        return made
