"""Sliding windows and pools in plain numpy, written from the ONNX operator text.

Test-only: imports nothing from onnxpad, so that it can judge it. Tensors are `[N, C, spatial...]`,
`pads` is in attribute order `[begin_1..begin_n, end_1..end_n]`, floats are computed in float64.
Where the text, the reference evaluator and onnxruntime disagree, the rule is named at the function.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Ints = Sequence[int] | None


@dataclass(frozen=True)
class Window:
    """One spatial axis under a sliding kernel; `begin` and `end` are its resolved pads, in cells.

    The number of outputs follows the pooling text: rounded up with `ceil`, less the last window
    where it would start at or beyond the end padding (MaxPool-22).
    """

    size: int
    kernel: int
    stride: int
    dilation: int
    begin: int
    end: int
    ceil: bool = False

    @property
    def out(self) -> int:
        room = self.size + self.begin + self.end - dilated(self.kernel, self.dilation)
        last = -(-room // self.stride) if self.ceil else room // self.stride
        if self.ceil and last * self.stride >= self.size + self.begin:
            last -= 1
        return last + 1

    def cells(self) -> Array:
        """Index in the unpadded axis of every cell that is read, `[out, kernel]`."""
        starts = np.arange(self.out) * self.stride - self.begin
        return starts[:, None] + np.arange(self.kernel) * self.dilation


def wide(x: Array) -> Array:
    """x in the type that the oracle computes in: int64 or float64."""
    return x.astype(np.int64 if x.dtype.kind in "iub" else np.float64)


def along_channels(values: Array, rank: int) -> Array:
    """A value per channel, shaped to broadcast against `[N, C, spatial...]`."""
    return values.reshape(-1, *(1,) * rank)


def dilated(kernel: int, dilation: int) -> int:
    """Cells that a kernel covers from its first to its last tap."""
    return dilation * (kernel - 1) + 1


def resolve_same(size: int, k: int, s: int, d: int, lower: bool) -> tuple[int, int]:
    """(begin, end) of auto_pad SAME for Conv and pools: output ceil(size / s), clamped at 0.

    The odd cell goes to the end for SAME_UPPER and to the begin for SAME_LOWER.
    """
    outputs = -(-size // s)
    total = max(0, (outputs - 1) * s + dilated(k, d) - size)
    small = total // 2
    return (total - small, small) if lower else (small, total - small)


def per_axis(values: Ints, rank: int, default: int) -> list[int]:
    """An optional attribute with one value per axis (or two, with `rank` doubled)."""
    listed = [default] * rank if values is None else [int(v) for v in values]
    if len(listed) != rank:
        raise ValueError(f"{listed} has {len(listed)} values, {rank} are needed")
    return listed


def explicit_pads(pads: Ints, auto_pad: str, rank: int) -> list[int]:
    """The written pads; refuses `pads` together with an auto_pad, and negative ones."""
    if auto_pad not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise ValueError(f"unknown auto_pad {auto_pad!r}")
    if auto_pad != "NOTSET" and pads is not None:
        raise ValueError(f"auto_pad {auto_pad} together with pads {list(pads)}")
    written = per_axis(pads, 2 * rank, 0)
    if min(written, default=0) < 0:
        raise ValueError(f"negative pads {written}")
    return written


def place_windows(
    spatial: Sequence[int],
    kernel: Sequence[int],
    *,
    strides: Ints = None,
    dilations: Ints = None,
    pads: Ints = None,
    auto_pad: str = "NOTSET",
    ceil_mode: bool = False,
) -> tuple[Window, ...]:
    """One Window per spatial axis, auto_pad resolved; an empty auto_pad means NOTSET.

    Raises ValueError where attributes contradict each other or an axis holds no window. Over an
    axis of 0 cells pads may make some (onnxruntime 1.31.1 runs such a Conv, not pools); SAME makes
    none.
    """
    rank, auto_pad = len(spatial), auto_pad or "NOTSET"
    written = explicit_pads(pads, auto_pad, rank)
    strides, dilations = per_axis(strides, rank, 1), per_axis(dilations, rank, 1)
    windows = []
    for axis, (size, k) in enumerate(zip(spatial, per_axis(kernel, rank, 1), strict=True)):
        s, d = strides[axis], dilations[axis]
        begin, end = written[axis], written[rank + axis]
        if auto_pad.startswith("SAME"):
            begin, end = resolve_same(size, k, s, d, auto_pad == "SAME_LOWER")
        window = Window(size, k, s, d, begin, end, ceil_mode)
        if (size < 1 and auto_pad.startswith("SAME")) or window.out < 1:
            raise ValueError(f"axis {axis} holds no window: {window}")
        windows.append(window)
    return tuple(windows)


def _spread(table: Array, axis: int, rank: int) -> Array:
    """An axis's `[out, kernel]` table laid out to broadcast in `[outs..., kernels...]`."""
    shape = [1] * (2 * rank)
    shape[axis], shape[rank + axis] = table.shape
    return table.reshape(shape)


