"""Convolutions, quantised forms and Pad in plain numpy, written from the ONNX operator text.

Test-only: imports nothing from onnxpad. Floats are computed in float64, integers in int64, and
nothing is rounded to the operator's own type. Windows and pools are in
`oracle_windows`, ConvTranspose in `oracle_transposed`; all of it is imported from here.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from tests.oracle.transposed import conv_transpose
from tests.oracle.windows import (
    Array,
    Ints,
    Window,
    along_channels,
    gather,
    lowest,
    per_axis,
    place_windows,
    pool_average,
    pool_lp,
    pool_max,
    resolve_same,
    wide,
)

__all__ = [
    "Array",
    "Window",
    "conv",
    "conv_integer",
    "conv_transpose",
    "lowest",
    "pad",
    "place_windows",
    "pool_average",
    "pool_lp",
    "pool_max",
    "qlinear_average_pool",
    "qlinear_conv",
    "quantize",
    "resolve_same",
]


def conv(x: Array, w: Array, b: Array | None = None, *, group: int = 1, **geometry: Any) -> Array:
    """Conv of `x [N, C, spatial...]` by `w [M, C / group, kernel...]`, in float64 or int64.

    `geometry` is strides, dilations, pads and auto_pad as for `place_windows`. Padding is 0.
    Raises ValueError where the channels or the geometry do not fit.
    """
    rank, (m, per_group) = x.ndim - 2, w.shape[:2]
    if w.ndim != x.ndim or x.shape[1] != per_group * group or m % group:
        raise ValueError(f"w {w.shape} with group {group} does not fit x {x.shape}")
    windows = place_windows(x.shape[2:], w.shape[2:], **geometry)
    outs = tuple(window.out for window in windows)
    taken = gather(wide(x), windows, 0)
    reach = math.prod(w.shape[2:])
    cells = taken.reshape(x.shape[0], group, per_group, math.prod(outs), reach)
    taps = wide(w).reshape(group, m // group, per_group, reach)
    y: Array = np.einsum("ngcok,gmck->ngmo", cells, taps).reshape(x.shape[0], m, *outs)
    return y if b is None else y + along_channels(wide(b), rank)


def conv_integer(
    x: Array, w: Array, x_zero_point: Array | int = 0, w_zero_point: Array | int = 0, **rest: Any
) -> Array:
    """ConvInteger as exact int64 accumulators; a padded cell is worth x_zero_point.

    x_zero_point is one value, w_zero_point one value or one per output channel.
    """
    x_zero, w_zero = np.asarray(x_zero_point), np.asarray(w_zero_point)
    if x_zero.size != 1 or w_zero.size not in (1, w.shape[0]):
        raise ValueError(f"zero points of shape {x_zero.shape} and {w_zero.shape} for w {w.shape}")
    centred = wide(w) - along_channels(wide(w_zero), w.ndim - 1)
    return conv(wide(x) - int(x_zero.item()), centred, **rest)


def quantize(real: Array, zero_point: Array | int, dtype: np.dtype[Any]) -> Array:
    """round half to even, add the zero point, saturate to `dtype` (QuantizeLinear after /scale)."""
    if dtype.kind not in "iu":
        raise NotImplementedError(f"quantised type {dtype}")
    limits = np.iinfo(dtype)
    shifted: Array = np.rint(real) + zero_point
    return shifted.clip(limits.min, limits.max).astype(dtype)


def qlinear_conv(
    x: Array,
    x_scale: Array | float,
    x_zero_point: Array | int,
    w: Array,
    w_scale: Array | float,
    w_zero_point: Array | int,
    y_scale: Array | float,
    y_zero_point: Array,
    b: Array | None = None,
    **rest: Any,
) -> Array:
    """QLinearConv, in y_zero_point's dtype; b is int32 in units of x_scale * w_scale.

    Accumulators are exact; their one scaling is in float64, so that only an accumulator within a
    float32 rounding of a tie can differ by one from a runtime that scales in float32.
    """
    rank = x.ndim - 2
    total = conv_integer(x, w, x_zero_point, w_zero_point, b=b, **rest)
    ratio = np.float64(x_scale) * np.asarray(w_scale, np.float64) / np.float64(y_scale)
    real = total * along_channels(np.asarray(ratio), rank)
    return quantize(real, int(y_zero_point.item()), y_zero_point.dtype)


def qlinear_average_pool(
    x: Array,
    x_scale: Array | float,
    x_zero_point: Array | int,
    y_scale: Array | float,
    y_zero_point: Array,
    kernel: Sequence[int],
    **rest: Any,
) -> Array:
    """com.microsoft QLinearAveragePool in y_zero_point's dtype; `rest` as for `pool_average`.

    The divisor is AveragePool's; onnxruntime 1.31 divides an overhang with count_include_pad by
    the whole kernel, which this does not copy. As in onnxruntime, the only text of this operator,
    the zero point is added before the rounding.
    """
    real = (wide(x) - int(np.asarray(x_zero_point).item())) * np.float64(x_scale)
    mean = pool_average(real, kernel, **rest) / np.float64(y_scale)
    return quantize(mean + int(y_zero_point.item()), 0, y_zero_point.dtype)


def _pad_index(size: int, begin: int, end: int, mode: str) -> Array:
    """Source cell of every output cell of a padded axis of `size` cells; -1 is the constant."""
    if mode not in ("constant", "reflect", "edge", "wrap"):
        raise ValueError(f"unknown Pad mode {mode!r}")
    place: Array = np.arange(-begin, size + end)
    if mode == "constant" or not begin | end:
        return np.where((place >= 0) & (place < size), place, -1)
    if size < 1 or (mode == "reflect" and max(begin, end) >= size):
        raise ValueError(f"{mode} pads ({begin}, {end}) of an axis with {size} cells")
    if mode == "edge":
        place = place.clip(0, size - 1)
    elif mode == "wrap":
        place = place % size
    else:
        place = size - 1 - np.abs(size - 1 - np.abs(place))
    return place


def pad(
    x: Array,
    pads: Sequence[int],
    *,
    mode: str = "constant",
    value: Any = 0,
    axes: Ints = None,
) -> Array:
    """Pad, in x's dtype; `pads` is `[begins..., ends...]` over `axes` (all of them by default).

    A negative pad crops first, and the crop's result is what the other side pads from. Raises
    ValueError for a crop wider than the axis, reflection beyond it, and repeated axes.
    """
    named = range(x.ndim) if axes is None else [int(a) for a in axes]
    listed = normalize_axis_tuple(tuple(named), x.ndim)
    flat = per_axis(pads, 2 * len(listed), 0)
    fill = np.asarray(value).astype(x.dtype)
    for axis, begin, end in zip(listed, flat[: len(listed)], flat[len(listed) :], strict=True):
        first, last = max(0, -begin), x.shape[axis] - max(0, -end)
        if last < first:
            raise ValueError(f"pads ({begin}, {end}) crop more than the {x.shape[axis]} cells")
        x = x.take(np.arange(first, last), axis)
        index = _pad_index(last - first, max(0, begin), max(0, end), mode)
        shape = (*x.shape[:axis], len(index), *x.shape[axis + 1 :])
        padded = np.full(shape, fill, x.dtype)
        kept = (slice(None),) * axis + (index >= 0,)
        padded[kept] = x.take(index[index >= 0], axis)
        x = padded
    return x
