"""Each padded operator with its attributes and inputs, evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onnxpad.padding.operators import MICROSOFT, PadInput, pads_are_attributes, plain_domain
from onnxpad.probing.evaluator.kernels import (
    Array,
    NotEvaluable,
    Pool,
    Requantised,
    average_pool,
    centred,
    convolve,
    lp_pool,
    max_pool,
    pad,
    requantise,
    same_pads,
    span,
    spread,
    transposed,
)

Results = list[Array | Requantised]


@dataclass(frozen=True)
class Call:
    """An operator with its attributes as plain values and its inputs (None: left out)."""

    op_type: str
    domain: str = ""
    opset: int = 21
    attributes: Mapping[str, Any] = field(default_factory=dict)
    inputs: Sequence[Array | None] = ()

    def given(self, position: int) -> Array | None:
        """The input at `position`, or None where it is left out."""
        return self.inputs[position] if position < len(self.inputs) else None

    def needed(self, position: int) -> Array:
        """The input at `position`; raises NotEvaluable where it is left out."""
        value = self.given(position)
        if value is None:
            raise NotEvaluable(f"{self.op_type} lacks its input {position}")
        return value

    def real(self, position: int) -> Array | None:
        """The input at `position`, floats widened to float64."""
        value = self.given(position)
        return None if value is None else widened(value)

    def ints(self, name: str, rank: int, default: int) -> list[int]:
        """An attribute with one integer per spatial axis."""
        values = self.attributes.get(name) or [default] * rank
        if len(values) != rank:
            raise NotEvaluable(f"{self.op_type}: {name} {list(values)} for {rank} spatial axes")
        return [int(value) for value in values]

    def flag(self, name: str, default: int = 0) -> int:
        """An integer attribute."""
        return int(self.attributes.get(name, default))

    @property
    def group(self) -> int:
        """Number of groups of a convolution."""
        return self.flag("group", 1)

    @property
    def auto_pad(self) -> str:
        """auto_pad, NOTSET where empty; raises NotEvaluable where it contradicts `pads`."""
        value = self.attributes.get("auto_pad") or "NOTSET"
        if value not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
            raise NotEvaluable(f"{self.op_type}: auto_pad={value} is not an ONNX value")
        if value != "NOTSET" and self.attributes.get("pads"):
            raise NotEvaluable(
                f"{self.op_type} has auto_pad={value} and pads={list(self.attributes['pads'])}: "
                "readers disagree on which one holds"
            )
        return str(value)


def widened(value: Array) -> Array:
    """Floats of every width as float64; integers and booleans as they are."""
    return value if value.dtype.kind in "iub" else value.astype(np.float64)


def pool_of(call: Call, sizes: Sequence[int], kernel: Sequence[int] | None = None) -> Pool:
    """The windows of a pool or convolution over spatial `sizes`, auto_pad resolved.

    SAME follows the text of Conv-22 with the dilated kernel and makes ceil_mode idle; VALID keeps
    ceil_mode, as onnxruntime and shape inference do.
    """
    rank = len(sizes)
    kernel = call.ints("kernel_shape", rank, 0) if kernel is None else _of_weight(call, kernel)
    strides, dilations = call.ints("strides", rank, 1), call.ints("dilations", rank, 1)
    ceil_mode = bool(call.flag("ceil_mode"))
    if call.auto_pad.startswith("SAME"):
        lower = call.auto_pad == "SAME_LOWER"
        extents = [span(k, d) for k, d in zip(kernel, dilations, strict=True)]
        rows = zip(sizes, extents, strides, strict=True)
        pads = [same_pads(n, e, s, lower=lower) for n, e, s in rows]
        begins, ends = [b for b, _ in pads], [e for _, e in pads]
        return Pool(kernel, strides, dilations, begins, ends)
    declared = call.attributes.get("pads") or [0] * 2 * rank
    if len(declared) != 2 * rank:
        raise NotEvaluable(f"{call.op_type}: pads {list(declared)} for {rank} spatial axes")
    halves = list(declared[:rank]), list(declared[rank:])
    return Pool(kernel, strides, dilations, *halves, ceil_mode)


def _of_weight(call: Call, kernel: Sequence[int]) -> list[int]:
    """The kernel that a weight has; raises NotEvaluable where kernel_shape says something else."""
    written = call.attributes.get("kernel_shape") or kernel
    if list(written) != list(kernel):
        raise NotEvaluable(f"kernel_shape {list(written)} beside a weight of {list(kernel)}")
    return list(kernel)


@dataclass(frozen=True, slots=True)
class OutputCrop:
    """What a transposed convolution cuts off its full output, and adds behind it."""

    begins: list[int]
    ends: list[int]
    output_padding: list[int]


def crop_of(call: Call, sizes: Sequence[int], kernel: Sequence[int]) -> OutputCrop:
    """Pads of a ConvTranspose over spatial `sizes`, auto_pad and output_shape resolved.

    ONNX Operators, ConvTranspose-22; a negative SAME total is clamped at 0 as onnxruntime does.
    Raises NotEvaluable where output_shape asks for more than a stride of extra cells.
    """
    rank, kernel = len(sizes), _of_weight(call, kernel)
    strides, dilations = call.ints("strides", rank, 1), call.ints("dilations", rank, 1)
    added = call.ints("output_padding", rank, 0)
    extents = [span(k, d) for k, d in zip(kernel, dilations, strict=True)]
    if call.attributes.get("output_shape"):
        return _to_shape(call, sizes, extents, strides, added)
    if not call.auto_pad.startswith("SAME"):
        pads = call.attributes.get("pads") or [0] * 2 * rank
        return OutputCrop(list(pads[:rank]), list(pads[rank:]), added)
    totals = [max(0, e + a - s) for e, a, s in zip(extents, added, strides, strict=True)]
    return _split(totals, added, upper=call.auto_pad == "SAME_UPPER")


def _to_shape(
    call: Call, sizes: Sequence[int], extents: list[int], strides: list[int], added: list[int]
) -> OutputCrop:
    wanted = [int(n) for n in call.attributes["output_shape"]][-len(sizes) :]
    rows = zip(sizes, strides, extents, added, strict=True)
    full = [(n - 1) * s + e + a for n, s, e, a in rows]
    missing = [max(0, w - f) for w, f in zip(wanted, full, strict=True)]
    if any(m >= s for m, s in zip(missing, strides, strict=True)):
        raise NotEvaluable(f"output_shape {wanted} is larger than the full output {full}")
    totals = [max(0, f - w) for w, f in zip(wanted, full, strict=True)]
    behind = [a + m for a, m in zip(added, missing, strict=True)]
    mode = call.attributes.get("auto_pad") or "NOTSET"
    return _split(totals, behind, upper=mode == "SAME_UPPER")


def _split(totals: list[int], added: list[int], *, upper: bool) -> OutputCrop:
    begins = [t // 2 if upper else t - t // 2 for t in totals]
    ends = [t - b for t, b in zip(totals, begins, strict=True)]
    return OutputCrop(begins, ends, added)


def evaluate(
    op_type: str,
    domain: str,
    opset: int,
    attributes: Mapping[str, Any],
    inputs: Sequence[Array | None],
) -> list[Array]:
    """Outputs of one padded operator by the ONNX text, floats in float64.

    `inputs` are in the operator's order, None where left out; `attributes` are plain values.
    Integer results have the operator's own type. MaxPool also gives Indices. Raises NotEvaluable
    for operators that `supports` does not know, and for uses without one agreed meaning.
    """
    results = solve(Call(op_type, domain, opset, attributes, inputs))
    return [r.rounded() if isinstance(r, Requantised) else r for r in results]


def supports(op_type: str, domain: str) -> bool:
    """Whether `evaluate` knows the operator."""
    return (plain_domain(domain), op_type) in _OPERATORS


def solve(call: Call) -> Results:
    """Outputs of the call; quantised ones before they are rounded.

    Raises NotEvaluable as `evaluate` does, and where attributes have another type than the
    operator's, operands another rank, or numbers contradict each other: a file may say anything.
    """
    operator = _OPERATORS.get((plain_domain(call.domain), call.op_type))
    if operator is None:
        raise NotEvaluable(f"no evaluator for {call.domain or 'ai.onnx'}.{call.op_type}")
    try:
        return operator(call)
    except MemoryError as error:
        raise NotEvaluable(f"{call.op_type} needs more memory than there is") from error
    except _NONSENSE as error:
        raise NotEvaluable(f"{call.op_type} contradicts itself: {error}") from error


_NONSENSE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def _conv(call: Call) -> Results:
    x, w = widened(call.needed(0)), widened(call.needed(1))
    return [_convolved(call, x, w, call.real(2))]


def _convolved(call: Call, x: Array, w: Array, b: Array | None) -> Array:
    pool = pool_of(call, x.shape[2:], w.shape[2:])
    return convolve(
        x,
        w,
        b,
        strides=pool.strides,
        dilations=pool.dilations,
        begins=pool.begins,
        ends=pool.ends,
        group=call.group,
    )


def _fused_conv(call: Call) -> Results:
    y = _convolved(call, widened(call.needed(0)), widened(call.needed(1)), call.real(2))
    added = call.real(3)
    return [_activated(call, y if added is None else y + added)]


def _activated(call: Call, y: Array) -> Array:
    name = call.attributes.get("activation", "")
    first, second = [*call.attributes.get("activation_params", ()), 0.0, 0.0][:2]
    activations: dict[str, Callable[[Array], Array]] = {
        "": lambda v: v,
        "Relu": lambda v: np.maximum(v, 0),
        "Tanh": np.tanh,
        "Sigmoid": lambda v: 1 / (1 + np.exp(-v)),
        "LeakyRelu": lambda v: np.where(v < 0, first * v, v),
        "Clip": lambda v: np.clip(v, first, second),
        "HardSigmoid": lambda v: np.clip(first * v + second, 0, 1),
    }
    if name not in activations:
        raise NotEvaluable(f"FusedConv with activation {name}")
    return activations[name](y)


def _conv_transpose(call: Call) -> Results:
    return [_transposed(call, call.real(2))]


def _conv_transpose_dynamic(call: Call) -> Results:
    pads = call.given(2)
    if pads is not None:
        extended = {**call.attributes, "pads": [int(p) for p in pads]}
        call = Call(call.op_type, call.domain, call.opset, extended, call.inputs)
    return [_transposed(call, call.real(3))]


def _transposed(call: Call, b: Array | None) -> Array:
    x, w = widened(call.needed(0)), widened(call.needed(1))
    crop = crop_of(call, x.shape[2:], w.shape[2:])
    return transposed(
        x,
        w,
        b,
        strides=call.ints("strides", x.ndim - 2, 1),
        dilations=call.ints("dilations", x.ndim - 2, 1),
        begins=crop.begins,
        ends=crop.ends,
        output_padding=crop.output_padding,
        group=call.group,
    )


def _conv_integer(call: Call) -> Results:
    x, w = centred(call.needed(0), call.given(2)), centred(call.needed(1), call.given(3), axis=0)
    return [_convolved(call, x, w, None).astype(np.int32)]


def _qlinear_conv(call: Call) -> Results:
    x = _channels_first(call, centred(call.needed(0), call.needed(2)))
    w = centred(call.needed(3), call.needed(5), axis=0)
    bias = call.given(8)
    total = _convolved(call, x, w, None if bias is None else bias.astype(np.int64))
    x_scale, w_scale = np.float64(call.needed(1).reshape(())), widened(call.needed(4))
    scale = x_scale * w_scale / np.float64(call.needed(6).reshape(()))
    result = requantise(total, spread(scale, total.ndim, 1), call.needed(7))
    return [Requantised(_channels_back(call, result.real), result.dtype)]


def _qlinear_average_pool(call: Call) -> Results:
    x = _channels_first(call, centred(call.needed(0), call.given(2)))
    pool = pool_of(call, x.shape[2:])
    include = bool(call.flag("count_include_pad"))
    mean = average_pool(x.astype(np.float64), pool, count_include_pad=include)
    given = call.given(4)
    zero = np.zeros((), call.needed(0).dtype) if given is None else given
    scale = np.float64(call.needed(1).reshape(())) / np.float64(call.needed(3).reshape(()))
    result = requantise(mean, np.asarray(scale), zero)
    return [Requantised(_channels_back(call, result.real), result.dtype)]


def _channels_first(call: Call, x: Array) -> Array:
    return np.moveaxis(x, -1, 1) if call.flag("channels_last") else x


def _channels_back(call: Call, y: Array) -> Array:
    return np.moveaxis(y, 1, -1) if call.flag("channels_last") else y


def _max_pool(call: Call) -> Results:
    x = widened(call.needed(0))
    order = call.flag("storage_order")
    return list(max_pool(x, pool_of(call, x.shape[2:]), storage_order=order))


def _nhwc_max_pool(call: Call) -> Results:
    x = np.moveaxis(call.needed(0), -1, 1)
    return [np.moveaxis(max_pool(x, pool_of(call, x.shape[2:]))[0], 1, -1)]


def _average_pool(call: Call) -> Results:
    x = widened(call.needed(0))
    include = bool(call.flag("count_include_pad"))
    return [average_pool(x, pool_of(call, x.shape[2:]), count_include_pad=include)]


def _lp_pool(call: Call) -> Results:
    x = widened(call.needed(0))
    return [lp_pool(x, pool_of(call, x.shape[2:]), p=float(call.attributes.get("p", 2)))]


def _pad(call: Call) -> Results:
    x = widened(call.needed(0))
    mode = call.attributes.get("mode", "constant")
    pads, value = pad_operands(call)
    axes = call.given(3)
    padded = list(range(x.ndim)) if axes is None else [int(a) % x.ndim for a in axes.reshape(-1)]
    if len(pads) != 2 * len(padded) or len(set(padded)) != len(padded):
        raise NotEvaluable(f"Pad with pads {pads} for axes {padded}")
    begins, ends = [0] * x.ndim, [0] * x.ndim
    for order, axis in enumerate(padded):
        begins[axis], ends[axis] = pads[order], pads[order + len(padded)]
    return [pad(x, begins, ends, mode, value)]


def pad_operands(call: Call) -> tuple[list[int], float | Array]:
    """Pads and fill of a Pad."""
    if pads_are_attributes(call.domain, call.opset):
        pads = call.attributes.get("pads") or call.attributes.get("paddings") or []
        return [int(p) for p in pads], call.attributes.get("value", 0.0)
    given, value = call.needed(PadInput.PADS), call.real(PadInput.VALUE)
    return [int(p) for p in given.reshape(-1)], 0 if value is None else value.reshape(())


_OPERATORS: dict[tuple[str, str], Callable[[Call], Results]] = {
    ("", "Conv"): _conv,
    ("", "ConvInteger"): _conv_integer,
    ("", "QLinearConv"): _qlinear_conv,
    ("", "ConvTranspose"): _conv_transpose,
    ("", "MaxPool"): _max_pool,
    ("", "AveragePool"): _average_pool,
    ("", "LpPool"): _lp_pool,
    ("", "Pad"): _pad,
    (MICROSOFT, "FusedConv"): _fused_conv,
    (MICROSOFT, "QLinearConv"): _qlinear_conv,
    (MICROSOFT, "QLinearAveragePool"): _qlinear_average_pool,
    (MICROSOFT, "NhwcMaxPool"): _nhwc_max_pool,
    (MICROSOFT, "ConvTransposeWithDynamicPads"): _conv_transpose_dynamic,
    (MICROSOFT, "Pad"): _pad,
}
