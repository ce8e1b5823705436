"""Operators that move cells: Pad, Slice, Concat, Transpose and what changes shapes."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof.call import Call, Value, rule
from onnxpad.proof.endings import NoResult, Undecided
from onnxpad.proof.formal import Formal
from onnxpad.proof.sized import (
    Size,
    Sized,
    broadcast,
    fit,
    hangs,
    is_sized,
    larger,
    reached,
    sized,
    smaller,
)
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
    pads = call.sizes(1, "paddings" if "paddings" in call.attributes else "pads")
    listed = call.ints(3) if call.optional(3) is not None else list(range(rank))
    mode = call.get("mode", "constant")
    if pads is None or listed is None or mode not in _MODES:
        raise Undecided(f"Pad in mode {mode} with pads {pads}")
    spots = [normal(axis, rank) for axis in listed]
    if len(set(spots)) < len(spots) or len(pads) != 2 * len(spots):
        raise NoResult(f"Pad: {len(pads)} pads for the axes {listed}")
    fill, known = _fill(call, data)
    x = data.cells if known else call.embedded(data)
    _chosen_axes(call, 3)
    axes = list(data.axes)
    for axis, begin, end in zip(spots, pads, pads[len(spots) :], strict=False):
        first, last = int(begin), int(end)
        size = x.shape[axis]
        if mode == "reflect" and max(first, last) >= size - max(0, -first) - max(0, -last):
            call.reads("a mirror wider than the data has no result")
        call.spend(x.size / max(size, 1) * max(0, size + first + last))
        reach = abs(first) + abs(last)
        if any(isinstance(one, Sized) and not one.is_level for one in (begin, end)):
            call.notes.breaks("Pad by sizes")
        axes[axis] = reached(axes[axis], reach if mode == "constant" else 2 * reach + 2)
        axes[axis] += begin + end
        if first or last:
            x = gather(x, [pad_table(size, first, last, mode)], axis, fill)
    return [Value(x, data.dtype, known=known, written=tuple(axes))]


def _chosen_axes(call: Call, index: int) -> None:
    """Note axes that were computed from sizes."""
    value = call.optional(index)
    if value is not None and value.is_sized:
        call.notes.breaks(f"{call.op} takes axes by sizes")


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
    starts, ends = call.sizes(1, "starts"), call.sizes(2, "ends")
    if starts is None or ends is None or len(starts) != len(ends):
        raise NoResult("Slice without starts or ends")
    axes = call.ints(3, "axes") or list(range(len(starts)))
    steps = call.ints(4) or [1] * len(starts)
    if len(axes) != len(starts) or len(steps) != len(starts):
        raise NoResult("Slice: lists of different lengths")
    spots = [normal(axis, rank) for axis in axes]
    if len(set(spots)) < len(spots) or 0 in steps:
        raise NoResult("Slice: an axis twice, or a step of 0")
    _chosen_axes(call, 3)
    _chosen_axes(call, 4)
    written, cut = list(call.need(0).axes), [slice(None)] * rank
    for axis, start, end, step in zip(spots, starts, ends, steps, strict=True):
        first, last = _bounds(written[axis], start, end, step)
        reach = sum(_from_an_end(call, written[axis], one) for one in (first, last)) + abs(step)
        first, last = _bounds(reached(written[axis], reach), start, end, step)
        cut[axis] = slice(int(first), int(last) if int(last) >= 0 else None, step)
        written[axis] = larger(-((first - last) // step), 0)
    return [call.moved(x[tuple(cut)], written)]


def _bounds(size: Size, start: Size, end: Size, step: int) -> tuple[Size, Size]:
    """What Slice-13 makes of its bounds: from the first cell to one beyond the last (-1: all)."""
    most = size if step > 0 else size - 1
    made = []
    for bound, least in ((start, 0), (end, 0 if step > 0 else -1)):
        if not isinstance(bound, Sized) and abs(bound) >= _ENDLESS:
            made.append(most if bound > 0 else least)
            continue
        from_front = bound + size if bound < 0 else bound
        made.append(smaller(larger(from_front, least), most))
    return made[0], made[1]


def _from_an_end(call: Call, size: Size, bound: Size) -> int:
    """How many cells a bound is off the front or the end of its axis, whichever it follows."""
    if not isinstance(bound, Sized) or bound.is_level:
        return abs(int(bound))
    if not isinstance(size, Sized) or bound.slopes != size.slopes:
        call.notes.breaks("a bound of a Slice moves with a size")
    return abs(int(size) - int(bound))


@rule("Concat")
def concat(call: Call) -> list[Value]:
    """Side by side along an axis."""
    arrays, known = together(call, range(len(call.inputs)))
    rank = arrays[0].ndim
    axis = normal(int(call.get("axis", 1)), rank)
    shapes = [call.need(at).axes for at in range(len(arrays))]
    if any(len(one) != rank for one in shapes):
        raise NoResult(f"Concat of shapes {[array.shape for array in arrays]}")
    axes = [
        sum(one[at] for one in shapes) if at == axis else fit(call.notes, [s[at] for s in shapes])
        for at in range(rank)
    ]
    if len({shape[:axis] + shape[axis + 1 :] for shape in (array.shape for array in arrays)}) > 1:
        raise NoResult(f"Concat of shapes {[array.shape for array in arrays]}")
    fixed = sum(int(one[axis]) for one in shapes if not hangs(one[axis]))
    axes[axis] = reached(axes[axis], fixed)
    call.spend(sum(array.size for array in arrays))
    made = np.concatenate(arrays, axis=axis)
    return [Value(made, call.need(0).dtype, known=known, written=tuple(axes))]


@rule("Split")
def split(call: Call) -> list[Value]:
    """Equal parts, the last one smaller, where no sizes are given."""
    x, listed = call.need(0).cells, call.sizes(1, "split")
    parts: list[int] | None = None if listed is None else list(map(int, listed))
    if hangs(*listed or ()):
        call.notes.breaks("Split by sizes")
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
    axes = call.need(0).axes
    sizes: Sequence[Size] = listed or parts
    return [
        call.moved(part, [*axes[:axis], size, *axes[axis + 1 :]])
        for part, size in zip(np.split(x, places, axis), sizes, strict=True)
    ]


@rule("Transpose")
def transpose(call: Call) -> list[Value]:
    """Axes in another order; all turned round by default."""
    x = call.need(0).cells
    perm = call.get("perm") or list(range(x.ndim))[::-1]
    if sorted(perm) != list(range(x.ndim)):
        raise NoResult(f"perm {list(perm)} of {x.ndim} axes")
    axes = call.need(0).axes
    return [call.moved(x.transpose(perm), [axes[at] for at in perm])]


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
    kept = [size for at, size in enumerate(call.need(0).axes) if at not in spots]
    return [call.moved(x.reshape(list(map(int, kept))), kept)]


@rule("Unsqueeze")
def unsqueeze(call: Call) -> list[Value]:
    """New axes of size 1."""
    x, listed = call.need(0).cells, call.ints(1, "axes") or []
    rank = x.ndim + len(listed)
    spots = {normal(axis, rank) for axis in listed}
    if len(spots) < len(listed):
        raise NoResult(f"Unsqueeze of axes {listed}")
    old = iter(call.need(0).axes)
    axes = [1 if at in spots else next(old) for at in range(rank)]
    return [call.moved(x.reshape(list(map(int, axes))), axes)]


@rule("Reshape", "Flatten")
def reshape(call: Call) -> list[Value]:
    """Reshape and Flatten. Raises NoResult if the sizes do not fit."""
    value = call.need(0)
    x = value.cells
    listed: list[Size] = []
    if call.op == "Flatten":
        axis = int(call.get("axis", 1))
        axis = axis + x.ndim if axis < 0 else axis
        wanted = [math.prod(x.shape[:axis]), math.prod(x.shape[axis:])]
    else:
        listed = call.sizes(1, "shape") or []
        wanted = list(map(int, listed))
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
    if hangs(*listed):
        call.notes.breaks("Reshape by sizes")
    reshaped = x.reshape(wanted)
    return [call.moved(reshaped, reshaped.shape)]


@rule("Shape")
def shape(call: Call) -> list[Value]:
    """Sizes as numbers."""
    axes = call.need(0).axes[slice(call.get("start", 0), call.get("end"))]
    made = np.asarray(axes, object if hangs(*axes) else np.int64)
    return [Value(made, np.dtype(np.int64), known=True, written=made.shape)]


@rule("Size")
def size_(call: Call) -> list[Value]:
    """Number of cells."""
    call.breaks("Size multiplies sizes")
    count = np.asarray(call.need(0).cells.size, np.int64)
    return [Value(count, np.dtype(np.int64), known=True)]


@rule("Expand")
def expand(call: Call) -> list[Value]:
    """Broadcast to a shape."""
    x, wanted = call.need(0).cells, call.sizes(1) or []
    axes = broadcast(call.notes, [call.need(0).axes, wanted])
    try:
        made = np.broadcast_shapes(x.shape, tuple(map(int, wanted)))
    except ValueError:
        raise NoResult(f"Expand of {x.shape} to {wanted}") from None
    call.spend(math.prod(made))
    return [call.moved(np.broadcast_to(x, made), axes)]


@rule("ConstantOfShape")
def constant_of_shape(call: Call) -> list[Value]:
    """One number everywhere."""
    value = call.get("value", np.zeros(1, np.float32))
    axes = call.sizes(0) or []
    sizes = list(map(int, axes))
    if min(sizes, default=0) < 0 or value.size != 1:
        raise NoResult(f"ConstantOfShape of {sizes}")
    call.spend(math.prod(sizes))
    made = np.full(sizes, value.reshape(()), value.dtype)
    return [Value(made, value.dtype, known=True, written=tuple(axes))]


@rule("Gather")
def gather_(call: Call) -> list[Value]:
    """Rows of an axis by index."""
    value, index = call.need(0), call.need(1)
    axis = normal(int(call.get("axis", 0)), value.cells.ndim)
    if not index.known:
        return [_picked(call, index, axis)]
    size, places = value.cells.shape[axis], index.numbers.astype(np.int64)
    if ((places < -size) | (places >= size)).any():
        raise NoResult("Gather beyond the axis")
    call.breaks("Gather takes cells of an axis by number", axis)
    if index.is_sized or hangs(*index.axes):
        call.notes.breaks("Gather by sizes")
    call.spend(value.cells.size / max(size, 1) * max(index.cells.size, 1))
    axes = [*value.axes[:axis], *index.axes, *value.axes[axis + 1 :]]
    return [call.moved(value.cells.take(places, axis), axes)]


def _picked(call: Call, index: Value, axis: int) -> Value:
    """By indices that are data: a function of the index and of all cells that it chooses from."""
    call.breaks("Gather takes cells of an axis by number", axis)
    cells = np.moveaxis(call.cells(0), axis, -1)
    count, size = math.prod(cells.shape[:-1]), max(1, index.cells.size)
    sizes = call.need(0).axes
    axes = [*sizes[:axis], *index.axes, *sizes[axis + 1 :]]
    call.spend(cells.size + count * size)
    if not isinstance(call.d, Formal):
        places = index.cells.astype(np.int64)
        if ((places < -cells.shape[-1]) | (places >= cells.shape[-1])).any():
            raise NoResult("Gather beyond the axis")
        return call.made(call.cells(0).take(places, axis), None, axes)
    flat = np.ascontiguousarray(cells).reshape(count, -1)
    names = [call.d.name(("column", row.tobytes())) for row in flat]
    columns = np.asarray(names, np.int64).reshape(cells.shape[:-1])
    call.d.asked.update(np.unique(flat).tolist())
    wide = columns.reshape(*columns.shape[:axis], *[1] * index.cells.ndim, *columns.shape[axis:])
    chosen = index.cells.reshape(*index.cells.shape, *[1] * (columns.ndim - axis))
    return call.made(call.d.function("Gather", {}, wide, chosen), None, axes)


@rule("Identity")
def identity(call: Call) -> list[Value]:
    """The operand itself."""
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
    dtype = call.need(1).dtype
    if condition.is_sized and not known:
        call.notes.breaks("Where chooses data by sizes")
    if known and any(map(is_sized, (condition.cells, a, b))):
        made = sized("Where", call.notes, condition.cells, a, b)
        return [Value(np.asarray(made), dtype, known=True)]
    made = np.where(condition.numbers, a, b)
    call.spend(made.size)
    return [Value(made, dtype, known=known)]


def _chosen_by(call: Call, condition: Value) -> Value:
    """By a condition that is data: a function of it and of both cells, where they differ."""
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
    begin, size = int(axis.begin), int(axis.size)
    table = transposed_table(
        cells.shape[behind], axis.kernel, axis.stride, axis.dilation, begin, size
    )
    padded = np.concatenate([cells, np.zeros_like(cells.take([0], behind))], axis=behind)
    moved = np.moveaxis(padded, (2 + at, behind), (-2, -1))
    total = call.d.total(moved[..., np.arange(axis.kernel)[None, :], table])
    return np.moveaxis(total, -1, 2 + at)
