"""ConvTranspose in plain numpy, written from the ONNX operator text (test-only, see `oracle`)."""

import itertools
import math
from typing import Any

import numpy as np

from tests.oracle.windows import Array, Ints, along_channels, dilated, explicit_pads, per_axis, wide


def _transposed_axis(
    full: int, span: int, stride: int, extra: int, pads: tuple[int, int], auto_pad: str
) -> tuple[int, int]:
    """(first cell kept, outputs) of one ConvTranspose axis whose uncropped length is `full`."""
    if not auto_pad.startswith("SAME"):
        return pads[0], full + extra - sum(pads)
    total = max(0, span + extra - stride)
    begin = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
    return begin, full + extra - total


def _transposed_to(
    wanted: int, full: int, stride: int, extra: int, auto_pad: str
) -> tuple[int, int]:
    """(first cell kept, outputs) of one ConvTranspose axis under output_shape."""
    if wanted > full + max(extra, stride - 1):
        raise ValueError(f"output_shape {wanted}: {full} cells and less than {stride} more")
    total = max(0, full + extra - wanted)
    return (total // 2 if auto_pad == "SAME_UPPER" else total - total // 2), wanted


def _scatter(x: Array, w: Array, group: int, strides: list[int], dilations: list[int]) -> Array:
    """The uncropped transposed convolution, `[N, M, full...]`."""
    n, channels, *spatial = x.shape
    per_group, kernel = w.shape[1], w.shape[2:]
    full = [
        (h - 1) * s + dilated(k, d)
        for h, k, s, d in zip(spatial, kernel, strides, dilations, strict=True)
    ]
    taps = w.reshape(group, channels // group, per_group, *kernel)
    cells = x.reshape(n, group, channels // group, math.prod(spatial))
    y = np.zeros((n, group * per_group, *full), np.result_type(x, w))
    for tap in itertools.product(*(range(k) for k in kernel)):
        at: tuple[Any, ...] = (..., *tap)
        part = np.einsum("ngco,gcm->ngmo", cells, taps[at])
        steps = zip(tap, dilations, spatial, strides, strict=True)
        where: tuple[Any, ...] = (
            ...,
            *(slice(t * d, t * d + (h - 1) * s + 1, s) for t, d, h, s in steps),
        )
        y[where] += part.reshape(n, group * per_group, *spatial)
    return y


def _cropped(y: Array, axis: int, begin: int, out: int) -> Array:
    """`out` cells of an axis from `begin` on, zero beyond its end."""
    if out < 1:
        raise ValueError(f"axis {axis} has {out} outputs")
    kept = np.arange(begin, begin + out)
    held = (kept < y.shape[axis]).reshape(-1, *(1,) * (y.ndim - 1 - axis))
    return np.where(held, y.take(kept.clip(max=y.shape[axis] - 1), axis), 0)


def conv_transpose(
    x: Array,
    w: Array,
    b: Array | None = None,
    *,
    strides: Ints = None,
    dilations: Ints = None,
    pads: Ints = None,
    group: int = 1,
    auto_pad: str = "NOTSET",
    output_padding: Ints = None,
    output_shape: Ints = None,
) -> Array:
    """ConvTranspose of `x [N, C, spatial...]` by `w [C, M / group, kernel...]`.

    The odd cropped cell is at the end for SAME_UPPER and at the begin otherwise, at every opset. A
    SAME total below 0 is 0. output_shape (spatial axes only) overrules pads and may ask for up to
    stride - 1 cells beyond the full length; those, like output_padding, hold the bias alone.
    """
    rank = x.ndim - 2
    if w.ndim != x.ndim or x.shape[1] != w.shape[0] or w.shape[0] % group:
        raise ValueError(f"w {w.shape} with group {group} does not fit x {x.shape}")
    strides, dilations = per_axis(strides, rank, 1), per_axis(dilations, rank, 1)
    extras, written = per_axis(output_padding, rank, 0), explicit_pads(pads, auto_pad, rank)
    wanted = None if output_shape is None else per_axis(output_shape, rank, 0)
    y = _scatter(wide(x), wide(w), group, strides, dilations)
    for axis, (s, d, extra) in enumerate(zip(strides, dilations, extras, strict=True)):
        full = y.shape[2 + axis]
        if not 0 <= extra < max(s, d):
            raise ValueError(f"output_padding {extra} with stride {s} and dilation {d}")
        if wanted is None:
            pair = written[axis], written[rank + axis]
            span = dilated(w.shape[2 + axis], d)
            begin, out = _transposed_axis(full, span, s, extra, pair, auto_pad)
        else:
            begin, out = _transposed_to(wanted[axis], full, s, extra, auto_pad)
        y = _cropped(y, 2 + axis, begin, out)
    return y if b is None else y + along_channels(wide(b), rank)
