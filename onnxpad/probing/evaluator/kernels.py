"""Convolutions, pools and pads over arrays in float64, and the integer ones, by the ONNX text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from onnxpad.errors import OnnxpadError

Array = NDArray[Any]
Slices = tuple[int | slice, ...]
PadMode = Literal["constant", "reflect", "edge", "wrap"]


class NotEvaluable(OnnxpadError):
    """The operator, or this use of it, has no meaning here that every reader would share."""


MOST_CELLS, LARGER = 1 << 25, 8
"""Cells of one padded tensor, 256 MiB, or so many times those of its input where that is more."""
MOST_PRODUCTS = 1 << 34
"""Multiplications of one operator, some seconds of work; each tap costs a few thousand more."""
_TAP = 1 << 12


def affordable(x: Array, shape: Sequence[int], taps: int = 1, each: int = 1) -> None:
    """Raise NotEvaluable, before anything is allocated, for what a file may not ask for.

    `shape` is the largest tensor made of `x`; every one of `taps` costs `each` multiplications.
    """
    cells = prod(max(0, int(size)) for size in shape)
    if cells > max(MOST_CELLS, LARGER * x.size):
        raise NotEvaluable(f"{cells:.3g} cells of an input of {x.size}, too many to evaluate")
    if taps * (each + _TAP) > MOST_PRODUCTS:
        raise NotEvaluable(f"{taps * each:.3g} products, too many to evaluate")


def span(kernel: int, dilation: int) -> int:
    """Extent of the dilated kernel in cells."""
    return dilation * (kernel - 1) + 1


def same_pads(size: int, extent: int, stride: int, *, lower: bool) -> tuple[int, int]:
    """(begin, end) of SAME for one axis of `size` cells and a dilated kernel of `extent` cells.

    ONNX Operators, Conv-22: the output has ceil(size/stride) windows; the total is clamped at 0.
    """
    windows = -(-size // stride)
    total = max(0, (windows - 1) * stride + extent - size)
    return (total - total // 2, total // 2) if lower else (total // 2, total - total // 2)


def window_count(
    size: int, begin: int, end: int, extent: int, stride: int, *, ceil_mode: bool = False
) -> int:
    """Windows over one padded axis; a ceil window that starts in the end padding is dropped.

    ONNX Operators, MaxPool-22. Raises NotEvaluable where the axis is shorter than the kernel, with
    ceil_mode by a stride or more.
    """
    room = size + begin + end - extent
    if (room < 0 and not (ceil_mode and room > -stride)) or begin < 0 or end < 0:
        what = "negative pads" if min(begin, end) < 0 else "a kernel wider than the padded axis"
        raise NotEvaluable(f"{what}: size {size}, pads ({begin}, {end}), dilated kernel {extent}")
    if not ceil_mode:
        return room // stride + 1
    count = -(-room // stride) + 1
    return count - 1 if (count - 1) * stride >= size + begin else count


def surrounded(x: Array, begins: Sequence[int], ends: Sequence[int], fill: float) -> Array:
    """`x` with its last len(begins) axes padded by `fill`."""
    lead = [(0, 0)] * (x.ndim - len(begins))
    return np.pad(x, lead + list(zip(begins, ends, strict=True)), constant_values=fill)


def reach(counts: Sequence[int], strides: Sequence[int], extents: Sequence[int]) -> list[int]:
    """Cells from the first to the last that any window touches, for each axis."""
    return [(n - 1) * s + e for n, s, e in zip(counts, strides, extents, strict=True)]


def overhang(
    sizes: Sequence[int], begins: Sequence[int], ends: Sequence[int], reached: Sequence[int]
) -> list[int]:
    """End pads that let every window lie inside: `ends`, or more where ceil_mode asks for it."""
    rows = zip(sizes, begins, ends, reached, strict=True)
    return [max(end, cells - size - begin) for size, begin, end, cells in rows]


def taps(
    padded: Array,
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    counts: Sequence[int],
) -> Iterator[tuple[tuple[int, ...], Array]]:
    """Every kernel offset (last axis fastest) and the view [..., *counts] of cells it reads."""
    for offset in product(*(range(k) for k in kernel)):
        cut = tuple(
            slice(o * d, o * d + (n - 1) * s + 1, s)
            for o, d, s, n in zip(offset, dilations, strides, counts, strict=True)
        )
        yield offset, trailing(padded, cut)


def trailing(array: Array, slices: Slices) -> Array:
    """`array` indexed on its last axes, every earlier axis whole."""
    index: Any = (..., *slices)
    view: Array = array[index]
    return view


def convolve(  # noqa: PLR0913 - the operands and attributes of the operator
    x: Array,
    w: Array,
    b: Array | None = None,
    *,
    strides: Sequence[int],
    dilations: Sequence[int],
    begins: Sequence[int],
    ends: Sequence[int],
    group: int = 1,
) -> Array:
    """Cross-correlation of x [N, C, *H] with w [M, C/group, *k]; pads in cells, filled with 0.

    ONNX Operators, Conv-22. Raises NotEvaluable for negative pads or sizes that do not fit.
    """
    kernel = w.shape[2:]
    check_operands(x, w, group, transposed=False)
    extents = [span(k, d) for k, d in zip(kernel, dilations, strict=True)]
    rows = zip(x.shape[2:], begins, ends, extents, strides, strict=True)
    counts = [window_count(*row) for row in rows]
    batch, filters = x.shape[0], w.shape[0]
    room = [size + p + q for size, p, q in zip(x.shape[2:], begins, ends, strict=True)]
    each = batch * filters * w.shape[1] * prod(counts)
    affordable(x, [*x.shape[:2], *room], prod(kernel), each)
    affordable(x, [batch, filters, *counts])
    padded = surrounded(x, begins, ends, 0)
    total = np.zeros((batch, group, filters // group, int(np.prod(counts))), dtype=x.dtype)
    for offset, view in taps(padded, kernel, strides, dilations, counts):
        cells = view.reshape(batch, group, x.shape[1] // group, -1)
        total += trailing(w, offset).reshape(1, group, filters // group, -1) @ cells
    y: Array = total.reshape(batch, filters, *counts)
    return y if b is None else y + b.reshape(-1, *[1] * len(kernel))


def transposed(  # noqa: PLR0913 - the operands and attributes of the operator
    x: Array,
    w: Array,
    b: Array | None = None,
    *,
    strides: Sequence[int],
    dilations: Sequence[int],
    begins: Sequence[int],
    ends: Sequence[int],
    output_padding: Sequence[int],
    group: int = 1,
) -> Array:
    """Transposed convolution of x [N, C, *H] with w [C, M/group, *k].

    The full output of (H-1)s + span cells loses `begins` and `ends`; `output_padding` lets zeros
    in at the end, before the bias (ONNX Operators, ConvTranspose-22). Raises NotEvaluable where
    nothing is left or a pad is negative.
    """
    kernel = w.shape[2:]
    check_operands(x, w, group, transposed=True)
    extents = [span(k, d) for k, d in zip(kernel, dilations, strict=True)]
    full = [(n - 1) * s + e for n, s, e in zip(x.shape[2:], strides, extents, strict=True)]
    sizes = [f + o - p - q for f, o, p, q in zip(full, output_padding, begins, ends, strict=True)]
    if min(sizes) < 1 or min((*begins, *ends)) < 0:
        raise NotEvaluable(f"pads {[*begins, *ends]} leave a transposed output of size {sizes}")
    batch, features = x.shape[0], w.shape[1]
    room = [max(f, p + n) for f, p, n in zip(full, begins, sizes, strict=True)]
    each = x.size * features
    affordable(x, [batch, group * features, *room], prod(kernel), each)
    buffer = np.zeros((batch, group * features, *room), dtype=x.dtype)
    cells = x.reshape(batch, group, x.shape[1] // group, -1)
    weights = w.reshape(group, -1, features, *kernel)
    for offset in product(*(range(k) for k in kernel)):
        part = trailing(weights, offset).transpose(0, 2, 1)[None] @ cells
        rows = zip(offset, dilations, strides, x.shape[2:], strict=True)
        slices = tuple(slice(o * d, o * d + (n - 1) * s + 1, s) for o, d, s, n in rows)
        written = trailing(buffer, slices)
        written += part.reshape(batch, group * features, *x.shape[2:])
    crop = tuple(slice(p, p + n) for p, n in zip(begins, sizes, strict=True))
    y = trailing(buffer, crop)
    return y if b is None else y + b.reshape(-1, *[1] * len(kernel))


def check_operands(x: Array, w: Array, group: int, *, transposed: bool) -> None:
    """Raise NotEvaluable where the channels of x, w and group contradict each other."""
    channels = w.shape[0] if transposed else w.shape[1] * group
    if x.ndim != w.ndim or x.shape[1] != channels or w.shape[0] % group:
        raise NotEvaluable(f"input {x.shape} does not fit weight {w.shape} with group {group}")


_PASSES = 8
"""What a pool does with a cell costs about so many multiplications."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Where the windows of a pool lie; every sequence has one entry per spatial axis."""

    kernel: Sequence[int]
    strides: Sequence[int]
    dilations: Sequence[int]
    begins: Sequence[int]
    ends: Sequence[int]
    ceil_mode: bool = False

    def check(self, x: Array) -> None:
        """Raise NotEvaluable where its windows over `x` are more than may be worked out."""
        sizes = x.shape[2:]
        rows = zip(sizes, self.begins, self.room(sizes), strict=True)
        each = prod(x.shape[:2]) * prod(self.counts(sizes)) * _PASSES
        affordable(x, [*x.shape[:2], *map(sum, rows)], prod(self.kernel), each)

    def counts(self, sizes: Sequence[int]) -> list[int]:
        """Windows per axis over an input of these sizes; raises NotEvaluable."""
        rows = zip(sizes, self.begins, self.ends, self._extents(), self.strides, strict=True)
        return [window_count(*row, ceil_mode=self.ceil_mode) for row in rows]

    def room(self, sizes: Sequence[int]) -> list[int]:
        """End pads with which all windows lie inside."""
        reached = reach(self.counts(sizes), self.strides, self._extents())
        return overhang(sizes, self.begins, self.ends, reached)

    def _extents(self) -> list[int]:
        return [span(k, d) for k, d in zip(self.kernel, self.dilations, strict=True)]


