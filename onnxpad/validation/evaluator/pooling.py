"""MaxPool, AveragePool and LpPool over arrays [N, C, *spatial]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onnxpad.validation.evaluator.windows import (
    Array,
    overhang,
    reach,
    span,
    surrounded,
    taps,
    window_count,
)


@dataclass(frozen=True, slots=True)
class Pool:
    """Where the windows of a pool lie; every sequence has one entry per spatial axis."""

    kernel: Sequence[int]
    strides: Sequence[int]
    dilations: Sequence[int]
    begins: Sequence[int]
    ends: Sequence[int]
    ceil_mode: bool = False

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
    sizes = x.shape[2:]
    powers = surrounded(np.abs(x) ** p, pool.begins, pool.room(sizes), 0)
    steps = (pool.kernel, pool.strides, pool.dilations, pool.counts(sizes))
    norm: Array = np.asarray(sum(cells for _, cells in taps(powers, *steps))) ** (1 / p)
    return norm
