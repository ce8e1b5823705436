"""Convolutions and pools: operators that slide windows over axes."""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof.call import RULES, Call, Value, lowest, rule
from onnxpad.proof.endings import Invalid, NoResult, Undecided
from onnxpad.proof.sized import Size, broadcast, fit, hangs, reached
from onnxpad.proof.windows import Axis, gather, same_pads, transposed_table

Array = NDArray[Any]
Ints = Sequence[int]
_MICROSOFT = "com.microsoft"


def per_axis(call: Call, name: str, rank: int, default: int) -> list[int]:
    """An attribute with one number per axis."""
    listed = [int(one) for one in call.get(name, [default] * rank)]
    if len(listed) != rank:
        raise Invalid(f"{call.op} has {len(listed)} {name} for {rank} axes")
    return listed


def padding(call: Call, rank: int) -> tuple[str, list[int], list[int]]:
    """auto_pad, and the written begin and end pads."""
    auto = call.get("auto_pad", "NOTSET") or "NOTSET"
    pads = per_axis(call, "pads", 2 * rank, 0)
    if auto not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise Undecided(f"auto_pad {auto}")
    _one_way_of_padding(call, auto)
    if min(pads, default=0) < 0:
        raise Invalid(f"{call.op} has negative pads, which runtimes refuse")
    return auto, pads[:rank], pads[rank:]


def _one_way_of_padding(call: Call, auto: str) -> None:
    """Raise Undecided where auto_pad stands beside pads, even pads of 0."""
    if auto != "NOTSET" and "pads" in call.attributes:
        raise Undecided("auto_pad together with pads, which runtimes read in three ways")


def spatial(call: Call) -> list[Size]:
    """The axes of the first operand that are no batch and no channels."""
    sizes = list(call.need(0).axes)
    return sizes[1:-1] if channels_last(call) else sizes[2:]


def axes(call: Call, kernel: Ints, channels: Size) -> list[Axis]:
    """The windows of each spatial axis; `channels` is the number of channels of the result."""
    sizes = spatial(call)
    rank = len(sizes)
    strides, dilations = (per_axis(call, name, rank, 1) for name in ("strides", "dilations"))
    if min((*strides, *dilations, *kernel), default=1) < 1:
        raise Invalid(f"{call.op} has a stride, dilation or kernel below 1")
    auto, begins, ends = padding(call, rank)
    ceil = bool(call.get("ceil_mode", 0))
    if auto == "VALID" and ceil:
        call.reads("VALID with ceil_mode rounds up")
    windows = []
    for at, (size, k, s, d) in enumerate(zip(sizes, kernel, strides, dilations, strict=True)):
        axis = Axis(size, k, s, d, begins[at], ends[at], ceil)
        if auto.startswith("SAME"):
            if int(size) == 0:
                raise Undecided("SAME over an axis of 0 cells")
            pads = same_pads(size, axis.span, s, lower=auto == "SAME_LOWER")
            axis = Axis(size, k, s, d, *pads)
        reach = axis.span + int(axis.begin) + int(axis.end)
        windows.append(replace(axis, size=reached(size, reach)))
    _tell(call, channels, [axis.windows for axis in windows])
    return windows


def _tell(call: Call, channels: Size, sizes: Sequence[Size]) -> None:
    """Note the axes of a result."""
    batch = call.need(0).axes[0]
    last = channels_last(call)
    call.written = [batch, *sizes, channels] if last else [batch, channels, *sizes]


def _same_channels(call: Call) -> Size:
    """The channels of the first operand."""
    return call.need(0).axes[-1 if channels_last(call) else 1]


def windows(call: Call, x: Array, over: Sequence[Axis], fill: float) -> Array:
    """[N, C, windows..., taps] of x, `fill` for padding."""
    counts = [axis.count for axis in over]
    taps = math.prod(axis.kernel for axis in over)
    if not call.d.computes:
        return call.d.fresh(None, (*x.shape[:2], *counts, taps))
    call.spend(math.prod(x.shape[:2]) * math.prod(counts) * taps)
    for axis, count in zip(over, counts, strict=True):
        call.spend(count * axis.kernel)
    found = gather(x, [axis.table() for axis in over], 2, fill)
    return found.reshape(*x.shape[:2], *counts, taps)


