"""DeformConv, and operators that are taken as a whole."""

import hashlib
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

    Where offsets are not known, what a tap reads is a function of its offsets, of the data with
    zeros all round, and of where in it the tap starts.
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
    moves = offset.cells.reshape(x.shape[0], parts, taps, 2, *counts)
    call.spend(8 * x.shape[0] * x.shape[1] * taps * math.prod(counts))
    places = [axis.positions() for axis in over]
    if isinstance(call.d, Formal) and not offset.known:
        cells = _named(call.d, x, moves, places)
    else:
        cells = _sampled(call, x, moves.astype(np.float64), places)
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


def _sampled(call: Call, x: Array, moves: Array, positions: list[Array]) -> Array:
    """[N, C, taps, windows...] of x between its cells."""
    n, parts, taps = moves.shape[:3]
    kernel = [position.shape[1] for position in positions]
    rows = np.repeat(positions[0].T, kernel[1], axis=0)[:, :, None]
    columns = np.tile(positions[1].T, (kernel[0], 1))[:, None, :]
    where = np.stack([rows + 0 * columns, columns + 0 * rows], axis=1) + moves
    whole = np.floor(where)
    part, near = where - whole, whole.astype(np.int64)
    planes = x.reshape(n, parts, -1, *x.shape[2:])
    made = np.zeros((n, parts, planes.shape[2], taps, *where.shape[-2:]), x.dtype)
    for corner in ((0, 0), (0, 1), (1, 0), (1, 1)):
        inside = np.ones(near.shape[:3] + near.shape[4:], bool)
        weight, index = np.ones_like(part[:, :, :, 0]), []
        for axis, step in enumerate(corner):
            at = near[:, :, :, axis] + step
            inside &= (at >= 0) & (at < x.shape[2 + axis])
            index.append(at.clip(0, x.shape[2 + axis] - 1))
            weight = weight * (part[:, :, :, axis] if step else 1 - part[:, :, :, axis])
        batch = np.arange(n).reshape(n, 1, 1, 1, 1)
        group = np.arange(parts).reshape(1, parts, 1, 1, 1)
        read = planes[batch, group, :, index[0], index[1]]
        read = np.moveaxis(read, -1, 2)
        factor = call.d.embed(np.where(inside, weight, 0.0))[:, :, None]
        made = call.d.add(made, call.d.mul(read, factor))
    return made.reshape(n, x.shape[1], taps, *where.shape[-2:])


@rule("Softmax", "LogSoftmax", "Hardmax", "InstanceNormalization", "LRN", "CumSum")
@rule("LayerNormalization", "GroupNormalization")
def as_a_whole(call: Call) -> list[Value]:
    """A function of all cells at once that keeps the shape: the same for the same operands."""
    if isinstance(call.d, Numeric):
        return referred(call)
    if not isinstance(call.d, Formal):
        raise Undecided(f"{call.op} has no cells here")
    if call.outputs > 1:
        raise Undecided(f"{call.op} with {call.outputs} outputs")
    call.breaks(f"{call.op} reads an axis as a whole")
    found = hashlib.sha256(repr((call.op, call.opset, sorted(call.attributes.items()))).encode())
    for value in call.inputs:
        cells = None if value is None else np.ascontiguousarray(call.embedded(value))
        found.update(b"-" if cells is None else repr(cells.shape).encode() + cells.tobytes())
    x = call.cells(0)
    call.spend(x.size)
    key = found.digest()
    made = [call.d.name((call.op, key, at)) for at in range(x.size)]
    return [call.made(np.asarray(made, np.int64).reshape(x.shape))]
