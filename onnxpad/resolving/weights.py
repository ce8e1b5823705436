"""Weights and biases that are handed over for a resolved layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onnxpad.errors import RequestError

Array = NDArray[Any]


def checked_weight(
    name: str,
    shape: Sequence[int | None] | None,
    kernel: Sequence[int],
    weight: ArrayLike | None,
    *,
    is_pool: bool,
) -> Array | None:
    """The weight as an array; RequestError where it is missing, not wanted or of another shape."""
    if is_pool:
        if weight is not None:
            raise RequestError(f"{name}: a pool has no weight")
        return None
    expected = tuple(shape) if shape is not None else (None, None, *kernel)
    shown = ", ".join("?" if size is None else str(size) for size in expected)
    if weight is None:
        raise RequestError(
            f"{name}: a convolution needs its weight: to_model(weight=...), of shape [{shown}]"
        )
    array = np.asarray(weight)
    fits = len(array.shape) == len(expected) and all(
        want in {None, size} for want, size in zip(expected, array.shape, strict=True)
    )
    if not fits:
        raise RequestError(f"{name}: the weight is {list(array.shape)}, but must be [{shown}]")
    return array


def checked_bias(
    name: str, channels: int | None, bias: ArrayLike | None, *, is_pool: bool
) -> Array | None:
    """The bias as a vector, one number for each output channel."""
    if bias is None:
        return None
    if is_pool:
        raise RequestError(f"{name}: a pool has no bias")
    array = np.asarray(bias)
    if array.shape != (channels,):
        raise RequestError(f"{name}: the bias is {list(array.shape)}, but must be [{channels}]")
    return array
