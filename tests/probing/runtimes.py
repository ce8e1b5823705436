"""Runtimes for tests: the tests' own interpreter, with faults put into it by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx

from tests.oracle.interpreter import run_model

Array = np.ndarray[Any, Any]
Runtime = Callable[[str, Mapping[str, Array]], Mapping[str, Array]]


def attribute(node: onnx.NodeProto, name: str, default: Any = None) -> Any:
    """The value of an attribute; texts as such."""
    for item in node.attribute:
        if item.name == name:
            value = onnx.helper.get_attribute_value(item)
            return value.decode() if isinstance(value, bytes) else value
    return default


def is_same(node: onnx.NodeProto) -> bool:
    return str(attribute(node, "auto_pad", "NOTSET")).startswith("SAME")


def refusing(objects: Callable[[onnx.NodeProto], bool], calls: list[str] | None = None) -> Runtime:
    """A runtime that stops at nodes of a kind, and is right about all others."""

    def run(path: str, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
        if calls is not None:
            calls.append(path)
        model = onnx.load(path)
        for node in model.graph.node:
            if objects(node):
                raise ValueError(f"no {node.op_type} like this")
        return run_model(model, dict(inputs))

    return run


def changing(change: Callable[[onnx.NodeProto], None]) -> Runtime:
    """A runtime that reads nodes as something else, and says nothing about it."""

    def run(path: str, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
        model = onnx.load(path)
        for node in model.graph.node:
            change(node)
        return run_model(model, dict(inputs))

    return run


def same_as_lower(node: onnx.NodeProto) -> None:
    """SAME_UPPER is taken for SAME_LOWER: the odd cell is at the wrong side."""
    for item in node.attribute:
        if item.name == "auto_pad" and item.s == b"SAME_UPPER":
            item.s = b"SAME_LOWER"


def network(text: str, **weights: Array) -> onnx.ModelProto:
    """A model of this text with weights as initializers."""
    model: onnx.ModelProto = onnx.parser.parse_model(text)
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(value, name) for name, value in weights.items()
    )
    return model


def numbers(*shape: int, seed: int = 3) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


HEAD = '<ir_version: 8, opset_import: ["": 17]> g'
SAME = network(
    f"{HEAD} (float[1,3,9,12] x) => (float[1,3,3,4] y) {{"
    '[first] t = Conv <auto_pad = "SAME_UPPER", strides = [2, 2]> (x, w)'
    "[second] r = Relu (t)"
    '[third] y = MaxPool <auto_pad = "SAME_UPPER", kernel_shape = [3, 3], strides = [2, 2]> (r)'
    "}",
    w=numbers(3, 3, 4, 4),
)
"""A convolution and a pool that pad unevenly."""
SCALED = network(
    f"{HEAD} (float[1,2,8,8] x) => (float[1,2,8,8] y) {{"
    "[first] t = Conv <pads = [1, 1, 1, 1]> (x, w)"
    "[second] s = Mul (t, t)"
    "[third] y = Conv <pads = [1, 1, 1, 1]> (s, w)"
    "}",
    w=numbers(2, 2, 3, 3),
)
"""Symmetric padding, and a Mul between."""