def max_pool(x: Array, pool: Pool, *, storage_order: int = 0) -> tuple[Array, Array]:
    """Largest cell of every window, and its flat index into x (ONNX Operators, MaxPool-22).

    Padding counts as the lowest value and is never the place of a maximum while the window holds
    a real cell; of equal cells the first wins. A window of padding only has index -1.
    """
    pool.check(x)
    lowest = np.iinfo(x.dtype).min if x.dtype.kind in "iu" else -np.inf
    sizes = x.shape[2:]
    counts, ends = pool.counts(sizes), pool.room(sizes)
    padded = surrounded(x, pool.begins, ends, lowest)
    places = surrounded(_flat_indices(x.shape, storage_order), pool.begins, ends, -1)
    best = np.full((*x.shape[:2], *counts), lowest, dtype=x.dtype)
    where = np.full(best.shape, -1, dtype=np.int64)
    steps = (pool.kernel, pool.strides, pool.dilations, counts)
    for (_, cells), (_, indices) in zip(taps(padded, *steps), taps(places, *steps), strict=True):
        better = (cells > best) | ((where < 0) & (indices >= 0))
        best = np.where(better, cells, best)
        where = np.where(better, indices, where)
    return best, where


def _flat_indices(shape: tuple[int, ...], storage_order: int) -> Array:
    sizes = shape[2:]
    flat = np.arange(int(np.prod(sizes)), dtype=np.int64)
    one = flat.reshape(sizes[::-1]).transpose() if storage_order else flat.reshape(sizes)
    planes = np.arange(shape[0] * shape[1], dtype=np.int64).reshape(*shape[:2], *[1] * len(sizes))
    indices: Array = planes * flat.size + one
    return indices


