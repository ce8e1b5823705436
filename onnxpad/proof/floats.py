"""The numeric domain: cells are float64 numbers, for counterexamples."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof.domain import Domain
from onnxpad.proof.endings import Undecided
from onnxpad.proof.functions import FLOATS, Number

Array = NDArray[Any]
_NEAR = 1e-6
_UNIT = 2.0**-50
"""Some roundings of float64: sums are added up in blocks."""
_WHOLE = 2.0**20
"""Products of such numbers, and many of them together, are whole in float64."""

COMPARISONS: dict[str, Callable[[Array, Array], Array]] = {
    "Equal": np.equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "And": np.logical_and,
    "Or": np.logical_or,
    "Xor": np.logical_xor,
}
"""Of two operands, with a truth as the result."""
_PAIRS: dict[str, Callable[[Array, Array], Array]] = {
    "Div": lambda a, b: np.trunc(a / b),
    "Mod": np.mod,
    **COMPARISONS,
}
"""Of two operands; a Div is here where it is one of whole numbers."""


class Numeric(Domain):
    """Arithmetic of float64; whatever is not a number by itself raises Undecided.

    With `random`, every result is off by what float64 may be off, or a little more: what moves by
    that shows no difference.
    """

    computes = True

    def __init__(
        self, inputs: Mapping[Hashable, Array], random: np.random.Generator | None = None
    ) -> None:
        self._inputs = inputs
        self._random = random

    @property
    def is_exact(self) -> bool:
        """Whether nothing is put off."""
        return self._random is None

    def off(self, made: Array, size: Array | None = None, unit: float = _UNIT) -> Array:
        """A result with an error of its `size`; whole numbers that whole ones make have none."""
        if self._random is None:
            return made
        error = unit * self._random.uniform(-1, 1, made.shape) * (made if size is None else size)
        return np.where(np.isfinite(error), made + error, made)

    def embed(self, numbers: Array) -> Array:
        """Numbers as they are."""
        return numbers.astype(np.float64)

    def number(self, number: Number) -> float:
        """A number as it is."""
        return float(number)

    def infinity(self, sign: int) -> float:
        """An infinity."""
        return sign * np.inf

    def fresh(self, key: Hashable, shape: tuple[int, ...]) -> Array:
        """The given values of an input."""
        return np.broadcast_to(self._inputs[key], shape).astype(np.float64)

    def add(self, a: Array, b: Array) -> Array:
        """a + b."""
        made = np.asarray(a + b)
        return made if self.is_exact or _whole(a, b) else self.off(made, np.abs(a) + np.abs(b))

    def sub(self, a: Array, b: Array) -> Array:
        """a - b."""
        result = np.asarray(a - b)
        return result if self.is_exact or _whole(a, b) else self.off(result, np.abs(a) + np.abs(b))

    def neg(self, a: Array) -> Array:
        """-a."""
        return np.asarray(-a)

    def mul(self, a: Array, b: Array) -> Array:
        """a b."""
        made = np.asarray(a * b)
        return made if self.is_exact or _whole(a, b) else self.off(made)

    def div(self, a: Array, b: Array) -> Array:
        """a / b."""
        return self.off(np.asarray(a / b))

    def total(self, a: Array) -> Array:
        """Sum over the last axis."""
        made = np.asarray(a.sum(axis=-1))
        return made if self.is_exact or _whole(a) else self.off(made, np.abs(a).sum(axis=-1))

    def contract(self, a: Array, b: Array) -> Array:
        """Sum of a b over the last axis."""
        made = np.asarray((a * b).sum(axis=-1))
        if self.is_exact or _whole(a, b):
            return made
        return self.off(made, (np.abs(a) * np.abs(b)).sum(axis=-1))

    def largest(self, a: Array, lowest: Number, floor: Number | None = None) -> Array:
        """Maximum over the last axis; the lowest finite number counts as -inf."""
        made = np.asarray(a.max(axis=-1))
        return made if floor is not None else np.where(made <= float(lowest), -np.inf, made)

    def function(self, op: str, parameters: Mapping[str, Any], *args: Array) -> Array:
        """A function of one number; raises Undecided for one that has no float version here."""
        if op == "PRelu":
            return np.where(args[0] < 0, self.off(np.asarray(args[0] * args[1])), args[0])
        if op in ("Ceil", "Floor", "Round"):
            turned = np.asarray(FLOATS[op](args[0], parameters))
            return self.clear(args[0], 0.5 * (op == "Round"), turned)
        if op == "Quantise":
            low, high, zero = parameters["low"], parameters["high"], args[1]
            a = np.clip(args[0], low - zero - 1, high - zero + 1)
            return self.clear(a, 0.5, np.asarray(np.clip(np.rint(a) + zero, low, high)))
        if op == "Cast":
            return self._cast(args[0], *(np.dtype(str(parameters[key])) for key in ("from", "to")))
        if op in _PAIRS and len(args) == 2:
            with np.errstate(all="ignore"):
                return np.asarray(_PAIRS[op](*args), np.float64)
        if op not in FLOATS or len(args) != 1:
            raise Undecided(f"{op} has no numbers here")
        made = np.asarray(FLOATS[op](args[0], parameters))
        return made if op in ("Abs", "Sign") else self.off(made)

    def _cast(self, a: Array, old: "np.dtype[Any]", new: "np.dtype[Any]") -> Array:
        """Floats cut to whole numbers, or anything that is not 0."""
        if new.kind == "b":
            return np.asarray(a != 0, np.float64)
        if old.kind != "f" or new.kind not in "iu" or np.abs(a).max(initial=0) > np.iinfo(new).max:
            raise Undecided(f"a Cast of {old} to {new} has no numbers here")
        return self.clear(a, 0.0, np.trunc(a))

    def clear(self, a: Array, tie: float, made: Array) -> Array:
        """`made`, but NaN, which is no difference, next to where rounding turns over.

        Just there a number is rounded as the text says: another order of sums makes of it the same
        number or one that is near.
        """
        with np.errstate(invalid="ignore"):
            distance = np.abs((a - tie) - np.rint(a - tie))
        unclear = (distance > 0) & (distance < _NEAR * np.maximum(1.0, np.abs(a)))
        return np.where(unclear, np.nan, made)

    def chosen(self, a: Array, places: Array, lowest: Number, *, floats: bool) -> Array:
        """The place of the first maximum over the last axis."""
        del lowest, floats
        places = np.broadcast_to(places, a.shape)
        best = np.where(places >= 0, a, -np.inf).max(axis=-1, keepdims=True)
        wins = (a == best) & (places >= 0)
        first = wins.argmax(axis=-1)[..., None]
        found = np.take_along_axis(places, first, axis=-1)[..., 0]
        return np.where(wins.any(axis=-1), found, -1).astype(np.float64)


def _whole(*arrays: Array) -> bool:
    """Whether all are whole numbers, of which float64 makes sums and products without an error."""
    return all(
        bool((np.rint(one) == one).all()) and np.abs(one).max(initial=0) < _WHOLE for one in arrays
    )
