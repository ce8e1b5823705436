"""Between which numbers the cells of a tensor lie, whatever a caller gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.model.comparing.networks import Network, Operation
from onnxpad.padding.plain_operators import MOVES

Array = NDArray[Any]
_MOVES = MOVES | {
    *("GatherND", "GatherElements", "GlobalMaxPool", "GlobalAveragePool"),
    *("ReduceMean", "ReduceMax", "ReduceMin", "Dropout"),
}
"""No cell of the result is beyond those of the first input."""
_FIXED = {
    "Sigmoid": (0.0, 1.0),
    "HardSigmoid": (0.0, 1.0),
    "Softmax": (0.0, 1.0),
    "Tanh": (-1.0, 1.0),
    "Softsign": (-1.0, 1.0),
    "Erf": (-1.0, 1.0),
    "Sin": (-1.0, 1.0),
    "Cos": (-1.0, 1.0),
    "Softplus": (0.0, inf),
    "Exp": (0.0, inf),
    "Sqrt": (0.0, inf),
    "LpPool": (0.0, inf),
    "GlobalLpPool": (0.0, inf),
    "ReduceL1": (0.0, inf),
    "ReduceL2": (0.0, inf),
    "ReduceSumSquare": (0.0, inf),
}
"""What these operators give of any numbers (ONNX Operators)."""
_FREE = ("Conv", "FusedConv", "ConvTranspose", "MatMul", "Gemm", "BatchNormalization")
_DEEPEST = 60


@dataclass(frozen=True, slots=True)
class Range:
    """`sure` where every number between may be taken, as far as operators tell."""

    low: float = -inf
    high: float = inf
    sure: bool = True

    def with_(self, *others: Range) -> Range:
        """The smallest range around all of them."""
        every = (self, *others)
        return Range(
            min(one.low for one in every),
            max(one.high for one in every),
            all(one.sure for one in every),
        )

    def within(self, other: Range) -> Range:
        """What both allow."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Range(low, max(low, high), self.sure and other.sure)


