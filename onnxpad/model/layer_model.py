"""ONNX models of single layers, from their steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from onnxpad.errors import InternalError, RequestError
from onnxpad.padding.expansion import Made, Numbers, Operand, Read, Reshaped, Step

Array = NDArray[Any]
OPSET = 22
_IR_VERSION = 10
_DATA, _WEIGHT, _BIAS = Read(0), Read(1), Read(2)
_NAMES = {_DATA: "x", _WEIGHT: "w", _BIAS: "b"}
_ROLES = {_WEIGHT: "weight", _BIAS: "bias"}
_FLOATS = {np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)}


def build_model(
    steps: Sequence[Step],
    input_shape: Sequence[int],
    *,
    weight: Array | None = None,
    bias: Array | None = None,
) -> ModelProto:
    """A model of these steps: input `x`, output `y`, opset 22, the weight's type throughout.

    The first step reads the input at 0; the weight is read at 1, the bias at 2.
    Weights are in ONNX layout. RequestError for weights that are no floats.
    """
    dtype = np.dtype(np.float32) if weight is None else weight.dtype
    if dtype not in _FLOATS:
        raise RequestError(f"the weight holds {dtype}, but must hold float16, float32 or float64")
    given = {_WEIGHT: weight, _BIAS: None if bias is None else bias.astype(dtype)}
    builder = _Builder(dtype, given)
    for number, step in enumerate(steps):
        builder.add(step, "y" if number == len(steps) - 1 else f"t{number}")
    if builder.made[-1:] != ["y"]:
        builder.nodes.append(helper.make_node("Identity", builder.made[-1:], ["y"], name="copy"))
    return builder.model(input_shape)


class _Builder:
    """Collects the nodes and constants of one model; `made` is what each step made."""

    def __init__(self, dtype: np.dtype[Any], given: Mapping[Read, Array | None]) -> None:
        self._dtype = dtype
        self._arrays = {position: array for position, array in given.items() if array is not None}
        self._constants: list[TensorProto] = []
        self.nodes: list[NodeProto] = []
        self.made: list[str] = []
        for position, array in self._arrays.items():
            self._constant(_NAMES[position], array)

    def add(self, step: Step, result: str) -> None:
        """Add the node of one step; nothing is added where no bias is given."""
        inputs = [self._tensor(operand, result) for operand in step.inputs]
        if step.op_type == "Add" and "" in inputs:
            self.made.append(inputs[0])
            return
        name = f"{step.op_type.lower()}_{len(self.nodes)}"
        while not inputs[-1]:
            inputs.pop()
        attributes: dict[str, Any] = dict(step.attributes)
        self.nodes.append(helper.make_node(step.op_type, inputs, [result], name=name, **attributes))
        self.made.append(result)

    def _tensor(self, operand: Operand | None, result: str) -> str:
        """The name of what a step reads; '' for nothing, and for a bias that is not given."""
        match operand:
            case None:
                return ""
            case Read() if operand == _DATA or operand in self._arrays:
                return _NAMES[operand]
            case Made(step):
                return self.made[step]
            case Numbers(role, dtype, dims, values):
                kind = np.dtype(np.int64) if "int" in dtype else self._dtype
                return self._constant(f"{result}_{role}", np.array(values, kind).reshape(dims))
            case Reshaped(Read() as source, dims) if source in self._arrays:
                return self._constant(
                    f"{result}_{_ROLES[source]}", self._arrays[source].reshape(dims)
                )
            case Read(_BIAS.position) | Reshaped(Read(_BIAS.position)):
                return ""
            case _:
                raise InternalError(f"{result}: a single layer has no {operand}")

    def _constant(self, name: str, value: Array) -> str:
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

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
