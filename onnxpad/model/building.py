"""ONNX models of single layers, from their steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from onnxpad.errors import RequestError
from onnxpad.frameworks.steps import AddBias, PadWith, Scale, SliceStep, Step, Windows

Array = NDArray[Any]
OPSET = 22
_IR_VERSION = 10
_FLOATS = {np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)}


def build_model(
    steps: Sequence[Step],
    input_shape: Sequence[int],
    *,
    weight: Array | None = None,
    bias: Array | None = None,
) -> ModelProto:
    """A model of these steps: input `x`, output `y`, opset 22, the weight's type throughout.

    Weights are in ONNX layout. RequestError for weights that are no floats.
    """
    dtype = np.dtype(np.float32) if weight is None else weight.dtype
    if dtype not in _FLOATS:
        raise RequestError(f"the weight holds {dtype}, but must hold float16, float32 or float64")
    builder = _Builder(dtype, len(input_shape))
    if weight is not None:
        builder.constant("w", weight)
    if bias is not None:
        builder.constant("b", bias.astype(dtype))
    current = "x"
    for number, step in enumerate(steps):
        result = "y" if number == len(steps) - 1 else f"t{number}"
        current = builder.add(step, current, result, has_bias=bias is not None)
    if current != "y":
        builder.nodes.append(helper.make_node("Identity", [current], ["y"], name="copy"))
    return builder.model(input_shape)


class _Builder:
    """Collects the nodes and constants of one model."""

    def __init__(self, dtype: np.dtype[Any], rank: int) -> None:
        self._dtype, self._rank = dtype, rank
        self._constants: list[TensorProto] = []
        self.nodes: list[NodeProto] = []

    def constant(self, name: str, value: Array) -> str:
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, step: Step, source: str, result: str, *, has_bias: bool) -> str:
        """Add the node of one step; gives the name of its result."""
        match step:
            case Windows():
                weights = ["w"] if step.op.startswith("Conv") else []
                weights += ["b"] if weights and has_bias and step.takes_bias else []
                self._node(step.op, [source, *weights], result, **step.attributes)
            case PadWith():
                self._pad(step, source, result)
            case SliceStep():
                axes = np.arange(2, self._rank)
                starts, ends = np.array(step.starts, np.int64), np.array(step.ends, np.int64)
                inputs = [source]
                for part, value in (("starts", starts), ("ends", ends), ("axes", axes)):
                    inputs.append(self.constant(f"{result}_{part}", value))
                self._node("Slice", inputs, result)
            case Scale():
                factor = self.constant(f"{result}_factor", np.array(step.factor, self._dtype))
                self._node("Mul", [source, factor], result)
            case AddBias() if has_bias:
                shape = (1, -1) + (1,) * (self._rank - 2)
                wide = self.constant(f"{result}_shape", np.array(shape, np.int64))
                self._node("Reshape", ["b", wide], f"{result}_bias")
                self._node("Add", [source, f"{result}_bias"], result)
            case AddBias():
                return source
        return result

    def _pad(self, step: PadWith, source: str, result: str) -> None:
        pads = np.array([0, 0, *step.pads.begins, 0, 0, *step.pads.ends], np.int64)
        inputs = [source, self.constant(f"{result}_pads", pads)]
        if step.mode == "constant":
            inputs.append(self.constant(f"{result}_value", np.array(step.value, self._dtype)))
        self._node("Pad", inputs, result, mode=str(step.mode))

    def _node(self, op: str, inputs: Sequence[str], result: str, **attributes: Any) -> None:  # noqa: ANN401 - make_node takes any
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [result], name=name, **attributes))

    def model(self, input_shape: Sequence[int]) -> ModelProto:
        """The finished model; the shape of `y` is left to shape inference."""
        kind = helper.np_dtype_to_tensor_dtype(self._dtype)
        graph = helper.make_graph(
            self.nodes,
            "layer",
            [helper.make_tensor_value_info("x", kind, list(input_shape))],
            [helper.make_tensor_value_info("y", kind, None)],
            self._constants,
        )
        opsets = [helper.make_opsetid("", OPSET)]
        made: ModelProto = helper.make_model(
            graph, ir_version=_IR_VERSION, opset_imports=opsets, producer_name="onnxpad"
        )
        return made