class Ranges:
    """The ranges of a model's tensors, found when they are asked for."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._known: dict[str, Range] = {}

    def of(self, name: str, depth: int = 0) -> Range:
        """The range of a float tensor of the main graph."""
        if name not in self._known:
            self._known[name] = Range(sure=False)  # for graphs that are no graphs
            if depth < _DEEPEST:
                self._known[name] = self._find(name, depth + 1)
        return self._known[name]

    def _find(self, name: str, depth: int) -> Range:
        network = self._network
        if name in network.fed:
            return Range()
        value = network.constant(name)
        if value is not None:
            plain = value.dtype.kind in "fiu" and value.size > 0
            return Range(float(value.min()), float(value.max())) if plain else Range(sure=False)
        index = network.producers.get(name)
        if index is None:
            return Range(sure=False)
        operation = network.operation(index)
        if operation.domain or name != operation.outputs[0]:
            moved = operation.op_type == "Split" and not operation.domain
            source = operation.inputs[0] if moved and operation.inputs else ""
            return self.of(source, depth) if source else Range(sure=False)
        try:
            return self._made(operation, lambda one: self.of(one, depth))
        except (IndexError, TypeError, ValueError):  # inputs that the operator cannot have
            return Range(sure=False)

    def _made(self, operation: Operation, of: Callable[[str], Range]) -> Range:
        kind, inputs = operation.op_type, [name for name in operation.inputs if name]
        if kind in _FIXED:
            return Range(*_FIXED[kind], sure=of(inputs[0]).sure)
        if kind in _MOVES:
            return of(inputs[0])
        if kind in _FREE:
            return self._filtered(operation, [of(name) for name in inputs[:2]])
        if kind in ("Concat", "Where"):
            first, *rest = [of(name) for name in inputs[kind == "Where" :]]
            return first.with_(*rest)
        if kind in ("Pad", "AveragePool", "MaxPool"):
            return self._padded(operation, of(inputs[0]))
        if kind in ("Add", "Sub", "Mul", "Max", "Min") and len(inputs) == 2:
            if inputs[0] == inputs[1] and kind == "Mul":
                return Range(0.0, inf, of(inputs[0]).sure)
            return _of_two(kind, of(inputs[0]), of(inputs[1]))
        return self._of_one(operation, of(inputs[0])) if inputs else Range(sure=False)

    def _of_one(self, operation: Operation, x: Range) -> Range:
        match operation.op_type:
            case "Relu":
                return Range(max(x.low, 0.0), max(x.high, 0.0), x.sure)
            case "Neg":
                return Range(-x.high, -x.low, x.sure)
            case "Abs":
                far = max(abs(x.low), abs(x.high))
                return Range(max(x.low, -x.high, 0.0), far, x.sure)
            case "LeakyRelu":
                slope = float(operation.attributes.get("alpha", 0.01))
                low = x.low if x.low >= 0 else slope * x.low
                return Range(low, x.high, x.sure)
            case "Clip":
                return self._clipped(operation, x)
            case "DequantizeLinear":
                return self._dequantised(operation)
        return Range(sure=False)

    def _clipped(self, operation: Operation, x: Range) -> Range:
        facts, names = operation.attributes, [*operation.inputs[1:], "", ""]
        limits = []
        for name, key, beyond in ((names[0], "min", -inf), (names[1], "max", inf)):
            value = self._network.constant(name) if name else np.asarray(facts.get(key, beyond))
            if value is None or value.size != 1:
                return Range(x.low, x.high, sure=False)
            limits.append(float(value.reshape(())))
        low, high = (float(min(max(end, limits[0]), limits[1])) for end in (x.low, x.high))
        return Range(low, high, x.sure)

    def _padded(self, operation: Operation, x: Range) -> Range:
        """With the cells that padding adds; those of a MaxPool win only where nothing else is."""
        if operation.op_type == "MaxPool" or operation.attributes.get("mode") in (
            "edge",
            "reflect",
        ):
            return x
        if operation.op_type == "AveragePool":
            return x.with_(Range(0.0, 0.0))
        name = operation.inputs[2] if len(operation.inputs) > 2 else ""
        fill = self._network.constant(name) if name else np.zeros(1)
        if fill is None or fill.size != 1:
            return Range(sure=False)
        number = float(operation.attributes.get("value", fill.reshape(())))
        return x.with_(Range(number, number))

    def _dequantised(self, operation: Operation) -> Range:
        """What the integers of the zero point's type stand for; only steps of it are taken."""
        scale, zero = (
            self._network.constant(name) if name else None
            for name in [*operation.inputs[1:3], "", ""][:2]
        )
        if scale is None or zero is None or zero.dtype.kind not in "iu" or scale.ndim > 1:
            return Range(sure=False)
        info, offset = np.iinfo(zero.dtype), zero.astype(np.float64)
        ends = [(end - offset) * scale.astype(np.float64) for end in (info.min, info.max)]
        return Range(float(np.min(ends)), float(np.max(ends)), sure=False)

    def _filtered(self, operation: Operation, read: Sequence[Range]) -> Range:
        """Any number; of bounded cells a convolution gives fewer: each tap reads a cell or 0."""
        if not np.isfinite([end for one in read for end in (one.low, one.high)]).all():
            return Range(sure=all(one.sure for one in read))
        if operation.op_type not in ("Conv", "ConvTranspose"):
            return Range(sure=False)
        x = read[0]
        weight, bias = (
            self._network.constant(name) if name else None
            for name in (operation.inputs[1], [*operation.inputs, ""][2])
        )
        if weight is None or (len(operation.inputs) > 2 and operation.inputs[2] and bias is None):
            return Range(x.low, x.high, sure=False)
        transposed = operation.op_type == "ConvTranspose"
        taps = weight.astype(np.float64)
        taps = np.moveaxis(taps, 1, 0) if transposed else taps
        taps = taps.reshape(taps.shape[0], -1)
        low, high = min(x.low, 0.0), max(x.high, 0.0)
        added = 0.0 if bias is None or transposed else bias.astype(np.float64)
        most = (np.maximum(taps, 0) * high + np.minimum(taps, 0) * low).sum(1) + added
        least = (np.maximum(taps, 0) * low + np.minimum(taps, 0) * high).sum(1) + added
        moved = 0.0 if bias is None or not transposed else float(np.abs(bias).max(initial=0.0))
        return Range(float(least.min()) - moved, float(most.max()) + moved, x.sure)


def _of_two(kind: str, a: Range, b: Range) -> Range:
    sure = a.sure and b.sure
    match kind:
        case "Add":
            return Range(a.low + b.low, a.high + b.high, sure)
        case "Sub":
            return Range(a.low - b.high, a.high - b.low, sure)
        case "Max":
            return Range(max(a.low, b.low), max(a.high, b.high), sure)
        case "Min":
            return Range(min(a.low, b.low), min(a.high, b.high), sure)
    ends = [x * y if x and y else 0.0 for x in (a.low, a.high) for y in (b.low, b.high)]
    return Range(min(ends), max(ends), sure)
