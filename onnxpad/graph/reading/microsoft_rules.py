"""Output types of com.microsoft operators without padding, which onnx cannot infer."""

from __future__ import annotations

from collections.abc import Sequence

from onnxpad.geometry.size import Size
from onnxpad.graph.reading.shape_rules import Facts, Rule, broadcast, dequantize, keep, quantize
from onnxpad.graph.reading.types import UNKNOWN, Type


def _first_dims(inputs: Sequence[Type], _: Facts) -> Type:
    return Type(inputs[0].dtype, inputs[0].dims)


def _q_binary(inputs: Sequence[Type], facts: Facts) -> Type:
    pair = [inputs[0], inputs[3]] if len(inputs) > 3 else [UNKNOWN, UNKNOWN]
    return Type(inputs[0].dtype, broadcast(pair, facts).dims)


def _q_global(inputs: Sequence[Type], facts: Facts) -> Type:
    last = facts.attributes().get("channels_last", 0)
    dims = inputs[0].dims
    if dims is None or not isinstance(last, int):
        return Type(inputs[0].dtype)
    ones: tuple[Size | None, ...] = (1,) * (len(dims) - 2)
    return Type(inputs[0].dtype, (dims[0], *ones, dims[-1]) if last else dims[:2] + ones)


MICROSOFT_RULES: dict[str, Rule] = {
    "QLinearLeakyRelu": _first_dims,
    "QLinearSigmoid": _first_dims,
    "QLinearSoftmax": _first_dims,
    "QLinearAdd": _q_binary,
    "QLinearMul": _q_binary,
    "QLinearGlobalAveragePool": _q_global,
    "QuantizeLinear": quantize,
    "DequantizeLinear": dequantize,
    "Gelu": keep,
    "QuickGelu": keep,
    "FastGelu": keep,
    "BiasGelu": keep,
}
