"""Small models put together from their nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper, parser, printer

Array = NDArray[Any]
Dims = Sequence[int | str | None] | None
_IR_VERSIONS = ((25, 13), (24, 12), (23, 11), (21, 10), (19, 9), (15, 8), (13, 7), (11, 6), (10, 5))
_OLDEST_IR = 4
_PLAIN = "ai.onnx"


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


def plain(operator: str) -> ModelProto:
    """A model of `x` to `y`, 1x2x4x4: a Relu, a Conv of one cell, or a CALL of a local function."""
    reads, stored, given = ["x"], dict[str, Array](), dict[str, float]()
    if operator == "Conv":
        reads, stored = ["x", "w"], {"w": np.ones((2, 2, 1, 1), np.float32)}
    if operator == CALL:
        given = {"alpha": 0.5}
    kind = ("float32", (1, 2, 4, 4))
    pieces = [Piece(operator, reads, ["y"], given)]
    made = assembled(pieces, {"x": kind}, {"y": kind}, stored, opset=15 if given else 13)
    if operator == CALL:
        node = helper.make_node("LeakyRelu", ["a"], ["b"])
        node.attribute.add(name="alpha", ref_attr_name="alpha", type=1)
        domain, _, name = CALL.rpartition(".")
        imports = [helper.make_opsetid("", 15)]
        made.functions.append(
            helper.make_function(domain, name, ["a"], ["b"], [node], imports, ["alpha"])
        )
    return made
