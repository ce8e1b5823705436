"""By operator: the sizes of what a node makes, no smaller than for any smaller inputs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from math import prod
from typing import Any

from numpy.typing import NDArray
from onnx import TensorProto

from onnxpad.model.costs.rule_facts import (
    WIDER,
    Dims,
    Facts,
    NoBoundError,
    Rule,
    axis_of,
    constant,
    cuts,
    permutation,
    squeezed,
)
from onnxpad.padding.plain_operators import ARITHMETIC, CELL_BY_CELL, COMPARISONS

_FAR = 2**30
_EXACT = 2**24
"""Whole numbers up to here are exact in float32."""


def joined(first: Sequence[Dims], second: Sequence[Dims]) -> list[Dims]:
    """What an If may give, whichever branch is taken."""
    return [_larger(one, other) for one, other in zip(first, second, strict=True)]


def _larger(one: Dims, other: Dims) -> Dims:
    if len(one) != len(other):
        raise NoBoundError
    return tuple(map(max, one, other))


def _one(facts: Facts) -> None:
    """Refuse a node that writes more than one tensor."""
    if len(facts.node.output) != 1:
        raise NoBoundError


def _keep(facts: Facts) -> Dims:
    _one(facts)
    return facts.dims[0]


def _broadcast(facts: Facts) -> Dims:
    _one(facts)
    return _together(facts.dims)


def _together(shapes: Sequence[Dims]) -> Dims:
    if len(shapes) == 2 and shapes[0] == shapes[1]:
        return shapes[0]
    columns = zip_longest(*(reversed(dims) for dims in shapes), fillvalue=1)
    return tuple(max(column) for column in columns)[::-1]


def _windows(facts: Facts, axes: Sequence[int], kernel: Sequence[int]) -> list[int]:
    """How many windows lie on each axis (Conv-11, MaxPool-12)."""
    count, ones = len(axes), (1,) * len(axes)
    strides, dilations = facts.integers("strides", ones), facts.integers("dilations", ones)
    how, up = facts.text("auto_pad"), facts.integer("ceil_mode")
    pads = [] if how == "VALID" else facts.integers("pads")
    pads = pads or [0] * 2 * count
    if not len(strides) == len(dilations) == len(kernel) == count == len(pads) // 2:
        raise NoBoundError
    if min(*strides, *dilations, *kernel, 1) < 1:
        raise NoBoundError
    if how.startswith("SAME"):
        return [-(-size // stride) for size, stride in zip(axes, strides, strict=True)]
    sizes = []
    for axis, stride in enumerate(strides):
        reach = (kernel[axis] - 1) * dilations[axis] + 1
        room = axes[axis] + pads[axis] + pads[axis + count] - reach
        sizes.append((room + stride - 1 if up else room) // stride + 1)
    return sizes


def _convolution(facts: Facts) -> Dims:
    _one(facts)
    source, weights = facts.dims[:2]
    # Of a kernel that is computed no least size is known, but where the node says it.
    is_held = facts.scope.tensor(facts.names[1]) is not None
    kernel = weights[2:] if is_held else facts.integers("kernel_shape", (1,) * len(weights[2:]))
    return source[0], weights[0], *_windows(facts, source[2:], kernel)


def covers(facts: Facts) -> bool:
    """Whether the kernel finds a place on an axis of one cell, and all the more on others."""
    weights = facts.dims[1][2:]
    dilations = facts.integers("dilations", (1,) * len(weights))
    pads = facts.integers("pads", (0,) * 2 * len(weights))
    if facts.node.op_type == "ConvTranspose":
        return not any(pads)
    together = zip(pads, pads[len(weights) :], strict=False)
    needed = zip(weights, dilations, together, strict=True)
    return facts.text("auto_pad").startswith("SAME") or (
        not facts.text("auto_pad").startswith("VALID")
        and all((taps - 1) * step <= sum(both) for taps, step, both in needed)
    )


def _transposed(facts: Facts) -> Dims:
    _one(facts)
    source, weights = facts.dims[:2]
    axes, kernel, count = source[2:], weights[2:], len(source) - 2
    ones, zeros = (1,) * count, (0,) * count
    strides, dilations = facts.integers("strides", ones), facts.integers("dilations", ones)
    more = facts.integers("output_padding", zeros)
    if min(*strides, *dilations, *more, 1) < 0 or "output_shape" in facts.attributes:
        raise NoBoundError
    pads = facts.integers("pads", zeros * 2) if not facts.text("auto_pad") else [0] * 2 * count
    if len(pads) != 2 * count:
        raise NoBoundError
    sizes = (
        max(size - 1, 0) * stride + extra + (taps - 1) * dilation + 1 - begin - end
        for size, stride, extra, taps, dilation, begin, end in zip(
            axes, strides, more, kernel, dilations, pads[:count], pads[count:], strict=True
        )
    )
    return source[0], weights[1] * facts.integer("group", 1), *sizes


def _pool(facts: Facts) -> Dims:
    source = facts.dims[0]
    return *source[:2], *_windows(facts, source[2:], facts.integers("kernel_shape"))


def _global_pool(facts: Facts) -> Dims:
    source = facts.dims[0]
    return *source[:2], *(1,) * len(source[2:])


def _gemm(facts: Facts) -> Dims:
    first, second = facts.dims[:2]
    rows, _ = first[::-1] if facts.integer("transA") else first
    _, cells = second[::-1] if facts.integer("transB") else second
    return rows, cells


def _matmul(facts: Facts) -> Dims:
    first, second = facts.dims
    if min(len(first), len(second)) < 2:
        raise NoBoundError
    return *_together([first[:-2], second[:-2]]), first[-2], second[-1]


def _concat(facts: Facts) -> Dims:
    _one(facts)
    shapes = facts.dims
    if len({len(dims) for dims in shapes}) != 1:
        raise NoBoundError
    axis = axis_of(facts.integer("axis", 1), len(shapes[0]))
    columns = list(zip(*shapes, strict=True))
    sizes = [max(column) for column in columns]
    if any(len(set(column)) > 1 for at, column in enumerate(columns) if at != axis):
        # onnxruntime 1.31.1 asks nothing of the sizes of an input without cells.
        names = filter(None, facts.names)
        filled = [d for d, name in zip(shapes, names, strict=True) if facts.scope.is_filled(name)]
        sizes = [min(column) for column in zip(*filled, strict=True)] if filled else sizes
    sizes[axis] = sum(dims[axis] for dims in shapes)
    return tuple(sizes)


def _transpose(facts: Facts) -> Dims:
    (dims,) = facts.dims
    return tuple(dims[axis] for axis in permutation(facts, len(dims)))


def _flatten(facts: Facts) -> Dims:
    (dims,) = facts.dims
    axis = facts.integer("axis", 1)
    axis = range(len(dims) + 1)[axis] if axis >= 0 else axis_of(axis, len(dims))
    return prod(dims[:axis]), prod(dims[axis:])


def _reshape(facts: Facts) -> Dims:
    """0 keeps the size at its place, -1 is what is left of the cells (Reshape-13)."""
    dims, target = facts.dims[0], facts.numbers(1)
    if target is None or facts.integer("allowzero") or target.most.ndim != 1:
        raise NoBoundError
    pairs = list(zip(target.least.tolist(), target.most.tolist(), strict=True))
    kept = {at for at, pair in enumerate(pairs) if pair == (0, 0)}
    left = prod(size for at, size in enumerate(dims) if at not in kept)
    left = -(-left // max(1, prod(least for least, _ in pairs if least > 0)))
    sizes = []
    for at, (least, most) in enumerate(pairs):
        if (least, most) == (-1, -1):
            sizes.append(left)
        elif least < 0 or (least == 0 == most and at >= len(dims)):
            raise NoBoundError
        else:
            sizes.append(max(most, dims[at] if least == 0 and at < len(dims) else 0))
    return tuple(sizes)


def _squeeze(facts: Facts) -> Dims:
    dims = facts.dims[0]
    gone = squeezed(facts, len(dims))
    return tuple(size for axis, size in enumerate(dims) if axis not in gone)


def _unsqueeze(facts: Facts) -> Dims:
    dims = facts.dims[0]
    axes = squeezed(facts, len(dims) + len(facts.exact("axes", 1) or ()))
    rest = iter(dims)
    return tuple(1 if axis in axes else next(rest) for axis in range(len(dims) + len(axes)))


def _reduce(facts: Facts) -> Dims:
    _one(facts)
    dims, axes = facts.dims[0], facts.exact("axes", 1)
    if not axes and facts.integer("noop_with_empty_axes"):
        return dims
    gone = {axis_of(axis, len(dims)) for axis in axes or range(len(dims))}
    if facts.integer("keepdims", 1):
        return tuple(1 if axis in gone else size for axis, size in enumerate(dims))
    return tuple(size for axis, size in enumerate(dims) if axis not in gone)


def _gather(facts: Facts) -> Dims:
    dims, places = facts.dims
    axis = axis_of(facts.integer("axis"), len(dims))
    return *dims[:axis], *places, *dims[axis + 1 :]


def _slice(facts: Facts) -> Dims:
    """No more than there is; fewer where both places are counted from the same end."""
    sizes = list(facts.dims[0])
    for axis, start, end, step in cuts(facts, len(sizes)):
        if start is None or end is None or step != 1:
            continue
        if start >= 0 and end >= 0:
            sizes[axis] = max(0, min(sizes[axis], end) - start)
        elif start < 0 and (end < 0 or end >= _FAR):
            sizes[axis] = max(0, min(sizes[axis], min(0, end) - start))
        elif start >= 0:
            sizes[axis] = max(0, sizes[axis] + end - start)
    return tuple(sizes)


def _split(facts: Facts) -> list[Dims]:
    dims, count = facts.dims[0], len(facts.node.output)
    axis = axis_of(facts.integer("axis"), len(dims))
    pieces = facts.exact("split", 1) or [-(-dims[axis] // count)] * count
    return [(*dims[:axis], size, *dims[axis + 1 :]) for size in pieces]


def _pad(facts: Facts) -> Dims:
    dims = facts.dims[0]
    pads = facts.integers("pads") or facts.most(1)
    if facts.name(3) or len(pads) != 2 * len(dims):
        raise NoBoundError
    added = zip(dims, pads[: len(dims)], pads[len(dims) :], strict=True)
    return tuple(max(0, sum(sizes)) for sizes in added)


def _constant_of_shape(facts: Facts) -> Dims:
    if "value" in facts.attributes and facts.attributes["value"].t.data_type in WIDER:
        raise NoBoundError
    return tuple(facts.most(0))


def _expand(facts: Facts) -> Dims:
    return _together([facts.dims[0], tuple(max(1, size) for size in facts.most(1))])


def _resize(facts: Facts) -> Dims:
    """Sizes times scales, rounded up where onnxruntime rounds down, or the sizes that are said."""
    dims, written = facts.dims[0], facts.attributes
    old = facts.node.op_type == "Upsample" or len(facts.names) == 2
    if facts.text("coordinate_transformation_mode") == "tf_crop_and_resize":
        raise NoBoundError
    if "axes" in written or "keep_aspect_ratio_policy" in written:
        raise NoBoundError
    if facts.name(3):
        return _larger(tuple(facts.most(3)), (0,) * len(dims))
    held = facts.scope.tensor(facts.name(1 if old else 2))
    values = constant(held) if held is not None and held.data_type == TensorProto.FLOAT else None
    scales = list(written["scales"].floats) if "scales" in written else _listed(values)
    if min(scales) < 0:
        raise NoBoundError
    return tuple(_scaled(*pair) for pair in zip(dims, scales, strict=True))


def _scaled(size: int, scale: float) -> int:
    """onnxruntime 1.31.1 multiplies in float32."""
    exact = scale == int(scale) and size * scale < _EXACT
    return int(size * scale) if exact else int(size * scale * (1 + 1e-6)) + 1


def _listed(values: NDArray[Any] | None) -> list[float]:
    if values is None:
        raise NoBoundError
    found: list[float] = values.ravel().tolist()
    return found


def _blocks_to_depth(facts: Facts) -> Dims:
    batch, channels, *sizes = facts.dims[0]
    block = facts.integer("blocksize")
    return batch, channels * block**2, *(-(-size // block) for size in sizes)


def _depth_to_blocks(facts: Facts) -> Dims:
    batch, channels, *sizes = facts.dims[0]
    block = facts.integer("blocksize")
    return batch, -(-channels // block**2), *(size * block for size in sizes)


def _cast(facts: Facts) -> Dims:
    if facts.integer("to") in WIDER:
        raise NoBoundError
    return facts.dims[0]


_KEEP = CELL_BY_CELL | {
    *("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cosh", "Sinh", "Tan"),
    *("IsInf", "IsNaN", "Not", "QuantizeLinear", "DequantizeLinear"),  # of another type
    *("BatchNormalization", "InstanceNormalization", "LayerNormalization"),
    *("Identity", "LogSoftmax", "Softmax"),
}
_BROADCAST = ARITHMETIC | COMPARISONS | {"PRelu", "Where"}
KERNELS = {"Conv", "ConvTranspose"}
FILLING = {*_KEEP, *_BROADCAST, "Cast", "Concat", "Transpose"}
"""Their results have cells where what they read has some."""
SIZE_RULES: dict[str, Rule] = {
    **dict.fromkeys(_KEEP, _keep),
    **dict.fromkeys(_BROADCAST, _broadcast),
    **dict.fromkeys(("ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum"), _reduce),
    **dict.fromkeys(("AveragePool", "LpPool", "MaxPool"), _pool),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool"), _global_pool),
    "Cast": _cast,
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "Conv": _convolution,
    "ConvTranspose": _transposed,
    "DepthToSpace": _depth_to_blocks,
    "Dropout": lambda facts: facts.dims[0],
    "Expand": _expand,
    "Flatten": _flatten,
    "Gather": _gather,
    "Gemm": _gemm,
    "MatMul": _matmul,
    "Pad": _pad,
    "Reshape": _reshape,
    "Resize": _resize,
    "Slice": _slice,
    "SpaceToDepth": _blocks_to_depth,
    "Split": _split,
    "Squeeze": _squeeze,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
    "Upsample": _resize,
}
"""By operator: the sizes of the first output, of all outputs where they are alike, or of each.

`running_cost` takes the work of each for that on its cells, where it says nothing else of it.
"""
