"""Kernels of the test interpreter for operators with padding: from a Call to the oracle."""

from typing import Any

import numpy as np

from tests.oracle import operators as oracle
from tests.oracle.operator_call import Array, Call

Outputs = tuple[Array, ...]


def _placing(call: Call, *extra: str) -> dict[str, Any]:
    """The geometry that the node writes; what it leaves out stays out."""
    wanted = ("strides", "dilations", "pads", "auto_pad", *extra)
    return {name: call.attributes[name] for name in wanted if name in call.attributes}


def _checked_kernel(call: Call, w: Array) -> Array:
    written = call.get("kernel_shape", w.shape[2:])
    if tuple(written) != w.shape[2:]:
        raise ValueError(f"{call} has kernel_shape {list(written)} and w {w.shape}")
    return w


def _conv(call: Call) -> Outputs:
    x, w = call.need(0), _checked_kernel(call, call.need(1))
    y = oracle.conv(x, w, call.optional(2), **_placing(call, "group"))
    return (y.astype(x.dtype),)


def _fitting_int32(call: Call, total: Array) -> Array:
    limits = np.iinfo(np.int32)
    if total.size and (total.min() < limits.min or total.max() > limits.max):
        raise OverflowError(f"{call} accumulates beyond int32")
    return total.astype(np.int32)


def _conv_integer(call: Call) -> Outputs:
    x, w = call.need(0), _checked_kernel(call, call.need(1))
    zeros = [0 if zero is None else zero for zero in (call.optional(2), call.optional(3))]
    total = oracle.conv_integer(x, w, *zeros, **_placing(call, "group"))
    return (_fitting_int32(call, total),)


def _qlinear_conv(call: Call) -> Outputs:
    x, w = call.need(0), _checked_kernel(call, call.need(3))
    x_quant, w_quant = (call.need(1), call.need(2)), (call.need(4), call.need(5))
    y_quant = (call.need(6), call.need(7))
    rest = _placing(call, "group")
    return (oracle.qlinear_conv(x, *x_quant, w, *w_quant, *y_quant, call.optional(8), **rest),)


def _conv_transpose(call: Call) -> Outputs:
    x, w = call.need(0), _checked_kernel(call, call.need(1))
    rest = _placing(call, "group", "output_padding", "output_shape")
    return (oracle.conv_transpose(x, w, call.optional(2), **rest).astype(x.dtype),)


def _max_pool(call: Call) -> Outputs:
    rest = _placing(call, "ceil_mode", "storage_order")
    return oracle.pool_max(call.need(0), call.get("kernel_shape"), **rest)


def _average_pool(call: Call) -> Outputs:
    x, rest = call.need(0), _placing(call, "ceil_mode", "count_include_pad")
    return (oracle.pool_average(x, call.get("kernel_shape"), **rest).astype(x.dtype),)


def _qlinear_average_pool(call: Call) -> Outputs:
    x, x_scale, y_scale = call.need(0), call.need(1), call.need(3)
    zeros = [np.zeros((), x.dtype) if z is None else z for z in map(call.optional, (2, 4))]
    rest = _placing(call, "ceil_mode", "count_include_pad")
    kernel = call.get("kernel_shape")
    return (oracle.qlinear_average_pool(x, x_scale, zeros[0], y_scale, zeros[1], kernel, **rest),)


def _lp_pool(call: Call) -> Outputs:
    x, p = call.need(0), int(call.get("p", 2))
    rest = _placing(call, "ceil_mode")
    return (oracle.pool_lp(x, call.get("kernel_shape"), p=p, **rest).astype(x.dtype),)


def _pad(call: Call) -> Outputs:
    """Pad-1 `paddings`, Pad-2 `pads` and `value`, from 11 on inputs, from 18 on with axes."""
    pads = call.ints(1, "paddings" if call.domain == "" and call.opset < 2 else "pads")
    if pads is None:
        raise ValueError(f"{call} has no pads")
    constant, axes = call.optional(2), call.optional(3)
    value = call.get("value", 0.0) if constant is None else constant
    if np.size(value) != 1:
        raise ValueError(f"{call} has {np.size(value)} constant values")
    fill = np.asarray(value).reshape(())
    listed = None if axes is None else [int(a) for a in axes]
    mode = call.get("mode", "constant")
    return (oracle.pad(call.need(0), pads, mode=mode, value=fill, axes=listed),)


PADDED = {
    ("", "AveragePool"): _average_pool,
    ("", "Conv"): _conv,
    ("", "ConvInteger"): _conv_integer,
    ("", "ConvTranspose"): _conv_transpose,
    ("", "LpPool"): _lp_pool,
    ("", "MaxPool"): _max_pool,
    ("", "Pad"): _pad,
    ("", "QLinearConv"): _qlinear_conv,
    ("com.microsoft", "Pad"): _pad,
    ("com.microsoft", "QLinearAveragePool"): _qlinear_average_pool,
}
