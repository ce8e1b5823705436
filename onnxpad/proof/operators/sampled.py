"""The rule of DeformConv, which interpolates between cells."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof.call import Call, Value, rule
from onnxpad.proof.endings import NoResult, Undecided
from onnxpad.proof.floats import Numeric
from onnxpad.proof.formal import Formal
from onnxpad.proof.operators.referred import referred
from onnxpad.proof.operators.windowed import axes, biased

Array = NDArray[Any]


@rule("DeformConv")
def deform_conv(call: Call) -> list[Value]:
    """Taps read between cells, bilinearly, and 0 outside of the data (DeformConv-22).

    What a tap reads is a function of its offsets, of the data with zeros all round, and of where in
    it the tap starts.
    """
    x, w, offset = call.cells(0), call.cells(1), call.need(2)
    group, parts = int(call.get("group", 1)), int(call.get("offset_group", 1))
    fits = x.ndim == w.ndim == 4 and x.shape[1] == w.shape[1] * group and not w.shape[0] % group
    if (
        not fits
        or x.shape[1] % parts
        or tuple(call.get("kernel_shape", w.shape[2:])) != w.shape[2:]
    ):
        raise NoResult(f"DeformConv: x {x.shape} does not fit weight {w.shape}, group {group}")
    over = axes(call, w.shape[2:], w.shape[0])
    call.breaks("DeformConv has an offset for every window")
    counts, taps = [axis.count for axis in over], math.prod(w.shape[2:])
    if offset.shape != (x.shape[0], 2 * parts * taps, *counts):
        raise NoResult(f"DeformConv: offsets {offset.shape} for windows {counts}")
    if isinstance(call.d, Numeric):
        return referred(call)
    if not isinstance(call.d, Formal):
        return [call.made(call.d.fresh(None, (x.shape[0], w.shape[0], *counts)))]
    if offset.known:
        raise Undecided("DeformConv with offsets that are constants")
    moves = offset.cells.reshape(x.shape[0], parts, taps, 2, *counts)
    call.spend(8 * x.shape[0] * x.shape[1] * taps * math.prod(counts))
    cells = _named(call.d, x, moves, [axis.positions() for axis in over])
    if (mask := call.optional(3)) is not None:
        m = call.embedded(mask).reshape(x.shape[0], parts, 1, taps, *counts)
        shape = (x.shape[0], parts, x.shape[1] // parts, taps, *counts)
        cells = call.d.mul(cells.reshape(shape), m).reshape(cells.shape)
    n, c, m_count, outs = x.shape[0], w.shape[1], w.shape[0] // group, math.prod(counts)
    left = cells.reshape(n, group, c * taps, outs).swapaxes(2, 3)[:, :, None]
    y = call.multiply(left, w.reshape(1, group, m_count, 1, c * taps))
    return [call.made(biased(call, y.reshape(n, group * m_count, *counts), call.optional(4)))]


def _named(d: Formal, x: Array, moves: Array, positions: list[Array]) -> Array:
    """[N, C, taps, windows...] of x at offsets that are not known."""
    n, parts, taps, _, *counts = moves.shape
    kernel = [position.shape[1] for position in positions]
    made = np.zeros((n, x.shape[1], taps, *counts), np.int64)
    for batch, channel in np.ndindex(n, x.shape[1]):
        plane, first = _stripped(x[batch, channel])
        if plane.size == 0:
            continue
        key = (plane.shape, plane.tobytes())
        move = moves[batch, channel * parts // x.shape[1]]
        for tap, row, column in np.ndindex(taps, *counts):
            start = (
                int(positions[0][row, tap // kernel[1]]) - first[0],
                int(positions[1][column, tap % kernel[1]]) - first[1],
            )
            offsets = tuple(int(one) for one in move[tap, :, row, column])
            d.asked.update(offsets)
            made[batch, channel, tap, row, column] = d.name(("between", key, start, offsets))
    return made


def _stripped(plane: Array) -> tuple[Array, tuple[int, int]]:
    """A plane without the zeros all round it, and its first cell."""
    rows, columns = np.nonzero(plane)
    if rows.size == 0:
        return plane[:0], (0, 0)
    first = int(rows.min()), int(columns.min())
    return plane[first[0] : rows.max() + 1, first[1] : columns.max() + 1], first
