"""Operators that move cells: Pad, Slice, Concat, Transpose and what changes shapes."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof import paces
from onnxpad.proof.call import Call, Value, joined, rule
from onnxpad.proof.endings import NoResult, Undecided
from onnxpad.proof.formal import Formal
from onnxpad.proof.windows import Axis, gather, pad_table, transposed_table

Array = NDArray[Any]
_ENDLESS = 2**31 - 1
_MODES = ("constant", "reflect", "edge", "wrap")


def normal(axis: int, rank: int) -> int:
    """An axis counted from the front."""
    if not -rank <= axis < max(rank, 1):
        raise NoResult(f"axis {axis} of a tensor of {rank} axes")
    return axis % rank if rank else 0


def together(call: Call, indices: range) -> tuple[list[Array], bool]:
    """Operands as numbers where all are known, else as cells; and whether they are known."""
    values = [call.need(at) for at in indices]
    known = all(value.known for value in values)
    return [value.cells if known else call.embedded(value) for value in values], known


@rule("Pad")
@rule("Pad", domain="com.microsoft")
def pad(call: Call) -> list[Value]:
    """ONNX Operators, Pad-25; Pad-1 calls the pads `paddings`."""
    data, rank = call.need(0), call.need(0).cells.ndim
    pads = call.ints(1, "paddings" if "paddings" in call.attributes else "pads")
    listed = call.ints(3) if call.optional(3) is not None else list(range(rank))
    mode = call.get("mode", "constant")
    if pads is None or listed is None or mode not in _MODES:
        raise Undecided(f"Pad in mode {mode} with pads {pads}")
    spots = [normal(axis, rank) for axis in listed]
    if len(set(spots)) < len(spots) or len(pads) != 2 * len(spots):
        raise NoResult(f"Pad: {len(pads)} pads for the axes {listed}")
    fill, known = _fill(call, data)
    x = data.cells if known else call.embedded(data)
    call.notes.tie(call.computed(3))
    origins = _origins(call, 1, len(pads))
    for at, axis in enumerate(spots):
        begin, end = pads[at], pads[len(spots) + at]
        if begin == end == 0:
            continue
        size = x.shape[axis]
        if mode == "reflect" and max(begin, end) >= size - max(0, -begin) - max(0, -end):
            call.reads("a mirror wider than the data has no result")
        call.spend(x.size / max(size, 1) * max(0, size + begin + end))
        reach = abs(begin) + abs(end) if mode == "constant" else 2 * (abs(begin) + abs(end)) + 2
        call.window(axis, reach)
        call.notes.tie(data.axes[axis] | origins[at] | origins[len(spots) + at])
        x = gather(x, [pad_table(size, begin, end, mode)], axis, fill)
    return [Value(x, data.dtype, known=known)]


def _origins(call: Call, index: int, count: int) -> list[int]:
    """Where the numbers of an operand came from."""
    value = call.optional(index)
    if value is None or not value.sized:
        return [0] * count
    return [one.sizes for one in paces.listed(value)]


def _fill(call: Call, data: Value) -> tuple[Any, bool]:
    """What a constant Pad writes, and whether data and value are known numbers."""
    value = call.optional(2)
    if value is None:
        number = np.asarray(call.get("value", 0.0)).astype(data.dtype)
        value = Value(number, data.dtype, known=True)
    if value.cells.size != 1:
        raise NoResult(f"Pad: {value.cells.size} constant values")
    if data.known and value.known:
        return value.cells.reshape(()).item(), True
    if call.get("mode", "constant") != "constant":
        return 0, False
    return call.embedded(value).reshape(()).item(), False


@rule("Slice")
def slice_(call: Call) -> list[Value]:
    """Bounds are attributes before opset 10; they count from the end where they are negative."""
    x, rank = call.need(0).cells, call.need(0).cells.ndim
    starts, ends = call.ints(1, "starts"), call.ints(2, "ends")
    if starts is None or ends is None or len(starts) != len(ends):
        raise NoResult("Slice without starts or ends")
    axes = call.ints(3, "axes") or list(range(len(starts)))
    steps = call.ints(4) or [1] * len(starts)
    if len(axes) != len(starts) or len(steps) != len(starts):
        raise NoResult("Slice: lists of different lengths")
    spots = [normal(axis, rank) for axis in axes]
    if len(set(spots)) < len(spots) or 0 in steps:
        raise NoResult("Slice: an axis twice, or a step of 0")
    call.notes.tie(call.computed(3, 4))
    _clamped(call, spots)
    origins = [_origins(call, at, len(starts)) for at in (1, 2)]
    cut: list[Any] = [slice(None)] * rank
    for at, (axis, step) in enumerate(zip(spots, steps, strict=True)):
        size, reach = x.shape[axis], abs(step)
        cut[axis] = slice(*_bounds(size, starts[at], ends[at], step))
        for bound, origin in ((starts[at], origins[0][at]), (ends[at], origins[1][at])):
            call.notes.tie(call.need(0).axes[axis] | origin)
            if origin:
                reach += min(abs(bound), abs(size - abs(bound)))
            elif abs(bound) < _ENDLESS:
                reach += abs(bound)
        call.window(axis, reach, abs(step))
    return [call.moved(x[tuple(cut)])]


def _clamped(call: Call, spots: list[int]) -> None:
    """Note where bounds that were computed from sizes pass the ends of their axes."""
    for value in (call.optional(1), call.optional(2)):
        if value is not None and value.sized:
            for axis, one in zip(spots, paces.listed(value), strict=True):
                paces.clamped(call, one, paces.of_axis(call.need(0), axis))


def _bounds(size: int, start: int, end: int, step: int) -> tuple[int, int | None, int]:
    """What Slice-13 makes of its bounds, as a Python slice."""
    start, end = (one + size if one < 0 else one for one in (start, end))
    if step > 0:
        return min(max(start, 0), size), min(max(end, 0), size), step
    start, end = min(max(start, 0), size - 1), min(max(end, -1), size - 1)
    return start, (None if end < 0 else end), step


@rule("Concat")
def concat(call: Call) -> list[Value]:
    """Side by side along an axis."""
    arrays, known = together(call, range(len(call.inputs)))
    rank = arrays[0].ndim
    axis = normal(int(call.get("axis", 1)), rank)
    shapes = [(array.shape[:axis], array.shape[axis + 1 :], array.ndim) for array in arrays]
    values = [call.need(at) for at in range(len(arrays)) if arrays[at].ndim == rank]
    for other in set(range(rank)) - {axis}:
        paces.fit(call, [paces.sized(value, other) for value in values])
    if any(shape != shapes[0] for shape in shapes):
        raise NoResult(f"Concat of shapes {[array.shape for array in arrays]}")
    fixed = sum(value.shape[axis] for value in values if not value.axes[axis])
    call.notes.window(
        joined(value.axes[axis] for value in map(call.need, range(len(arrays)))), fixed
    )
    call.spend(sum(array.size for array in arrays))
    made = np.concatenate(arrays, axis=axis)
    return [Value(made, call.need(0).dtype, known=known)]


@rule("Split")
def split(call: Call) -> list[Value]:
    """Equal parts, the last one smaller, where no sizes are given."""
    x, parts = call.need(0).cells, call.ints(1, "split")
    axis = normal(int(call.get("axis", 0)), x.ndim)
    call.breaks("Split cuts an axis into parts", axis)
    if parts is None:
        count = int(call.get("num_outputs", call.outputs))
        step = -(-x.shape[axis] // count)
        parts = [min(step, max(0, x.shape[axis] - at * step)) for at in range(count)]
        if "num_outputs" not in call.attributes and len(set(parts)) > 1:
            raise NoResult(f"Split of {x.shape[axis]} cells into {count} equal parts")
    if sum(parts) != x.shape[axis] or min(parts, default=0) < 0:
        raise NoResult(f"Split of {x.shape[axis]} cells into {parts}")
    places = np.cumsum(parts)[:-1].tolist()
    return [call.moved(part) for part in np.split(x, places, axis)]


@rule("Transpose")
def transpose(call: Call) -> list[Value]:
    """Axes in another order; all turned round by default."""
    x = call.need(0).cells
    perm = call.get("perm") or list(range(x.ndim))[::-1]
    if sorted(perm) != list(range(x.ndim)):
        raise NoResult(f"perm {list(perm)} of {x.ndim} axes")
    return [call.moved(x.transpose(perm))]


@rule("Squeeze")
def squeeze(call: Call) -> list[Value]:
    """Axes of size 1 go."""
    x = call.need(0).cells
    axes = call.ints(1, "axes")
    if axes is None:
        call.breaks("Squeeze without axes hangs on which sizes are 1")
        spots = [at for at, size in enumerate(x.shape) if size == 1]
    else:
        spots = [normal(axis, x.ndim) for axis in axes]
    if spots:
        call.breaks("Squeeze of an axis of an open size", *spots)
    if any(x.shape[at] != 1 for at in spots):
        raise NoResult(f"Squeeze of axes {axes} of shape {x.shape}")
    return [call.moved(x.reshape([size for at, size in enumerate(x.shape) if at not in spots]))]


@rule("Unsqueeze")
def unsqueeze(call: Call) -> list[Value]:
    """New axes of size 1."""
    x, axes = call.need(0).cells, call.ints(1, "axes") or []
    rank = x.ndim + len(axes)
    spots = {normal(axis, rank) for axis in axes}
    if len(spots) < len(axes):
        raise NoResult(f"Unsqueeze of axes {axes}")
    old = iter(x.shape)
    return [call.moved(x.reshape([1 if at in spots else next(old) for at in range(rank)]))]


@rule("Reshape", "Flatten")
def reshape(call: Call) -> list[Value]:
    """The same cells in another shape."""
    value = call.need(0)
    x = value.cells
    if call.op == "Flatten":
        axis = int(call.get("axis", 1))
        axis = axis + x.ndim if axis < 0 else axis
        wanted = [math.prod(x.shape[:axis]), math.prod(x.shape[axis:])]
    else:
        wanted = call.ints(1, "shape") or []
        if not call.get("allowzero", 0):
            if any(size == 0 and at >= x.ndim for at, size in enumerate(wanted)):
                raise NoResult(f"Reshape of {x.shape} to {wanted}")
            wanted = [x.shape[at] if size == 0 else size for at, size in enumerate(wanted)]
    rest = math.prod(size for size in wanted if size != -1)
    fits = wanted.count(-1) <= 1 and (
        x.size % rest == 0 if -1 in wanted and rest else rest == x.size and -1 not in wanted
    )
    if not fits or min(wanted, default=1) < -1:
        raise NoResult(f"Reshape of {x.shape} to {wanted}")
    call.breaks(f"{call.op} counts the cells of several axes")
    return [call.moved(x.reshape(wanted))]


@rule("Shape")
def shape(call: Call) -> list[Value]:
    """Sizes as numbers."""
    value = call.need(0)
    axes = range(len(value.shape))[slice(call.get("start", 0), call.get("end"))]
    made = np.asarray([value.shape[axis] for axis in axes], np.int64)
    grown = tuple(paces.of_axis(value, axis) for axis in axes)
    is_open = any(one.sizes for one in grown)
    return [Value(made, made.dtype, known=True, paces=grown if is_open else None)]


@rule("Size")
def size_(call: Call) -> list[Value]:
    """Number of cells."""
    call.breaks("Size multiplies sizes")
    count = np.asarray(call.need(0).cells.size, np.int64)
    return [Value(count, np.dtype(np.int64), known=True)]


@rule("Expand")
def expand(call: Call) -> list[Value]:
    """Broadcast to a shape."""
    x, wanted = call.need(0).cells, call.ints(1) or []
    ends = range(1, min(x.ndim, len(wanted)) + 1)
    numbers = paces.listed(call.need(1))
    for at in ends:
        found = [(numbers[-at], wanted[-at]), paces.sized(call.need(0), -at)]
        paces.fit(call, [one for one in found if one[0].number != 1])
    try:
        made = np.broadcast_shapes(x.shape, tuple(wanted))
    except ValueError:
        raise NoResult(f"Expand of {x.shape} to {wanted}") from None
    call.spend(math.prod(made))
    return [call.moved(np.broadcast_to(x, made))]


@rule("ConstantOfShape")
def constant_of_shape(call: Call) -> list[Value]:
    """One number everywhere."""
    value = call.get("value", np.zeros(1, np.float32))
    sizes = call.ints(0) or []
    if min(sizes, default=0) < 0 or value.size != 1:
        raise NoResult(f"ConstantOfShape of {sizes}")
    call.spend(math.prod(sizes))
    made = np.full(sizes, value.reshape(()), value.dtype)
    return [Value(made, value.dtype, known=True)]


@rule("Gather")
def gather_(call: Call) -> list[Value]:
    """Rows of an axis by index."""
    value, index = call.need(0), call.need(1)
    axis = normal(int(call.get("axis", 0)), value.cells.ndim)
    if not index.known:
        return [_picked(call, index, axis)]
    size = value.cells.shape[axis]
    if ((index.cells < -size) | (index.cells >= size)).any():
        raise NoResult("Gather beyond the axis")
    call.breaks("Gather takes cells of an axis by number", axis)
    if any(index.axes):
        call.notes.breaks("Gather by a list whose length hangs on sizes")
    call.spend(value.cells.size / max(size, 1) * max(index.cells.size, 1))
    return [call.moved(value.cells.take(index.cells.astype(np.int64), axis))]


def _picked(call: Call, index: Value, axis: int) -> Value:
    """By indices that are data: a function of the index and of all cells that it chooses from."""
    call.breaks("Gather takes cells of an axis by number", axis)
    cells = np.moveaxis(call.cells(0), axis, -1)
    count, size = math.prod(cells.shape[:-1]), max(1, index.cells.size)
    call.spend(cells.size + count * size)
    if not isinstance(call.d, Formal):
        places = index.cells.astype(np.int64)
        if ((places < -cells.shape[-1]) | (places >= cells.shape[-1])).any():
            raise NoResult("Gather beyond the axis")
        return call.made(call.cells(0).take(places, axis))
    flat = np.ascontiguousarray(cells).reshape(count, -1)
    names = [call.d.name(("column", row.tobytes())) for row in flat]
    columns = np.asarray(names, np.int64).reshape(cells.shape[:-1])
    call.d.asked.update(np.unique(flat).tolist())
    wide = columns.reshape(*columns.shape[:axis], *[1] * index.cells.ndim, *columns.shape[axis:])
    chosen = index.cells.reshape(*index.cells.shape, *[1] * (columns.ndim - axis))
    return call.made(call.d.function("Gather", {}, wide, chosen))


@rule("Identity")
def identity(call: Call) -> list[Value]:
    """The same."""
    return [call.need(0)]


@rule("Dropout")
def dropout(call: Call) -> list[Value]:
    """Nothing, unless it trains."""
    training = call.optional(2)
    if call.opset < 7 and not call.get("is_test", 0):
        raise Undecided("Dropout that trains")
    if training is not None and not (training.known and not training.cells.any()):
        raise Undecided("Dropout that trains")
    if call.outputs > 1:
        raise Undecided("the mask of a Dropout")
    return [call.need(0)]


@rule("Where")
def where(call: Call) -> list[Value]:
    """By a condition, cell by cell."""
    condition = call.need(0)
    if not condition.known:
        return [_chosen_by(call, condition)]
    (a, b), known = together(call, range(1, 3))
    paces.broadcast(call, [call.need(at) for at in range(3)])
    if condition.sources and not known:
        call.notes.breaks("Where chooses data by sizes")
    made = np.where(condition.cells, a, b)
    call.spend(made.size)
    return [Value(made, call.need(1).dtype, known=known)]


def _chosen_by(call: Call, condition: Value) -> Value:
    """By a condition that is data: a function of it and of both cells, where they differ."""
    paces.broadcast(call, [call.need(at) for at in range(3)])
    cells = condition.cells, call.cells(1), call.cells(2)
    try:
        asked, a, b = np.broadcast_arrays(*cells)
    except ValueError:
        raise NoResult(f"Where of shapes {[one.shape for one in cells]}") from None
    call.spend(3 * asked.size)
    if isinstance(call.d, Formal):
        made = np.where(a == b, a, call.d.function("Where", {}, asked, a, b))
    else:
        made = np.where(asked != 0, a, b)
    return call.made(made, call.need(1).dtype)


@rule("Col2Im")
def col2im(call: Call) -> list[Value]:
    """Blocks added up into an image (Col2Im-18), axis after axis."""
    x, image, block = call.cells(0), call.ints(1) or [], call.ints(2) or []
    rank = len(image)
    strides, dilations = (call.get(name, [1] * rank) for name in ("strides", "dilations"))
    pads = call.get("pads", [0] * 2 * rank)
    call.breaks("Col2Im counts blocks along one axis")
    windows = zip(image, block, strides, dilations, pads[:rank], pads[rank:], strict=True)
    over = [Axis(*one) for one in windows]
    counts, taps = [axis.count for axis in over], math.prod(block)
    if x.ndim != 3 or x.shape[1] % taps or x.shape[2] != math.prod(counts) or min(pads) < 0:
        raise NoResult(f"Col2Im of {x.shape} with image {image} and block {block}")
    n, c = x.shape[0], x.shape[1] // taps
    cells = x.reshape(n, c, *block, *counts)
    call.spend(n * c * taps * math.prod(image) * taps)
    for at, axis in enumerate(over):
        cells = _folded(call, cells, at, axis)
    return [call.made(cells)]


def _folded(call: Call, cells: Array, at: int, axis: Axis) -> Array:
    """[N, C, (folded axes), block.., counts..]: the next block and count axes become one axis."""
    behind = (cells.ndim - 2 + at) // 2 + 2
    table = transposed_table(
        cells.shape[behind], axis.kernel, axis.stride, axis.dilation, axis.begin, axis.size
    )
    padded = np.concatenate([cells, np.zeros_like(cells.take([0], behind))], axis=behind)
    moved = np.moveaxis(padded, (2 + at, behind), (-2, -1))
    total = call.d.total(moved[..., np.arange(axis.kernel)[None, :], table])
    return np.moveaxis(total, -1, 2 + at)
