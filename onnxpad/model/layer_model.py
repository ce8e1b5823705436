"""ONNX models of single layers, from their steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from onnxpad.errors import InternalError, RequestError
from onnxpad.model.assembled import Array, Piece, assembled
from onnxpad.model.opened import Model
from onnxpad.padding.expansion import Made, Numbers, Operand, Read, Reshaped, Step

OPSET = 22
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
) -> Model:
    """A model of these steps: input `x`, output `y`, opset 22, the weight's type throughout.

    The first step reads the input at 0; the weight is read at 1, the bias at 2.
    Weights are in ONNX layout. RequestError for weights that are no floats.
    """
    dtype = np.dtype(np.float32) if weight is None else weight.dtype
    if dtype not in _FLOATS:
        raise RequestError(f"the weight holds {dtype}, but must hold float16, float32 or float64")
    given = {_WEIGHT: weight, _BIAS: None if bias is None else bias.astype(dtype)}
    layer = _Layer(dtype, {one: array for one, array in given.items() if array is not None})
    for number, step in enumerate(steps):
        layer.add(step, "y" if number == len(steps) - 1 else f"t{number}")
    if layer.made[-1:] != ["y"]:
        layer.pieces.append(Piece("Identity", layer.made[-1:], ["y"], name="copy"))
    ends = {"x": (dtype.name, input_shape)}, {"y": (dtype.name, None)}
    model = assembled(layer.pieces, *ends, layer.constants, opset=OPSET)
    model.graph.name = "layer"
    return model


class _Layer:
    """Collects the nodes and constants of one model; `made` is what each step made."""

    def __init__(self, dtype: np.dtype[Any], given: Mapping[Read, Array]) -> None:
        self._dtype = dtype
        self._given = given
        self.constants = {_NAMES[one]: np.ascontiguousarray(array) for one, array in given.items()}
        self.pieces: list[Piece] = []
        self.made: list[str] = []

    def add(self, step: Step, result: str) -> None:
        """Add the node of one step; nothing is added where no bias is given."""
        inputs = [self._tensor(operand, result) for operand in step.inputs]
        if step.op_type == "Add" and "" in inputs:
            self.made.append(inputs[0])
            return
        name = f"{step.op_type.lower()}_{len(self.pieces)}"
        while not inputs[-1]:
            inputs.pop()
        self.pieces.append(Piece(step.op_type, inputs, [result], dict(step.attributes), name))
        self.made.append(result)

    def _tensor(self, operand: Operand | None, result: str) -> str:
        """The name of what a step reads; '' for nothing, and for a bias that is not given."""
        match operand:
            case None:
                return ""
            case Read(_BIAS.position) | Reshaped(Read(_BIAS.position)) if _BIAS not in self._given:
                return ""
            case Read() if operand == _DATA or operand in self._given:
                return _NAMES[operand]
            case Made(step):
                return self.made[step]
            case Numbers(role, dtype, dims, values):
                kind = np.dtype(np.int64) if "int" in dtype else self._dtype
                return self._constant(f"{result}_{role}", np.array(values, kind).reshape(dims))
            case Reshaped(Read() as source, dims) if source in self._given:
                name = f"{result}_{_ROLES[source]}"
                return self._constant(name, self._given[source].reshape(dims))
            case _:
                raise InternalError(f"{result}: a single layer has no {operand}")

    def _constant(self, name: str, value: Array) -> str:
        self.constants[name] = np.ascontiguousarray(value)
        return name
