"""The one builder of small models: from nodes in words, or from the steps of a layer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper, parser, printer

from onnxpad.errors import InternalError, RequestError
from onnxpad.padding.expansion import Made, Numbers, Operand, Read, Reshaped, Step

Array = NDArray[Any]
Dims = Sequence[int | str | None] | None
_IR_VERSIONS = ((25, 13), (24, 12), (23, 11), (21, 10), (19, 9), (15, 8), (13, 7), (11, 6), (10, 5))
_OLDEST_IR = 4
_PLAIN = "ai.onnx"
OPSET_OF_LAYERS = 22


@dataclass(frozen=True)
class Piece:
    """A node: its operator, what it reads and makes, and its attributes as plain values.

    An attribute that holds a list of Piece is a body without inputs; its last piece makes its
    result. Without a `name` the node is called after its operator and its place.
    """

    operator: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""


def assembled(
    pieces: Sequence[Piece],
    inputs: Mapping[str, tuple[str, Dims]],
    outputs: Mapping[str, tuple[str, Dims]],
    constants: Mapping[str, Array],
    *,
    opset: int,
    producer: str = "onnxpad",
) -> ModelProto:
    """A model of these nodes, the first of which is called after its operator.

    `inputs` and `outputs` give the element type and the sizes of each, a text for one that is
    open. `opset` is that of the standard operators; the IR version is the one that came with it.
    """
    nodes = [_node(piece, number) for number, piece in enumerate(pieces)]
    graph = helper.make_graph(
        nodes,
        "reproducer",
        [_described(name, *kind) for name, kind in inputs.items()],
        [_described(name, *kind) for name, kind in outputs.items()],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    domains = sorted({node.domain for node in nodes} - {""})
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(one, 1) for one in domains)]
    version = next((ir for since, ir in _IR_VERSIONS if opset >= since), _OLDEST_IR)
    made: ModelProto = helper.make_model(
        graph, ir_version=version, opset_imports=imports, producer_name=producer
    )
    return made


def with_output_shapes(model: ModelProto, outputs: Mapping[str, Array]) -> ModelProto:
    """A copy whose outputs have the types and sizes of these arrays.

    Of a model that leaves sizes of its inputs open, those of its outputs are as many, and open.
    """
    copy = ModelProto()
    copy.CopyFrom(model)
    dims = (dim for value in copy.graph.input for dim in value.type.tensor_type.shape.dim)
    is_open = any(dim.dim_param for dim in dims)
    for value in copy.graph.output:
        if value.name in outputs:
            found = outputs[value.name]
            sizes = [None] * found.ndim if is_open else found.shape
            value.CopyFrom(_described(value.name, str(found.dtype), sizes))
    return copy


def _described(name: str, dtype: str, dims: Dims) -> Any:  # noqa: ANN401 - a ValueInfoProto
    return helper.make_tensor_value_info(name, _code(dtype), dims)


def _code(dtype: str) -> int:
    if dtype == "bfloat16":
        return int(TensorProto.BFLOAT16)
    return int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def _node(piece: Piece, number: int) -> Any:  # noqa: ANN401 - a NodeProto
    domain, _, operator = piece.operator.rpartition(".")
    written = {name: _written(value) for name, value in piece.attributes.items()}
    return helper.make_node(
        operator,
        list(piece.inputs),
        list(piece.outputs),
        name=piece.name or (operator.lower() if number == 0 else f"{operator.lower()}_{number}"),
        domain="" if domain == _PLAIN else domain,
        **written,
    )


def _written(value: Any) -> Any:  # noqa: ANN401 - what onnx takes
    """An attribute as onnx takes it: an array as a tensor, a type as its code, pieces as a body."""
    if isinstance(value, np.ndarray):
        return numpy_helper.from_array(value)
    if isinstance(value, np.dtype):
        return _code(value.name)
    if not (isinstance(value, list) and value and isinstance(value[0], Piece)):
        return value
    results = [helper.make_empty_tensor_value_info(name) for name in value[-1].outputs]
    nodes = [_node(piece, number) for number, piece in enumerate(value)]
    return helper.make_graph(nodes, "body", [], results)


def parsed(text: str) -> ModelProto:
    """The model of a text in the language of `onnx.parser`.

    Its nodes are called after their operators and places; constants that nothing reads are left
    out.
    """
    model: ModelProto = parser.parse_model(text)
    for place, node in enumerate(model.graph.node):
        node.name = f"{node.op_type.lower()}_{place}"
    read = {name for node in model.graph.node for name in node.input}
    stored = [tensor for tensor in model.graph.initializer if tensor.name in read]
    del model.graph.initializer[:]
    model.graph.initializer.extend(stored)
    return model


def text_lines(model: ModelProto) -> list[str]:
    """The same language, without the values of large constants."""
    text = re.sub(r"=\s+\{[^{}]{80,}\}", "= {...}", printer.to_text(model))
    return [line.rstrip() for line in text.splitlines()]


CALL = "onnxpad.Leaky"
_ENDS = "plain (float[1,2,4,4] x) => (float[1,2,4,4] y)"
_OPSET_13 = '<ir_version: 7, opset_import: ["" : 13]>'
_PLAIN_MODELS = {
    "Relu": f"{_OPSET_13} {_ENDS} {{ y = Relu (x) }}",
    "Conv": f"{_OPSET_13} {_ENDS} <float[2,2,1,1] w = {{1, 1, 1, 1}}> {{ y = Conv (x, w) }}",
    CALL: f"""<ir_version: 8, opset_import: ["" : 15, "onnxpad" : 1]>
        {_ENDS} {{ y = onnxpad.Leaky <alpha = 0.5> (x) }}
        <domain: "onnxpad", opset_import: ["" : 15]>
        Leaky <alpha> (a) => (b) {{ b = LeakyRelu <alpha: float = @alpha> (a) }}""",
}


def plain(operator: str) -> ModelProto:
    """A model of `x` to `y`, 1x2x4x4: a Relu, a Conv of one cell, or a CALL of a local function."""
    return parser.parse_model(_PLAIN_MODELS[operator])


_DATA, _WEIGHT, _BIAS = Read(0), Read(1), Read(2)
_NAMES = {_DATA: "x", _WEIGHT: "w", _BIAS: "b"}
_ROLES = {_WEIGHT: "weight", _BIAS: "bias"}
_FLOATS = {np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)}


def layer_model(
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
    layer = _Layer(dtype, {one: array for one, array in given.items() if array is not None})
    for number, step in enumerate(steps):
        layer.add(step, "y" if number == len(steps) - 1 else f"t{number}")
    if layer.made[-1:] != ["y"]:
        layer.pieces.append(Piece("Identity", layer.made[-1:], ["y"], name="copy"))
    ends = {"x": (dtype.name, input_shape)}, {"y": (dtype.name, None)}
    model = assembled(layer.pieces, *ends, layer.constants, opset=OPSET_OF_LAYERS)
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
        source = operand.source if isinstance(operand, Reshaped) else operand
        if source is None or (source == _BIAS and _BIAS not in self._given):
            return ""
        match operand:
            case Read() if operand == _DATA or operand in self._given:
                return _NAMES[operand]
            case Made(step):
                return self.made[step]
            case Numbers(role, dtype, dims, values):
                kind = np.dtype(np.int64) if "int" in dtype else self._dtype
                return self._constant(f"{result}_{role}", np.array(values, kind).reshape(dims))
            case Reshaped(Read() as read, dims, 0) if read in self._given:
                return self._constant(f"{result}_{_ROLES[read]}", self._given[read].reshape(dims))
        raise InternalError(f"{result}: a single layer has no {operand}")

    def _constant(self, name: str, value: Array) -> str:
        self.constants[name] = np.ascontiguousarray(value)
        return name
