"""How near the numbers of a runtime have to be to those that are right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
NEAR = 1e-3
"""Of the largest right number of a tensor: kernels by transformed tiles pass, a shifted pad does
not."""
RELATIVE = {"float16": 1e-2, "bfloat16": 5e-2}
"""The same for half precision, which loses more in sums."""
QUANTISED = 5e-2
"""The same for a whole model that quantises: what a step of the last place grows to in layers."""
STEPS, BYTES = 5, 255
"""Steps that 8-bit numbers of what quantises may be apart: runtimes round in other places, and
leave out pairs of conversions; what is padded otherwise is further off in random bytes."""
_LEAST = 1e-2
"""Of the largest number of the tensor: kernels round by that, however small a channel is."""
_ROUNDING = 1e-6
"""What may stand where every number is to be 0: sums of numbers about 1 end so."""
_TINY = 1e-300
_FILL = 1e30
"""Beyond it a number is a fill, such as the lowest float for minus infinity."""


class Difference(NamedTuple):
    """How far two tensors are apart.

    `amount` is the largest difference of two cells (infinite where the shapes differ, or where one
    is not a number), `allowed` how large it may be, `place` the cell where it is, and `words` say
    what stands there.
    """

    amount: float
    allowed: float
    place: tuple[int, ...] = ()
    words: str = ""

    @property
    def is_fault(self) -> bool:
        """Whether rounding does not explain it."""
        return not self.amount <= self.allowed


def difference(got: Array, right: Array, near: float = NEAR) -> Difference:
    """The difference of what a runtime gave from what is right.

    `near` is what is allowed of the largest right number; half precision is allowed more.
    """
    if got.shape != right.shape:
        words = f"shape {list(got.shape)} instead of {list(right.shape)}"
        return Difference(np.inf, 0.0, (), words)
    if not (_is_number(right) and _is_number(got)):
        equal = bool(np.array_equal(got, right))
        return Difference(0.0 if equal else np.inf, 0.0, (), "" if equal else "other values")
    if right.dtype.kind == "f":
        with np.errstate(all="ignore"):  # NaN and infinities are looked at below
            most, whole = (float(abs(x).max(initial=0)) for x in (got - right, right))
        if whole < _FILL and most <= near * _LEAST * whole:  # near in every cell
            return Difference(most, near * _LEAST * whole)
    a, b = (np.clip(_wide(value), -_FILL, _FILL) for value in (got, right))
    with np.errstate(invalid="ignore"):
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    apart = np.where(np.isnan(apart), np.inf, apart)
    amount = float(apart.max(initial=0.0))
    if not amount:
        return Difference(0.0, 0.0)
    allowed = _allowed(right, near)
    beyond = np.where(apart > 0, apart / np.maximum(allowed, _TINY), 0.0)
    farthest = beyond if beyond.max() > 1 else apart
    place = tuple(int(index) for index in np.unravel_index(int(farthest.argmax()), apart.shape))
    words = f"{float(got[place]):g} instead of {float(right[place]):g} at {list(place)}"
    return Difference(float(apart[place]), float(allowed[place]), place, words)


def worst(
    got: Mapping[str, Array], right: Mapping[str, Array], near: float = NEAR
) -> tuple[str, Difference]:
    """The output that is furthest beyond what is allowed, and its difference.

    An output that is missing is infinitely far off.
    """
    found = {
        name: difference(np.asarray(got[name]), value, near)
        if name in got
        else Difference(np.inf, 0.0, (), f"no output '{name}'")
        for name, value in right.items()
    }
    return max(found.items(), key=lambda pair: (pair[1].is_fault, pair[1].amount))


def _is_number(value: Array) -> bool:
    """Whether it holds real numbers or truth values; numpy calls bfloat16 and its kin 'V'."""
    kind = value.dtype.kind
    return kind in "fiub" or (kind == "V" and value.dtype.name.startswith(("bfloat", "float")))


def _wide(value: Array) -> Array:
    return value.astype(np.float64)


def _allowed(right: Array, near: float) -> Array:
    """How large the difference of each cell may be.

    Floats of one channel, or of one column, are held against the largest of these: a tensor may
    hold boxes in pixels beside scores. Steps of quantised models are those of the whole tensor.
    """
    if right.dtype.kind in "biu":
        steps = right.dtype.kind != "b" and right.dtype.itemsize == 1 and near > NEAR
        return np.full(right.shape, float(STEPS * steps))  # labels and masks are no steps
    sizes = np.abs(_wide(right))
    sizes = np.where(sizes < _FILL, sizes, 0.0)
    whole = local = sizes.max(initial=0.0)
    for axis in {1, right.ndim - 1} if right.ndim > 1 and near <= NEAR else ():
        others = tuple(number for number in range(right.ndim) if number != axis)
        local = np.minimum(local, sizes.max(axis=others, keepdims=True))
    if not whole:
        return np.full(right.shape, _ROUNDING)
    scale = np.broadcast_to(np.maximum(local, _LEAST * whole), right.shape)
    return np.asarray(max(near, RELATIVE.get(str(right.dtype), 0.0)) * scale)
