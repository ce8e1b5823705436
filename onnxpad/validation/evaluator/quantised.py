"""The integer convolutions and the quantised pools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from onnxpad.validation.evaluator.windows import Array


@dataclass(frozen=True, slots=True)
class Requantised:
    """A quantised result before it is rounded: `real` counts steps of y's scale, zero included."""

    real: Array
    dtype: np.dtype[Any]

    def rounded(self) -> Array:
        """Round half to even and saturate, as QuantizeLinear does."""
        info = np.iinfo(self.dtype)
        whole: Array = np.clip(np.rint(self.real), info.min, info.max).astype(self.dtype)
        return whole

    def tie(self) -> Array:
        """Distance of every value to the nearest point where rounding jumps."""
        info = np.iinfo(self.dtype)
        inside = np.clip(self.real, info.min, info.max)
        distance: Array = np.abs(inside - np.floor(inside) - 0.5)
        return distance


def centred(q: Array, zero_point: Array | None, axis: int | None = None) -> Array:
    """`q` minus its zero point in int64; a vector of zero points runs along `axis`."""
    wide = q.astype(np.int64)
    if zero_point is None:
        return wide
    return wide - spread(zero_point.astype(np.int64), q.ndim, axis)


def spread(values: Array, rank: int, axis: int | None) -> Array:
    """A scalar as it is, a vector shaped so that it runs along `axis` of a tensor of `rank`."""
    if values.size == 1 or axis is None:
        return values.reshape(())
    shape = [1] * rank
    shape[axis] = values.size
    return values.reshape(shape)


def requantise(total: Array, multiplier: Array, zero_point: Array) -> Requantised:
    """`total * multiplier + zero_point` in float64, ready to be rounded to the dtype of zero_point.

    ONNX Operators, QLinearConv-10.
    """
    real = total.astype(np.float64) * multiplier + np.float64(zero_point.reshape(()))
    return Requantised(real, zero_point.dtype)
