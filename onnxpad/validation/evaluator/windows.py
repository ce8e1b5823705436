"""Windows that slide over padded arrays of layout [N, C, *spatial]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.errors import OnnxpadError

Array = NDArray[Any]
Place = tuple[int | slice, ...]


class NotEvaluable(OnnxpadError):
    """The operator, or this use of it, has no meaning here that every reader would share."""


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


def trailing(array: Array, place: Place) -> Array:
    """`array` indexed on its last axes, every earlier axis whole."""
    index: Any = (..., *place)
    view: Array = array[index]
    return view
