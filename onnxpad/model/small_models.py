"""The one builder of small models: from nodes, or from the steps of a layer."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, ValueInfoProto, helper, numpy_helper, parser, printer

from onnxpad.errors import RequestError
from onnxpad.model.comparing.networks import free_names
from onnxpad.model.editing.session import EditSession
from onnxpad.padding.expansion import Expansion, Made, Numbers, Operand, Read, Reshaped, Step

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
    """A model of these nodes. A node without a name gets one: its operator and its number.

    inputs, outputs: element type and sizes by name; a text is the name of an open size.
    opset: the opset of ONNX's operators; it decides the IR version.
    """
    for number, node in enumerate(nodes):
        node.name = node.name or f"{node.op_type.lower()}{f'_{number}' if number else ''}"
    graph = helper.make_graph(
        nodes,
        "reproducer",
        [_described(name, *kind) for name, kind in inputs.items()],
        [_described(name, *kind) for name, kind in outputs.items()],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    domains = sorted({node.domain for node in nodes} - {""})
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(name, 1) for name in domains)]
    version = max(_OLDEST_IR, helper.find_min_ir_version_for(imports, ignore_unknown=True))
    model: ModelProto = helper.make_model(
        graph, ir_version=version, opset_imports=imports, producer_name="onnxpad"
    )
    return model


def with_output_shapes(model: ModelProto, outputs: Mapping[str, Array]) -> ModelProto:
    """A copy whose outputs have the types and sizes of these arrays.

    Of a model that leaves sizes of its inputs open, those of its outputs are as many, and open.
    """
    copy = copied(model)
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


def copied(model: ModelProto) -> ModelProto:
    """A model that may be changed."""
    copy = ModelProto()
    copy.CopyFrom(model)
    return copy


def pruned(model: ModelProto, outputs: Collection[str], given: Collection[str] = ()) -> ModelProto:
    """A copy with `outputs` alone, and the nodes, inputs and initializers that they need.

    The tensors `given` are inputs of it, where they are needed. Nodes stay in their order; outputs
    that are no tensor of the model are left out.
    """
    copy = copied(model)
    needed, graph = set(outputs), copy.graph
    for place in reversed(range(len(graph.node))):
        if needed.difference(given).intersection(graph.node[place].output):
            needed |= free_names(graph.node[place])
        else:
            del graph.node[place]
    parts = (graph.input, needed), (graph.initializer, needed), (graph.output, outputs)
    for part, names in parts:
        for place in reversed(range(len(part))):
            if part[place].name not in names:
                del part[place]
    known = {value.name for value in graph.input}
    graph.input.extend(ValueInfoProto(name=one) for one in given if one in needed - known)
    return copy


def parsed(text: str, output: str) -> ModelProto:
    """What computes an output in a text of `onnx.parser`, nodes called after their operators."""
    model = pruned(parser.parse_model(text), [output])
    for place, node in enumerate(model.graph.node):
        node.name = f"{node.op_type.lower()}_{place}"
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
    constants = {name: array for name, array in arrays.items() if array is not None}
    # The steps take the place of a node that reads what a layer reads.
    whole = [node("Conv", ["x", *constants], ["y"], {})]
    ends = {"x": (dtype.name, input_shape)}, {"y": (dtype.name, None)}
    session = EditSession(assembled(whole, *ends, constants, opset=OPSET_OF_LAYERS))
    (site,) = session.sites_now()
    own = tuple(_of_layer(step, dtype.name, len(constants)) for step in steps)
    session.change(site, Expansion(own, (Made(len(own) - 1),)))
    model = session.finish()
    model.graph.name = "layer"
    return model


def _of_layer(step: Step, dtype: str, constants: int) -> Step:
    """A step with numbers of the layer's type, and without the bias where there is none."""
    operands: list[Operand | None] = []
    for operand in step.inputs:
        match operand:
            case Numbers(dtype=kind) if "int" not in kind:
                operands.append(operand._replace(dtype=dtype))
            case Read(place) | Reshaped(Read(place)) if place > constants:
                pass
            case _:
                operands.append(operand)
    is_left = step.op_type == "Add" and len(operands) < len(step.inputs)
    return step._replace(op_type="Identity" if is_left else step.op_type, inputs=tuple(operands))