def channels_last(call: Call) -> bool:
    """Whether the channels are the last axis."""
    return call.op == "NhwcMaxPool" or bool(call.get("channels_last", 0))


def channels_first(call: Call, x: Array) -> Array:
    """x with its channels on axis 1."""
    return np.moveaxis(x, -1, 1) if channels_last(call) else x


def channels_back(call: Call, y: Array) -> Array:
    """y with its channels where the operator has them."""
    return np.moveaxis(y, 1, -1) if channels_last(call) else y


def _fitting(call: Call, weight: int, channel: int) -> None:
    """Note what the channels of data, weight and bias ask of open sizes."""
    x, w = call.need(0), call.need(weight)
    if len(x.shape) < 2 or len(w.shape) < 2:
        return
    group = int(call.get("group", 1))
    biases = [one for one in call.inputs[2:] if one is not None and one is not w]
    if hangs(*w.axes[2:]):
        call.notes.breaks(f"{call.op} with a kernel of an open size")
    if (hangs(*w.axes) and (group > 1 or biases)) or any(hangs(*one.axes) for one in biases):
        call.notes.breaks(f"{call.op} has a bias or groups of an open size")
    taken = w.axes[channel] * (group if channel == 1 else 1)
    fit(call.notes, [_same_channels(call), taken])


def _taken(call: Call, x: Array, w: Array, channels: int) -> tuple[int, tuple[int, ...]]:
    """Groups and kernel of a convolution, whose weight takes so many channels in all."""
    group, kernel = int(call.get("group", 1)), w.shape[2:]
    written = call.get("kernel_shape", kernel)
    if x.ndim != w.ndim or tuple(written) != kernel or x.ndim < 3:
        raise NoResult(f"{call.op}: x {x.shape}, weight {w.shape}, kernel_shape {list(written)}")
    if group < 1 or x.shape[1] != channels or w.shape[0] % group:
        raise NoResult(f"{call.op}: x {x.shape} does not fit weight {w.shape}, group {group}")
    return group, kernel


def _summed(call: Call, cells: Array, weights: Array, counts: Ints) -> Array:
    """[N, M, windows...]: sums over the channels and taps of each group.

    `cells` are [N, C, windows, taps], `weights` [group, M/group, C/group, taps].
    """
    group, m, c, taps = weights.shape
    n, places = cells.shape[0], math.prod(counts)
    left = cells.reshape(n, group, c, places, taps).transpose(0, 1, 3, 2, 4)
    left = left.reshape(n, group, 1, places, c * taps)
    right = weights.reshape(1, group, m, 1, c * taps)
    return call.multiply(left, right).reshape(n, group * m, *counts)


