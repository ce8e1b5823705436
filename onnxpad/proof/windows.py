"""Which cell of an axis a window reads: tables of positions, -1 for a cell of padding."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof.endings import NoResult
from onnxpad.proof.sized import Size, larger

Array = NDArray[Any]
Table = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis under a sliding kernel; `begin` and `end` are its pads in cells."""

    size: Size
    kernel: int
    stride: int
    dilation: int
    begin: Size
    end: Size
    ceil: bool = False

    @property
    def span(self) -> int:
        """Cells from the first tap to the last."""
        return self.dilation * (self.kernel - 1) + 1

    @property
    def windows(self) -> Size:
        """Number of windows; with `ceil`, a last one that starts in the end padding is dropped.

        ONNX Operators, MaxPool-22. Raises NoResult where none fits.
        """
        room = self.size + self.begin + self.end - self.span
        steps = -(-room // self.stride) if self.ceil else room // self.stride
        if self.ceil and steps * self.stride >= self.size + self.begin:
            steps -= 1
        if int(steps) < 0:
            raise NoResult(
                f"a window of {self.span} cells does not fit {int(self.size)} cells with pads "
                f"({int(self.begin)}, {int(self.end)})"
            )
        return steps + 1

    @property
    def count(self) -> int:
        """`windows` as a number."""
        return int(self.windows)

    def positions(self) -> Table:
        """[windows, taps] of positions in the unpadded axis, as they come (some lie outside)."""
        starts = np.arange(self.count, dtype=np.int64) * self.stride - int(self.begin)
        return starts[:, None] + np.arange(self.kernel, dtype=np.int64) * self.dilation

    def table(self) -> Table:
        """`positions`, with -1 for all that lies outside."""
        return inside(self.positions(), int(self.size))

    def counted(self, *, padding: bool) -> Table:
        """[windows]: taps in the data, or with `padding` in data and pads, never beyond them."""
        places = self.positions()
        low, high = 0, int(self.size)
        if padding:
            low, high = -int(self.begin), high + int(self.end)
        return np.asarray(((places >= low) & (places < high)).sum(axis=1))


def inside(places: Table, size: int) -> Table:
    """Positions with -1 for those outside of an axis."""
    return np.where((places >= 0) & (places < size), places, -1)


def same_pads(size: Size, span: int, stride: int, *, lower: bool) -> tuple[Size, Size]:
    """(begin, end) of auto_pad SAME: ceil(size/stride) windows, the total clamped at 0."""
    total = larger((-(-size // stride) - 1) * stride + span - size, 0)
    return (total - total // 2, total // 2) if lower else (total // 2, total - total // 2)


def transposed_table(
    size: int, kernel: int, stride: int, dilation: int, begin: int, out: int
) -> Table:
    """[outputs, taps]: the input cell that a tap of a transposed convolution brings there."""
    reached = np.arange(out, dtype=np.int64)[:, None] + begin
    reached = reached - np.arange(kernel, dtype=np.int64) * dilation
    return np.where(reached % stride == 0, inside(reached // stride, size), -1)


def pad_table(size: int, begin: int, end: int, mode: str) -> Table:
    """[cells] of a padded axis; negative pads crop first, and the rest pads what is left.

    ONNX Operators, Pad-25. Raises NoResult for a crop of more cells than there are, and for a
    mirror that reaches beyond the data.
    """
    first, last = max(0, -begin), size - max(0, -end)
    if last < first:
        raise NoResult(f"pads ({begin}, {end}) crop more than {size} cells")
    kept, begin, end = last - first, max(0, begin), max(0, end)
    source = np.arange(-begin, kept + end, dtype=np.int64)
    if mode == "constant":
        return np.where((source >= 0) & (source < kept), source + first, -1)
    if begin or end:
        if kept == 0:
            raise NoResult(f"{mode} has no cell to repeat")
        if mode == "edge":
            source = source.clip(0, kept - 1)
        elif mode == "wrap":
            source = source % kept
        else:
            if max(begin, end) >= kept:
                raise NoResult(f"reflect by ({begin}, {end}) reaches beyond {kept} cells")
            source = kept - 1 - np.abs(kept - 1 - np.abs(source))
    return source + first


def gather(x: Array, tables: Sequence[Table], first: int, fill: float) -> Array:
    """Cells of the axes from `first` on by their tables; `fill` where a table says -1.

    Tables [windows, taps] make [..., windows of all axes, taps of all axes], tables [cells] make
    [..., cells].
    """
    for axis, table in enumerate(tables, start=first):
        if (table < 0).any():
            widths = [(0, 0)] * x.ndim
            widths[axis] = (0, 1)
            x = np.pad(x, widths, constant_values=fill)
    for axis in range(len(tables) - 1, -1, -1):
        x = x.take(tables[axis], first + axis)
    if tables and tables[0].ndim == 2:
        count = len(tables)
        order = [*range(first)]
        order += [first + 2 * axis for axis in range(count)]
        order += [first + 2 * axis + 1 for axis in range(count)]
        order += range(first + 2 * count, x.ndim)
        x = x.transpose(order)
    return x
