"""The one builder of small models: from nodes, or from the steps of a layer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, helper, numpy_helper, parser, printer

from onnxpad.errors import InternalError, RequestError
from onnxpad.padding.expansion import Made, Numbers, Operand, Read, Reshaped, Step

Array = NDArray[Any]
Dims = Sequence[int | str | None] | None
_OLDEST_IR = 4
"""The first version in which initializers need not be inputs."""
OPSET_OF_LAYERS = 22


def node(
    operator: str, inputs: Sequence[str], outputs: Sequence[str], attributes: Mapping[str, Any]
) -> NodeProto:
    """A node; the name of its operator may have a domain in front."""
    domain, _, op_type = operator.rpartition(".")
    made: NodeProto = helper.make_node(op_type, inputs, outputs, domain=domain, **attributes)
    return made


def assembled(
    nodes: Sequence[NodeProto],
    inputs: Mapping[str, tuple[str, Dims]],
    outputs: Mapping[str, tuple[str, Dims]],
    constants: Mapping[str, Array],
    *,
    opset: int,
) -> ModelProto:
    """A model of these nodes, each called after its operator and its place unless it has a name.

    `inputs` and `outputs` give the element type and the sizes of each, a text for one that is
    open. `opset` is that of the standard operators; the IR version is the one that came with it.
    """
    for number, one in enumerate(nodes):
        one.name = one.name or f"{one.op_type.lower()}{f'_{number}' if number else ''}"
    graph = helper.make_graph(
        nodes,
        "reproducer",
        [_described(name, *kind) for name, kind in inputs.items()],
        [_described(name, *kind) for name, kind in outputs.items()],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    domains = sorted({one.domain for one in nodes} - {""})
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(one, 1) for one in domains)]
    version = max(_OLDEST_IR, helper.find_min_ir_version_for(imports, ignore_unknown=True))
    made: ModelProto = helper.make_model(
        graph, ir_version=version, opset_imports=imports, producer_name="onnxpad"
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
    code = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_tensor_value_info(name, code, dims)


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


_TENSORS = ("x", "w", "b")
_ROLES = {"w": "weight", "b": "bias"}
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
    arrays = {"w": weight, "b": None if bias is None else bias.astype(dtype)}
    constants: dict[str, Array] = {k: array for k, array in arrays.items() if array is not None}
    nodes, made = list[NodeProto](), list[str]()
    for number, step in enumerate(steps):
        result = "y" if number == len(steps) - 1 else f"t{number}"
        inputs = [_name(operand, result, made, constants, dtype) for operand in step.inputs]
        if step.op_type == "Add" and "" in inputs:
            made.append(inputs[0])
            continue
        while not inputs[-1]:
            inputs.pop()
        nodes.append(node(step.op_type, inputs, [result], dict(step.attributes)))
        made.append(result)
    if made[-1:] != ["y"]:
        nodes.append(node("Identity", made[-1:], ["y"], {}))
    for number, one in enumerate(nodes):
        one.name = f"{one.op_type.lower()}_{number}"
    ends = {"x": (dtype.name, input_shape)}, {"y": (dtype.name, None)}
    model = assembled(nodes, *ends, constants, opset=OPSET_OF_LAYERS)
    model.graph.name = "layer"
    return model


def _name(
    operand: Operand | None,
    result: str,
    made: Sequence[str],
    constants: dict[str, Array],
    dtype: np.dtype[Any],
) -> str:
    """The tensor that a step reads to make `result`, a new constant perhaps.

    '' for nothing, and for a bias that is not given.
    """
    match operand:
        case None:
            return ""
        case Made(step):
            return made[step]
        case Numbers(role, kind, dims, values):
            array = np.array(values, "int64" if "int" in kind else dtype)
            constants[f"{result}_{role}"] = array.reshape(dims)
            return f"{result}_{role}"
        case Read(position):
            name = _TENSORS[position]
            return name if name == "x" or name in constants else ""
        case Reshaped(Read(position), dims, 0):
            name = _TENSORS[position]
            if name not in constants:
                return ""
            constants[f"{result}_{_ROLES[name]}"] = constants[name].reshape(dims)
            return f"{result}_{_ROLES[name]}"
    raise InternalError(f"{result}: a single layer has no {operand}")