def average_pool(x: Array, pool: Pool, *, count_include_pad: bool = False) -> Array:
    """Mean of every window (ONNX Operators, AveragePool-22).

    The divisor counts the cells inside the input, and with `count_include_pad` those inside the
    declared pads too; cells that only ceil_mode reaches never count. A window that counts no
    cell gives 0, as in onnxruntime 1.31.1.
    """
    pool.check(x)
    sizes = x.shape[2:]
    ends = pool.room(sizes)
    steps = (pool.kernel, pool.strides, pool.dilations, pool.counts(sizes))
    total = sum(cells for _, cells in taps(surrounded(x, pool.begins, ends, 0), *steps))
    fill = 1 if count_include_pad else 0
    counted = surrounded(np.ones(sizes, dtype=x.dtype), pool.begins, pool.ends, fill)
    extra = [far - near for far, near in zip(ends, pool.ends, strict=True)]
    counted = surrounded(counted, [0] * len(sizes), extra, 0)
    divisor = sum(cells for _, cells in taps(counted, *steps))
    mean: Array = np.asarray(total) / np.maximum(divisor, 1)
    return mean


def lp_pool(x: Array, pool: Pool, *, p: float = 2) -> Array:
    """(sum |x|^p)^(1/p) of every window; padding adds nothing (ONNX Operators, LpPool-22)."""
    pool.check(x)
    sizes = x.shape[2:]
    powers = surrounded(np.abs(x) ** p, pool.begins, pool.room(sizes), 0)
    steps = (pool.kernel, pool.strides, pool.dilations, pool.counts(sizes))
    norm: Array = np.asarray(sum(cells for _, cells in taps(powers, *steps))) ** (1 / p)
    return norm


