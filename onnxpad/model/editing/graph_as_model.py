"""The structure of a graphsurgeon Graph as a ModelProto: everything but the weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from math import prod
from numbers import Integral
from typing import Any

import numpy as np
import onnx
import onnx_graphsurgeon as gs
from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    helper,
    numpy_helper,
)
from onnx_graphsurgeon.ir.tensor import LazyValues, SparseValues
from onnx_graphsurgeon.util.misc import convert_to_onnx_attr_type

from onnxpad.errors import ModelError
from onnxpad.model.graph.context import MAX_CONSTANT
from onnxpad.padding.operators import PLAIN_DOMAINS


def constants_of(graph: gs.Graph) -> dict[str, gs.Constant]:
    """The constants that one graph reads or gives, by name."""
    found = {t.name: t for t in graph.inputs + graph.outputs if isinstance(t, gs.Constant)}
    for node in graph.nodes:
        for tensor in (*node.inputs, *node.outputs):
            if isinstance(tensor, gs.Constant):
                found[tensor.name] = tensor
    return found


def write_constant(proto: TensorProto, constant: gs.Constant) -> None:
    """Type and shape of a constant; its values where it is small and can be had without loading.

    Raises:
        ModelError: the constant holds no array.
    """
    values = constant._values  # noqa: SLF001  the property would load the weights for good
    if isinstance(values, SparseValues):
        _write_header(proto, values.tensor.dims, values.tensor.values.data_type)
    elif isinstance(values, LazyValues):
        tensor = values.tensor
        external = tensor.data_location == TensorProto.EXTERNAL
        if external or prod(tensor.dims) > MAX_CONSTANT:
            _write_header(proto, tensor.dims, tensor.data_type)
        else:
            proto.CopyFrom(tensor)
    elif isinstance(values, np.ndarray):
        code = dtype_code_of(constant.export_dtype)
        as_it_is = values.dtype.isbuiltin == 1 and code == dtype_code_of(values.dtype) != 0
        if as_it_is and values.dtype.kind in "biuf" and values.size <= MAX_CONSTANT:
            proto.CopyFrom(numpy_helper.from_array(values))
        else:
            _write_header(proto, values.shape, code)
    else:
        raise ModelError(
            f"Constant '{constant.name}' holds a {type(values).__name__}, not a numpy array"
        )
    proto.name = constant.name


def _write_header(proto: TensorProto, dims: Iterable[int], code: int) -> None:
    """Element type and shape; external data without a place is never read."""
    proto.dims.extend(dims)
    proto.data_type = code
    proto.data_location = TensorProto.EXTERNAL


def is_typed(tensor: gs.Tensor) -> bool:
    """Whether it is a Variable that says something of its type."""
    known = tensor.dtype is not None or tensor.shape is not None
    return isinstance(tensor, gs.Variable) and known


def declare(proto: ValueInfoProto, tensor: gs.Tensor) -> None:
    """The type that a Variable states; sequences and optionals have none that matters here."""
    proto.name = tensor.name
    kind = tensor.type if isinstance(tensor, gs.Variable) else "tensor_type"
    if kind != "tensor_type" or (tensor.dtype is None and tensor.shape is None):
        return
    proto.type.tensor_type.elem_type = dtype_code_of(tensor.dtype)
    if tensor.shape is None:
        return
    shape = proto.type.tensor_type.shape
    shape.SetInParent()
    for size in tensor.shape:
        dim = shape.dim.add()
        if isinstance(size, Integral):
            dim.dim_value = int(size)
        elif isinstance(size, str):
            dim.dim_param = size


@cache
def dtype_code_of(dtype: Any) -> int:  # noqa: ANN401
    """The TensorProto constant of a numpy type, its class or that constant; 0 for all else."""
    if dtype is None or isinstance(dtype, int):
        return dtype or 0
    try:
        return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    except (TypeError, ValueError):
        return 0


def forget_readers(tensor: gs.Tensor, gone: Counter[int]) -> None:
    """Take nodes, as often as `gone` counts them, out of the readers of a tensor."""
    kept = []
    for reader in tensor.outputs:
        if gone[id(reader)] > 0:
            gone[id(reader)] -= 1
        else:
            kept.append(reader)
    list.__setitem__(tensor.outputs, slice(None), kept)


def structure_of(graph: gs.Graph) -> ModelProto:
    """A ModelProto with the nodes, types and small constants that `graph` would export.

    Nodes keep their places in `graph.nodes`, in subgraphs and in functions, so that an edit
    script for the result fits the Graph. Constants of more than 4096 elements, sparse and
    external ones have a type and no values; nothing is loaded and the Graph is not changed.

    Raises:
        ModelError: what graphsurgeon could not export either, one body used twice, or two
            functions of one name (graphsurgeon drops `overload`).
    """
    model = ModelProto()
    model.ir_version = onnx.IR_VERSION if graph.ir_version is None else graph.ir_version
    writer = _Writer()
    writer.graph(model.graph, graph)
    _import(model.opset_import, graph, writer.domains)
    for function in graph.functions:
        writer = _Writer(writer.seen)
        writer.once(function_id(function), f"two functions are called '{function_id(function)}'")
        proto = model.functions.add()
        writer.function(proto, function)
        _import(proto.opset_import, function, writer.domains)
    return model


def function_id(function: gs.Function) -> str:
    """'domain:name', as scopes of functions are called in edit scripts."""
    return f"{function.domain or ''}:{function.name}"


def scopes_of(graph: gs.Graph) -> Iterator[tuple[str, gs.Graph]]:
    """Every graph, body and function with the id of its scope in edit scripts."""
    waiting = [("", graph), *((function_id(one), one) for one in graph.functions)]
    while waiting:
        id_, one = waiting.pop()
        yield id_, one
        for key, node in enumerate(one.nodes):
            for name, value in node.attrs.items():
                if isinstance(value, gs.Graph):
                    step = f"{key}.{name}"
                    waiting.append((f"{id_}/{step}" if id_ else step, value))


class _Writer:
    """Writes one graph or function with the bodies inside it; `seen` is shared by all."""

    def __init__(self, seen: set[object] | None = None) -> None:
        self.seen = set() if seen is None else seen
        self.domains: dict[str, None] = {}

    def once(self, identity: object, trouble: str) -> None:
        """ModelError where something stands in the Graph a second time."""
        if identity in self.seen:
            raise ModelError(
                f"{trouble}: edits of one would change the other; give each its own copy"
            )
        self.seen.add(identity)

    def graph(self, proto: GraphProto, graph: gs.Graph) -> None:
        """Write nodes, types and constants; constants belong to every graph that reads them."""
        self.once(id(graph), f"the Graph '{graph.name}' is the body of two nodes")
        proto.name = graph.name or ""
        self._nodes(proto.node, graph)
        for tensor in graph.inputs:
            declare(proto.input.add(), tensor)
        for tensor in graph.outputs:
            declare(proto.output.add(), tensor)
        for tensor in constants_of(graph).values():
            write_constant(proto.initializer.add(), tensor)
        declared = {tensor.name for tensor in graph.inputs + graph.outputs}
        for node in graph.nodes:
            for tensor in node.outputs:
                if is_typed(tensor) and tensor.name not in declared:
                    declare(proto.value_info.add(), tensor)

    def function(self, proto: FunctionProto, function: gs.Function) -> None:
        """Write a function; its constants become Constant nodes behind all others."""
        proto.domain, proto.name = function.domain or "", function.name
        proto.input.extend(tensor.name for tensor in function.inputs)
        proto.output.extend(tensor.name for tensor in function.outputs)
        self._nodes(proto.node, function)
        for tensor in constants_of(function).values():
            node = proto.node.add(op_type="Constant", output=[tensor.name])
            attribute = node.attribute.add(name="value", type=AttributeProto.TENSOR)
            write_constant(attribute.t, tensor)
        for name, default in function.attrs.items():
            if default is None:
                proto.attribute.append(name)
            else:
                self._attribute(proto.attribute_proto.add(name=name), default)

    def _nodes(self, protos: Any, graph: gs.Graph) -> None:  # noqa: ANN401  protobuf's list
        for node in graph.nodes:
            self.once(id(node), f"{describe(node)} stands in the Graph twice")
            try:
                self._node(protos.add(), node)
            except (TypeError, ValueError) as error:
                raise ModelError(
                    f"{describe(node)}: {error}; graphsurgeon cannot export this node: give its "
                    "attributes numbers, texts or lists of them"
                ) from error

    def _node(self, proto: NodeProto, node: gs.Node) -> None:
        proto.op_type, proto.name = node.op, node.name or ""
        if node.domain is not None:
            proto.domain = node.domain
            self.domains[node.domain] = None
        proto.input.extend([tensor.name for tensor in node.inputs])
        proto.output.extend([tensor.name for tensor in node.outputs])
        for name, value in node.attrs.items():
            self._attribute(proto.attribute.add(name=name), value)

    def _attribute(self, proto: AttributeProto, value: object) -> None:
        """Values as gs.export_onnx takes them; an empty list, which it refuses, is of integers."""
        match value:
            case gs.Node.AttributeRef():
                proto.type = convert_to_onnx_attr_type(value.type)
                proto.ref_attr_name = value.name
            case gs.Graph():
                proto.type = AttributeProto.GRAPH
                self.graph(proto.g, value)
            case gs.Constant():
                proto.type = AttributeProto.TENSOR
                write_constant(proto.t, value)
            case type() if code := dtype_code_of(value):
                proto.type, proto.i = AttributeProto.INT, code
            case [] | ():
                proto.type = AttributeProto.INTS
            case _:
                proto.MergeFrom(helper.make_attribute(proto.name, value))


def describe(node: gs.Node) -> str:
    """Operator and name of a node, its first output where it has no name."""
    return f"{node.op} '{name_of(node)}'"


def name_of(node: gs.Node) -> str:
    """What a node is called in addresses: name, else first output, else operator."""
    outputs = (tensor.name for tensor in node.outputs if tensor.name)
    name: str = node.name or next(outputs, node.op)
    return name


def _import(target: Any, graph: gs.Graph, used: Iterable[str]) -> None:  # noqa: ANN401
    """Opsets that gs.export_onnx would write: `import_domains`, which beats `opset`."""
    known = graph.import_domains
    target.extend([helper.make_opsetid("", graph.opset)] if known is None else known)
    present = {entry.domain for entry in target}.union(PLAIN_DOMAINS)
    target.extend(helper.make_opsetid(domain, 1) for domain in used if domain not in present)
