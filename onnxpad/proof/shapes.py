"""The shapes of a model's tensors at one size, by the same rules without any cells."""

from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof.call import Budget, Notes, Readings, Value
from onnxpad.proof.evaluation import Environment, Evaluation, Fork
from onnxpad.proof.functions import Number
from onnxpad.proof.graphs import Graph, Node
from onnxpad.proof.outcomes import NoResult, Undecided

Array = NDArray[Any]
_CELLS = 1 << 31
_RANK_KEPT = {
    *("Pad", "Conv", "ConvTranspose", "ConvInteger", "QLinearConv", "DeformConv", "FusedConv"),
    *("MaxPool", "AveragePool", "LpPool", "Relu", "Clip", "LeakyRelu", "Sigmoid", "Tanh", "Resize"),
    *("BatchNormalization", "InstanceNormalization", "QuantizeLinear", "DequantizeLinear", "Cast"),
    *("Slice", "Concat", "Transpose", "QLinearAveragePool", "NhwcMaxPool", "Identity", "Softmax"),
}

_TYPE_KEPT = ("Pad", "Resize", "Slice", "Concat", "Transpose", "Conv", "ConvTranspose", "Relu")


class Hollow:
    """The domain of one cell: whatever is computed, only its shape is kept."""

    computes = False

    def embed(self, numbers: Array) -> Array:
        """Numbers without their values."""
        return np.zeros(numbers.shape, np.int8)

    def number(self, number: Number) -> int:
        """Nothing."""
        del number
        return 0

    def infinity(self, sign: int) -> int:
        """Nothing."""
        del sign
        return 0

    def fresh(self, key: Hashable, shape: tuple[int, ...]) -> Array:
        """Nothing, in a shape."""
        del key
        return np.zeros(shape, np.int8)

    def add(self, a: Array, b: Array) -> Array:
        """The shape of both."""
        return np.zeros(np.broadcast_shapes(a.shape, b.shape), np.int8)

    sub = mul = div = add

    def neg(self, a: Array) -> Array:
        """The same."""
        return a

    def bound(self, a: Array, least: Number) -> None:
        """Nothing."""

    def learn(self, op: str, made: Array, a: Array, b: Array) -> None:
        """Nothing."""

    def total(self, a: Array) -> Array:
        """Without the last axis."""
        return np.zeros(a.shape[:-1], np.int8)

    def contract(self, a: Array, b: Array) -> Array:
        """The shape of both without the last axis."""
        return np.zeros(np.broadcast_shapes(a.shape[:-1], b.shape[:-1]), np.int8)

    def largest(self, a: Array, lowest: Number, floor: Number | None = None) -> Array:
        """Without the last axis."""
        del lowest, floor
        return self.total(a)

    def function(self, op: str, parameters: Mapping[str, Any], *args: Array) -> Array:
        """The shape of all."""
        del op, parameters
        return np.zeros(np.broadcast_shapes(*(one.shape for one in args)), np.int8)

    def quantise(self, a: Array, zero: Array, low: int, high: int) -> Array:
        """The shape of both."""
        del low, high
        return self.add(a, zero)

    def chosen(self, a: Array, places: Array, lowest: Number, *, floats: bool) -> Array:
        """Without the last axis."""
        del places, lowest, floats
        return self.total(a)


@dataclass(slots=True)
class Shapes:
    """Types, ranks and shapes by name, as far as they are known."""

    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    dtypes: dict[str, np.dtype[Any]] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)


def shapes_of(
    graph: Graph,
    given: Mapping[str, tuple[np.dtype[Any], tuple[int, ...]]],
    readings: Readings,
) -> Shapes:
    """Every tensor that can be followed from inputs of these types and shapes."""
    d, found = Hollow(), Shapes()
    run = Evaluation(d, readings, Notes(), Budget(_CELLS))
    values: Environment = {
        name: Value(d.fresh(None, shape), dtype) for name, (dtype, shape) in given.items()
    }
    for name, constant in graph.constants.items():
        values[name] = _constant(run, graph, name)
        found.ranks[name], found.dtypes[name] = len(constant.shape), constant.dtype
    for name, value in values.items():
        _keep(found, name, value)
    for node in graph.nodes:
        try:
            made = run.node(node, values)
        except (Undecided, NoResult, Fork):
            _keep_rank(found, node)
            continue
        for name, value in zip(node.outputs, made, strict=False):
            if name:
                values[name] = value
                _keep(found, name, value)
    return found


def _keep_rank(found: Shapes, node: Node) -> None:
    """What is known of a result whose shape is not."""
    first = node.inputs[0] if node.inputs else ""
    if node.op in _RANK_KEPT and first in found.ranks:
        found.ranks |= dict.fromkeys(node.outputs[:1], found.ranks[first])
        if first in found.dtypes and node.op in _TYPE_KEPT:
            found.dtypes[node.outputs[0]] = found.dtypes[first]


def _constant(run: Evaluation, graph: Graph, name: str) -> Value:
    """Small constants with their numbers, large ones and what cannot be read without."""
    constant = graph.constants[name]
    if constant.size <= 1 << 12:
        with suppress(Undecided):
            return run.constant(constant)
    return Value(np.zeros(constant.shape, np.int8), constant.dtype)


def _keep(found: Shapes, name: str, value: Value) -> None:
    found.shapes[name], found.dtypes[name] = value.shape, value.dtype
    found.ranks[name] = len(value.shape)