def inside(windows: Sequence[Window], *, padded: bool) -> Array:
    """Which window cells are data, or with `padded` data or declared padding (never overhang).

    Shape `[outs..., kernels...]`. Source: AveragePool-22, count_include_pad with ceil_mode.
    """
    tables = []
    for axis, w in enumerate(windows):
        cells, extra = w.cells(), (w.begin, w.end) if padded else (0, 0)
        held = (cells >= -extra[0]) & (cells < w.size + extra[1])
        tables.append(_spread(held, axis, len(windows)))
    return reduce(np.logical_and, tables)


def gather(x: Array, windows: Sequence[Window], fill: float) -> Array:
    """The cells of every window, `[N, C, outs..., kernels...]`, `fill` outside the data."""
    rank = len(windows)
    near = [_spread(w.cells().clip(0, max(0, w.size - 1)), a, rank) for a, w in enumerate(windows)]
    index: tuple[Any, ...] = (slice(None), slice(None), *near)
    held = np.pad(x, [(0, 0), (0, 0), *((0, w.size == 0) for w in windows)])
    return np.where(inside(windows, padded=False), held[index], fill)


def lowest(dtype: np.dtype[Any]) -> float:
    """What padding is worth in a MaxPool: -inf, or the smallest integer of the type."""
    return np.iinfo(dtype).min if dtype.kind in "iu" else -math.inf


def pool_max(
    x: Array, kernel: Sequence[int], *, storage_order: int = 0, **geometry: Any
) -> tuple[Array, Array]:
    """MaxPool: (values in x's dtype, int64 Indices); `geometry` as for `place_windows`.

    Indices count over N, C and the unpadded spatial axes, the last axis fastest (the first with
    storage_order 1); the first of equal cells wins. A window of padding alone gives -inf (the
    smallest integer) and index -1. NaN is refused: runtimes do not agree on it.
    """
    if x.dtype.kind not in "iu" and np.isnan(x).any():
        raise ValueError("MaxPool of NaN is not defined")
    windows = place_windows(x.shape[2:], kernel, **geometry)
    rank = len(windows)
    taps = tuple(range(-rank, 0))
    values = gather(x, windows, lowest(x.dtype))
    best = values.max(axis=taps)
    wins = (values == np.expand_dims(best, taps)) & inside(windows, padded=False)

    order = range(rank) if storage_order else reversed(range(rank))
    address, weight = np.zeros((1,) * (2 * rank), np.int64), 1
    for axis in order:
        address = address + _spread(windows[axis].cells(), axis, rank) * weight
        weight *= windows[axis].size
    flat = (*best.shape, math.prod(w.kernel for w in windows))
    first = wins.reshape(flat).argmax(axis=-1)[..., None]
    table = np.broadcast_to(address, wins.shape).reshape(flat)
    picked = np.take_along_axis(table, first, axis=-1)[..., 0]
    plane = np.arange(math.prod(x.shape[:2])).reshape(*x.shape[:2], *(1,) * rank) * weight
    indices = np.where(wins.any(axis=taps), plane + picked, -1)
    return best.astype(x.dtype), indices.astype(np.int64)


def pool_average(
    x: Array, kernel: Sequence[int], *, count_include_pad: bool = False, **geometry: Any
) -> Array:
    """AveragePool in float64; `geometry` as for `place_windows`.

    The divisor counts data cells, and with count_include_pad also declared padding, but never the
    overhang of ceil_mode. A window without a counted cell gives 0.
    """
    windows = place_windows(x.shape[2:], kernel, **geometry)
    taps = tuple(range(-len(windows), 0))
    total = gather(x.astype(np.float64), windows, 0.0).sum(axis=taps)
    counted = inside(windows, padded=count_include_pad).sum(axis=taps)
    mean: Array = total / np.maximum(counted, 1)
    return mean


def pool_lp(x: Array, kernel: Sequence[int], *, p: int = 2, **geometry: Any) -> Array:
    """LpPool in float64, (sum |x|^p)^(1/p); padding adds 0; `geometry` as for `place_windows`."""
    windows = place_windows(x.shape[2:], kernel, **geometry)
    cells = gather(np.abs(x.astype(np.float64)), windows, 0.0)
    total: Array = (cells**p).sum(axis=tuple(range(-len(windows), 0))) ** (1.0 / p)
    return total
