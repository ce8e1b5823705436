"""Bounds from measured movement: how far each channel of a tensor moved when rounding was added."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.validation.agreement import magnitudes

Array = NDArray[Any]
UNITS = {"float16": 2.0**-11, "float64": 2.0**-53, "bfloat16": 2.0**-8}
# Next to nothing, against the median of the channels.
_STILL = 1e-2


def movement(clean: Array, moved: Array, *, apart: bool) -> Array:
    """The largest movement in each channel (`apart`), or in the whole tensor."""
    if clean.shape != moved.shape or clean.dtype == object or clean.size == 0:
        return np.zeros(())
    with np.errstate(invalid="ignore"):
        distance = np.abs(clean.astype(np.float64) - moved.astype(np.float64))
    return _largest(np.where(np.isfinite(distance), distance, 0.0), apart=apart)


def bounds_of(moved: Array, clean: Array, *, apart: bool) -> Array:
    """Twice the movement, and the rounding of what is stored; broadcasts against `clean`.

    A channel of few cells may be still by chance: it moves at least as its size does in the median
    of the channels. One that holds next to nothing (behind a Relu) moves like the median one.
    """
    if clean.dtype.kind in "iubO" or clean.size == 0:
        return 2 * moved
    size = _largest(magnitudes(clean), apart=apart)
    live = size > 0
    if not live.any():
        return 2 * moved
    ratio = float(np.median(moved[live] / size[live]))
    found = 2 * np.maximum(moved, ratio * size) + _unit(clean) * size
    still = size < _STILL * np.median(size[live])
    return np.where(still, np.maximum(found, np.median(found[live])), found)


def stored(value: Array, *, apart: bool) -> Array:
    """What storing the cells of a tensor may move them by, of each one if they are `apart`."""
    if value.dtype.kind in "iubO" or value.size == 0:
        return np.zeros(())
    wide = _unit(value) * magnitudes(value)
    return np.asarray(wide if apart else wide.max())


def _unit(value: Array) -> float:
    return 4 * UNITS.get(str(value.dtype), 2.0**-24)


def _largest(values: Array, *, apart: bool) -> Array:
    """The largest value of each channel, of all where they are not `apart`.

    Channels are axis 1; of three axes the last one may hold them as well, and the smaller counts.
    """
    if not apart:
        return np.asarray(values.max(initial=0.0))
    if values.ndim < 2:
        return values
    found = [_along(values, axis) for axis in ((1, 2) if values.ndim == 3 else (1,))]
    return found[0] if len(found) == 1 else np.minimum(*found)


def _along(values: Array, kept: int) -> Array:
    others = tuple(axis for axis in range(values.ndim) if axis != kept)
    return np.asarray(values.max(axis=others, keepdims=True, initial=0.0))
