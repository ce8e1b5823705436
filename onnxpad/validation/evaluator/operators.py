"""Padded operators of ONNX and com.microsoft on arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from onnxpad.padding.operators import MICROSOFT, PadInput, pads_are_attributes
from onnxpad.validation.evaluator.calls import Call, crop_of, pool_of, widened
from onnxpad.validation.evaluator.convolution import convolve, transposed
from onnxpad.validation.evaluator.padding import pad
from onnxpad.validation.evaluator.pooling import average_pool, lp_pool, max_pool
from onnxpad.validation.evaluator.quantised import Requantised, centred, requantise, spread
from onnxpad.validation.evaluator.windows import Array, NotEvaluable

Results = list[Array | Requantised]


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
    return (_plain(domain), op_type) in _OPERATORS


def solve(call: Call) -> Results:
    """Outputs of the call; quantised ones before they are rounded."""
    operator = _OPERATORS.get((_plain(call.domain), call.op_type))
    if operator is None:
        raise NotEvaluable(f"no evaluator for {call.domain or 'ai.onnx'}.{call.op_type}")
    return operator(call)


def _plain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


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
    places = list(range(x.ndim)) if axes is None else [int(a) % x.ndim for a in axes.reshape(-1)]
    if len(pads) != 2 * len(places) or len(set(places)) != len(places):
        raise NotEvaluable(f"Pad with pads {pads} for axes {places}")
    begins, ends = [0] * x.ndim, [0] * x.ndim
    for order, place in enumerate(places):
        begins[place], ends[place] = pads[order], pads[order + len(places)]
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
