"""Kernels of the test interpreter for the operators around padding: arithmetic, shapes, Q/DQ."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx

from tests.oracle.operator_call import Array, Call
from tests.oracle.operators import quantize

Outputs = tuple[Array, ...]
Kernel = Callable[[Call], Outputs]


def is_float(x: Array) -> bool:
    return x.dtype.kind == "f" or x.dtype.name == "bfloat16"


def _wide(x: Array) -> Array:
    return x.astype(np.float64) if is_float(x) else x


def _arithmetic(function: Callable[..., Array]) -> Kernel:
    """An elementwise kernel: floats in float64, the result in the type of the first operand."""

    def kernel(call: Call) -> Outputs:
        operands = [_wide(call.need(i)) for i in range(len(call.inputs))]
        return (np.asarray(function(*operands)).astype(call.need(0).dtype),)

    return kernel


def _folded(function: Callable[[Array, Array], Array]) -> Callable[..., Array]:
    def fold(first: Array, *others: Array) -> Array:
        for other in others:
            first = function(first, other)
        return first

    return fold


def _divide(a: Array, b: Array) -> Array:
    """Integers divide towards zero (Div-14)."""
    if is_float(a):
        return np.asarray(a / b)
    sign = np.sign(a) * np.sign(b)
    return np.asarray(np.abs(a) // np.abs(b) * sign)


def _mod(call: Call) -> Outputs:
    a, b = call.need(0), call.need(1)
    if call.get("fmod", 0):
        return (np.fmod(_wide(a), _wide(b)).astype(a.dtype),)
    if is_float(a):
        raise ValueError(f"{call}: Mod of floats needs fmod=1")
    return (np.mod(a, b),)


def _clip(call: Call) -> Outputs:
    """min(max(x, low), high); attributes before opset 11."""
    x, bounds = call.need(0), (call.optional(1), call.optional(2))
    low, high = (
        call.get(n) if b is None else b for n, b in zip(("min", "max"), bounds, strict=True)
    )
    x = x if low is None else np.maximum(x, x.dtype.type(low))
    return (x if high is None else np.minimum(x, x.dtype.type(high)),)


def _compare(function: Callable[[Array, Array], Array]) -> Kernel:
    return lambda call: (np.asarray(function(call.need(0), call.need(1))),)


def _constant(call: Call) -> Outputs:
    kinds: dict[str, Any] = {"value": None, "value_int": np.int64, "value_ints": np.int64}
    kinds |= {"value_float": np.float32, "value_floats": np.float32}
    for name, kind in kinds.items():
        if name in call.attributes:
            value = call.attributes[name]
            return (np.asarray(value) if kind is None else np.asarray(value, kind),)
    raise NotImplementedError(f"{call} with {sorted(call.attributes)}")


def _constant_of_shape(call: Call) -> Outputs:
    value = np.asarray(call.get("value", np.zeros(1, np.float32))).ravel()
    return (np.full(call.need(0).tolist(), value[0], value.dtype),)


def _cast(call: Call) -> Outputs:
    to = call.attributes["to"]
    if isinstance(to, str):
        to = onnx.TensorProto.DataType.Value(to)
    return (call.need(0).astype(onnx.helper.tensor_dtype_to_np_dtype(to)),)


def _slice(call: Call) -> Outputs:
    x, starts, ends = call.need(0), call.ints(1, "starts"), call.ints(2, "ends")
    if starts is None or ends is None:
        raise ValueError(f"{call} lacks starts or ends")
    axes = call.ints(3, "axes") or list(range(len(starts)))
    steps = call.ints(4, "steps") or [1] * len(starts)
    cut: list[Any] = [slice(None)] * x.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        cut[axis] = slice(start, end, step)
    return (x[tuple(cut)],)


def _concat(call: Call) -> Outputs:
    parts = [call.need(i) for i in range(len(call.inputs))]
    return (np.concatenate(parts, axis=call.get("axis", 1)),)


def _transpose(call: Call) -> Outputs:
    return (call.need(0).transpose(call.get("perm")),)


def _squeeze(call: Call) -> Outputs:
    axes = call.ints(1, "axes")
    return (np.squeeze(call.need(0), None if axes is None else tuple(axes)),)


def _unsqueeze(call: Call) -> Outputs:
    return (np.expand_dims(call.need(0), tuple(call.ints(1, "axes") or ())),)


def _reshape(call: Call) -> Outputs:
    x, wanted = call.need(0), call.ints(1, "shape") or []
    if not call.get("allowzero", 0):
        wanted = [x.shape[i] if size == 0 else size for i, size in enumerate(wanted)]
    return (x.reshape(wanted),)


def _expand(call: Call) -> Outputs:
    x = call.need(0)
    shape = np.broadcast_shapes(x.shape, tuple(int(size) for size in call.need(1)))
    return (np.broadcast_to(x, shape).copy(),)


def _shape(call: Call) -> Outputs:
    dims = call.need(0).shape[call.get("start", 0) : call.get("end")]
    return (np.asarray(dims, np.int64),)


def _gather(call: Call) -> Outputs:
    x, index, axis = call.need(0), call.need(1), call.get("axis", 0)
    return (x.take(index, axis),)


def _on_axis(values: Array, x: Array, axis: int) -> Array:
    """A scale or zero point shaped to broadcast: one value, or one per cell of `axis`."""
    if values.size == 1:
        return values.reshape(())
    if values.shape != (x.shape[axis],):
        raise NotImplementedError(f"scale or zero point of shape {values.shape} for {x.shape}")
    return values.reshape([-1 if a == axis % x.ndim else 1 for a in range(x.ndim)])


def _quantize_linear(call: Call) -> Outputs:
    x, zero, axis = call.need(0), call.optional(2), call.get("axis", 1)
    if call.get("output_dtype"):
        raise NotImplementedError(f"{call} with output_dtype")
    zero = np.zeros((), np.uint8) if zero is None else zero
    real = x.astype(np.float64) / _on_axis(call.need(1).astype(np.float64), x, axis)
    return (quantize(real, _on_axis(zero.astype(np.int64), x, axis), zero.dtype),)


def _dequantize_linear(call: Call) -> Outputs:
    x, scale, zero = call.need(0), call.need(1), call.optional(2)
    axis, wide = call.get("axis", 1), x.astype(np.int64)
    if zero is not None:
        if zero.dtype != x.dtype:
            raise TypeError(f"{call} has {x.dtype} values and a {zero.dtype} zero point")
        wide = wide - _on_axis(zero.astype(np.int64), x, axis)
    return ((wide * _on_axis(scale.astype(np.float64), x, axis)).astype(scale.dtype),)


def _batch_normalization(call: Call) -> Outputs:
    if call.get("training_mode"):
        raise NotImplementedError(f"{call} with training_mode")
    x, *channels = (_wide(call.need(i)) for i in range(5))
    scale, bias, mean, variance = (_on_axis(values, x, 1) for values in channels)
    y = (x - mean) / np.sqrt(variance + call.get("epsilon", 1e-5)) * scale + bias
    return (y.astype(call.need(0).dtype),)


_STANDARD: dict[str, Kernel] = {
    "Abs": _arithmetic(np.abs),
    "Add": _arithmetic(np.add),
    "BatchNormalization": _batch_normalization,
    "Cast": _cast,
    "Clip": _clip,
    "Concat": _concat,
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "DequantizeLinear": _dequantize_linear,
    "Div": _arithmetic(_divide),
    "Equal": _compare(np.equal),
    "Expand": _expand,
    "Gather": _gather,
    "Greater": _compare(np.greater),
    "Identity": lambda call: (call.need(0),),
    "Less": _compare(np.less),
    "Max": _arithmetic(_folded(np.maximum)),
    "Min": _arithmetic(_folded(np.minimum)),
    "Mod": _mod,
    "Mul": _arithmetic(np.multiply),
    "Neg": _arithmetic(np.negative),
    "Pow": _arithmetic(np.power),
    "QuantizeLinear": _quantize_linear,
    "Relu": _arithmetic(lambda x: np.maximum(x, 0)),
    "Reshape": _reshape,
    "Shape": _shape,
    "Sigmoid": _arithmetic(lambda x: 1 / (1 + np.exp(-x))),
    "Slice": _slice,
    "Sqrt": _arithmetic(np.sqrt),
    "Squeeze": _squeeze,
    "Sub": _arithmetic(np.subtract),
    "Tanh": _arithmetic(np.tanh),
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
    "Where": lambda call: (np.where(call.need(0), call.need(1), call.need(2)),),
}
PLAIN: dict[tuple[str, str], Kernel] = {("", op): kernel for op, kernel in _STANDARD.items()}