def pad(
    x: Array,
    begins: Sequence[int],
    ends: Sequence[int],
    mode: PadMode = "constant",
    value: float | Array = 0,
) -> Array:
    """`x` padded on every axis; negative pads crop first (ONNX Operators, Pad-25).

    Raises NotEvaluable where a crop leaves nothing or `reflect` reaches beyond the far cell.
    """
    crop = []
    for size, begin, end in zip(x.shape, begins, ends, strict=True):
        first, last = max(0, -begin), size - max(0, -end)
        if first > last:
            raise NotEvaluable(f"Pad crops {begin} and {end} from an axis of {size} cells")
        crop.append(slice(first, last))
    affordable(x, [size + b + e for size, b, e in zip(x.shape, begins, ends, strict=True)])
    kept = x[tuple(crop)]
    widths = [(max(0, b), max(0, e)) for b, e in zip(begins, ends, strict=True)]
    if mode == "constant":
        return np.pad(kept, widths, constant_values=value)
    for size, width in zip(kept.shape, widths, strict=True):
        if max(width) > 0 and (size == 0 or (mode == "reflect" and max(width) >= size)):
            raise NotEvaluable(f"Pad mode {mode} cannot fill {width} around {size} cells")
    return np.pad(kept, widths, mode=mode)


@dataclass(frozen=True, slots=True)
class Requantised:
    """A quantised result before it is rounded: `real` counts steps of y's scale, zero included."""

    real: Array
    dtype: np.dtype[Any]

    def _ends(self) -> np.iinfo[Any]:
        if self.dtype.kind not in "iu":
            raise NotEvaluable(f"rounding to {self.dtype.name} is not computed here")
        return np.iinfo(self.dtype)

    def rounded(self) -> Array:
        """Round half to even and saturate, as QuantizeLinear does."""
        info = self._ends()
        whole: Array = np.clip(np.rint(self.real), info.min, info.max).astype(self.dtype)
        return whole


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