def convolved(call: Call, x: Array, w: Array) -> Array:
    """Cross-correlation of x [N, C, *H] with w [M, C/group, *k]; padding is 0."""
    place = 3 if call.op == "QLinearConv" else 1
    _fitting(call, place, 1)
    channels = w.shape[1] * int(call.get("group", 1)) if w.ndim > 1 else 0
    group, kernel = _taken(call, x, w, channels)
    over = axes(call, kernel, call.need(place).axes[0])
    cells = windows(call, x, over, 0)
    weights = w.reshape(group, w.shape[0] // group, w.shape[1], -1)
    return _summed(call, cells, weights, [axis.count for axis in over])


def biased(call: Call, y: Array, bias: Value | None) -> Array:
    """y plus a number per channel."""
    if bias is None:
        return y
    cells = call.embedded(bias)
    if cells.shape != (y.shape[1],):
        raise NoResult(f"{call.op}: a bias of shape {cells.shape} for {y.shape[1]} channels")
    return call.d.add(y, cells.reshape(-1, *[1] * (y.ndim - 2)))


@rule("Conv")
def conv(call: Call) -> list[Value]:
    """ONNX Operators, Conv-22."""
    return [
        call.made(biased(call, convolved(call, call.cells(0), call.cells(1)), call.optional(2)))
    ]


@rule("FusedConv", domain=_MICROSOFT)
def fused_conv(call: Call) -> list[Value]:
    """Conv, plus input 3, and an activation behind it."""
    y = biased(call, convolved(call, call.cells(0), call.cells(1)), call.optional(2))
    added = call.optional(3)
    if added is not None:
        call.written = broadcast(call.notes, [call.written or y.shape, added.axes])
        y = call.d.add(y, call.embedded(added))
    name = call.get("activation", "")
    if name not in ("", "Relu", "Tanh", "Sigmoid", "LeakyRelu", "HardSigmoid"):
        raise Undecided(f"FusedConv with {name}")
    given = dict(zip(("alpha", "beta"), call.get("activation_params", ()), strict=False))
    inputs = [call.made(y)]
    again = replace(call, op=name or "Identity", inputs=inputs, attributes=given)
    return list(RULES["", again.op](again))


def centred(call: Call, index: int, zero: int, axis: int | None = None) -> Array:
    """An operand less its zero point; several zero points run along `axis`."""
    value, point = call.cells(index), call.optional(zero)
    if point is None:
        return value
    cells = call.embedded(point)
    if cells.size == 1:
        return call.d.sub(value, cells.reshape([1] * value.ndim))
    if axis is None or cells.shape != (value.shape[axis],):
        raise Undecided(f"{call.op} has a zero point of shape {cells.shape}")
    return call.d.sub(value, cells.reshape(-1, *[1] * (value.ndim - axis - 1)))


@rule("ConvInteger")
def conv_integer(call: Call) -> list[Value]:
    """Padding is the zero point of x, so that it adds nothing (ConvInteger-10)."""
    y = convolved(call, centred(call, 0, 2), centred(call, 1, 3, 0))
    return [call.made(y, np.int32)]


@rule("QLinearConv")
@rule("QLinearConv", domain=_MICROSOFT)
def qlinear_conv(call: Call) -> list[Value]:
    """ONNX Operators, QLinearConv-10; com.microsoft has channels_last."""
    x = channels_first(call, centred(call, 0, 2))
    y = biased(call, convolved(call, x, centred(call, 3, 5, 0)), call.optional(8))
    scale = call.cells(4)
    if scale.size > 1:
        scale = scale.reshape(-1, *[1] * (y.ndim - 2))
    else:
        scale = scale.reshape([1] * y.ndim)
    ratio = call.d.mul(_scalar(call, 1, y.ndim), scale)
    real = call.d.mul(y, call.d.div(ratio, _scalar(call, 6, y.ndim)))
    point = call.need(7)
    zero = call.embedded(point).reshape(-1)[:1].reshape([1] * y.ndim)
    made = quantised(call, real, zero, point.dtype)
    return [call.made(channels_back(call, made), point.dtype)]


def quantised(call: Call, real: Array, zero: Array, dtype: np.dtype[Any]) -> Array:
    """Real numbers rounded to a type of whole ones, behind which its zero point is added."""
    info = np.iinfo(dtype)
    limits = {"low": int(info.min), "high": int(info.max)}
    return call.d.function("Quantise", limits, real, zero)


def _scalar(call: Call, index: int, rank: int) -> Array:
    cells = call.cells(index)
    if cells.size != 1:
        raise Undecided(f"{call.op} has input {index} of shape {cells.shape}")
    return cells.reshape([1] * rank)


def _deconvolved(call: Call, pads: list[int] | None = None) -> Array:
    x, w = call.cells(0), call.cells(1)
    _fitting(call, 1, 0)
    group, kernel = _taken(call, x, w, w.shape[0])
    tables = _transposed_tables(call, kernel, pads)
    counts = [len(table) for table in tables]
    shape = (*x.shape[:2], math.prod(counts), math.prod(kernel))
    if call.d.computes:
        call.spend(math.prod(shape))
        cells = gather(x, tables, 2, 0).reshape(shape)
    else:
        cells = call.d.fresh(None, shape)
    weights = w.reshape(group, w.shape[0] // group, w.shape[1], -1).swapaxes(1, 2)
    return _summed(call, cells, weights, counts)


def _transposed_tables(call: Call, kernel: Ints, given: list[int] | None) -> list[Array]:
    """For every axis, which input cells each output cell sums."""
    sizes = spatial(call)
    rank = len(sizes)
    strides, dilations = (per_axis(call, name, rank, 1) for name in ("strides", "dilations"))
    extras = per_axis(call, "output_padding", rank, 0)
    pads = given or per_axis(call, "pads", 2 * rank, 0)
    _one_way_of_padding(call, call.get("auto_pad") or "NOTSET")
    if len(pads) != 2 * rank or min(pads) < 0:
        raise Undecided(f"{call.op} has the pads {pads}, which runtimes refuse")
    tables, written = [], []
    for at, (size, k, s, d) in enumerate(zip(sizes, kernel, strides, dilations, strict=True)):
        if min(s, d, k) < 1:
            raise Invalid(f"{call.op} has a stride, dilation or kernel below 1")
        if not 0 <= extras[at] < max(s, d):
            raise Undecided(f"output_padding {extras[at]} with stride {s} and dilation {d}")
        span = d * (k - 1) + 1
        own = reached(size, 2 * span + sum(pads[at::rank]) + extras[at] + s)
        begin, out = _kept(call, at, (own, span, s, extras[at]), (pads[at], pads[rank + at]))
        if int(out) < 1:
            raise NoResult(f"{call.op} leaves {int(out)} cells")
        call.spend(int(out) * k)
        tables.append(transposed_table(int(size), k, s, d, begin, int(out)))
        written.append(out)
    weight = call.need(1).axes[1]
    _tell(call, weight * int(call.get("group", 1)), written)
    return tables


def _kept(
    call: Call, at: int, axis: tuple[Size, int, int, int], pads: tuple[int, int]
) -> tuple[int, Size]:
    """First cell that is kept of the full output of an axis, and how many."""
    size, span, stride, extra = axis
    full, wanted = (size - 1) * stride + span + extra, call.get("output_shape")
    auto = call.get("auto_pad") or "NOTSET"
    if wanted is not None:
        if len(wanted) != len(call.need(0).shape) - 2:
            raise Undecided(f"output_shape {list(wanted)}")
        call.breaks("output_shape does not follow the size of the input", 2 + at)
        out = int(wanted[at])
        if out > int(full) - extra + max(extra, stride - 1):
            raise NoResult(f"output_shape {out} of {int(full) - extra} cells")
        return _crop(auto, max(0, int(full) - out)), out
    if auto.startswith("SAME"):
        total = span + extra - stride
        if total < 0:
            call.reads("ConvTranspose with SAME whose kernel is below the stride crops nothing")
        return _crop(auto, max(0, total)), full - max(0, total)
    if auto not in ("NOTSET", "VALID"):
        raise Undecided(f"auto_pad {auto}")
    return pads[0], full - sum(pads)


def _crop(auto: str, total: int) -> int:
    """Begin pad of a crop of `total` cells: the smaller half for SAME_UPPER, else the larger."""
    return total // 2 if auto == "SAME_UPPER" else total - total // 2


@rule("ConvTranspose")
def conv_transpose(call: Call) -> list[Value]:
    """ONNX Operators, ConvTranspose-22; cells of output_padding hold the bias too."""
    return [call.made(biased(call, _deconvolved(call), call.optional(2)))]


@rule("ConvTransposeWithDynamicPads", domain=_MICROSOFT)
def dynamic_conv_transpose(call: Call) -> list[Value]:
    """ConvTranspose whose pads are input 2."""
    if call.need(2).is_sized:
        call.notes.breaks(f"{call.op} takes pads by sizes")
    return [call.made(biased(call, _deconvolved(call, call.ints(2)), call.optional(3)))]


@rule("MaxPool")
@rule("NhwcMaxPool", domain=_MICROSOFT)
def max_pool(call: Call) -> list[Value]:
    """ONNX Operators, MaxPool-22; padding is never a maximum beside a real cell."""
    x, dtype = channels_first(call, call.cells(0)), call.need(0).dtype
    kernel = per_axis(call, "kernel_shape", x.ndim - 2, 0)
    over = axes(call, kernel, _same_channels(call))
    least, floor = lowest(dtype)
    fill = call.d.infinity(-1) if floor is None else call.d.number(floor)
    cells = windows(call, x, over, fill)
    y = channels_back(call, call.d.largest(cells, least, floor))
    if call.outputs < 2:
        return [call.made(y)]
    call.breaks("flat Indices hang on all sizes")
    places = _places(call, x.shape, over)
    where = call.d.chosen(cells, places, least, floats=floor is None)
    return [call.made(y), call.made(where, np.int64)]


def _places(call: Call, shape: Ints, over: Sequence[Axis]) -> Array:
    """Flat index of every tap of every window, -1 in the padding: [N, C, windows..., taps]."""
    sizes = shape[2:]
    flat = np.arange(math.prod(sizes), dtype=np.int64)
    column = call.get("storage_order", 0)
    plane = flat.reshape(sizes[::-1]).transpose() if column else flat.reshape(sizes)
    starts = np.arange(shape[0] * shape[1], dtype=np.int64) * flat.size
    all_planes = starts.reshape(shape[0], shape[1], *[1] * len(sizes)) + plane
    found = gather(all_planes, [axis.table() for axis in over], 2, -1)
    return found.reshape(shape[0], shape[1], *[axis.count for axis in over], -1)


def _averaged(call: Call, x: Array) -> Array:
    kernel = per_axis(call, "kernel_shape", x.ndim - 2, 0)
    over = axes(call, kernel, _same_channels(call))
    cells = windows(call, x, over, 0)
    total = _sum_of_numbers(call, cells) if call.need(0).known else call.d.total(cells)
    counts = np.ones((), np.int64)
    for axis in over:
        padded = bool(call.get("count_include_pad", 0))
        counts = np.multiply.outer(counts, axis.counted(padding=padded))
    if (counts == 0).any():
        call.reads("an average over no cell is 0")
    divisor = np.broadcast_to(call.d.embed(np.maximum(counts, 1)), total.shape)
    mean = call.d.div(total, divisor)
    if call.need(0).known:
        call.d.learn("Div", mean, total, divisor)
    return mean


def _sum_of_numbers(call: Call, cells: Array) -> Array:
    """Sum over the last axis of cells that are numbers, so that the sum is known to be one."""
    total = cells[..., 0]
    for at in range(1, cells.shape[-1]):
        more = call.d.add(total, cells[..., at])
        call.d.learn("Add", more, total, cells[..., at])
        total = more
    return total


@rule("AveragePool")
def average_pool(call: Call) -> list[Value]:
    """ONNX Operators, AveragePool-22: cells that only ceil_mode reaches never count."""
    return [call.made(_averaged(call, call.cells(0)))]


@rule("QLinearAveragePool", domain=_MICROSOFT)
def qlinear_average_pool(call: Call) -> list[Value]:
    """An average of real numbers, whose zero point is added before it is rounded."""
    x, point = channels_first(call, centred(call, 0, 2)), call.optional(4)
    mean = _averaged(call, call.d.mul(x, _scalar(call, 1, x.ndim)))
    real = call.d.div(mean, _scalar(call, 3, x.ndim))
    if point is not None:
        real = call.d.add(real, call.embedded(point).reshape([1] * x.ndim))
    made = quantised(call, real, np.zeros_like(real), call.need(0).dtype)
    return [call.made(channels_back(call, made))]


@rule("LpPool")
def lp_pool(call: Call) -> list[Value]:
    """(sum |x|^p)^(1/p); padding adds nothing (LpPool-22)."""
    x, p = call.cells(0), call.get("p", 2)
    if p < 1:
        raise Invalid(f"LpPool with p={p}")
    if p != int(p) or p > 64:
        raise Undecided(f"LpPool with p={p}")
    kernel = per_axis(call, "kernel_shape", x.ndim - 2, 0)
    over = axes(call, kernel, _same_channels(call))
    power = whole_power(call, x if p % 2 == 0 else call.d.function("Abs", {}, x), int(p))
    return [call.made(root(call, call.d.total(windows(call, power, over, 0)), int(p)))]


def whole_power(call: Call, x: Array, exponent: int) -> Array:
    """x multiplied with itself."""
    made = x
    for _ in range(exponent - 1):
        made = call.d.mul(made, x)
    return made


def root(call: Call, x: Array, degree: int) -> Array:
    """The root of a number that is not negative."""
    if degree == 1:
        return x
    return call.d.function("Sqrt", {}, x) if degree == 2 else power(call, x, Fraction(1, degree))


def power(call: Call, x: Array, exponent: Fraction) -> Array:
    """x to a power that is a fraction, as a function of x alone."""
    return call.d.function("Power", {"exponent": exponent}, x)
