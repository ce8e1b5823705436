"""The structure of a graphsurgeon Graph as a ModelProto: everything but the weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

import numpy as np
import onnx_graphsurgeon as gs
from onnx import ModelProto, TensorProto, helper
from onnx_graphsurgeon.exporters.onnx_exporter import OnnxExporter
from onnx_graphsurgeon.ir.tensor import LazyValues, SparseValues

from onnxpad.errors import ModelError, headline
from onnxpad.model.graph.context import MAX_CONSTANT


def structure_of(graph: gs.Graph) -> ModelProto:
    """A ModelProto with the nodes, types and small constants that `graph` would export.

    Nodes keep their places in `graph.nodes` and in subgraphs, so that an edit script for the
    result fits the Graph. Constants of more than 4096 elements, sparse and external ones have a
    type and no values; nothing is loaded and the Graph is not changed.

    Raises:
        ModelError: what graphsurgeon cannot export either, one body used twice, or two functions of
            one name (graphsurgeon drops `overload`).
    """
    _refuse_shared(graph)
    try:
        light = _light(graph)
        model: ModelProto = gs.export_onnx(light, do_type_check=False)
    except (TypeError, ValueError, AttributeError) as error:
        raise ModelError(
            f"{_culprit(graph)}: {headline(error)}; graphsurgeon cannot export it: give attributes "
            "numbers, texts or lists of them, and constants numpy arrays"
        ) from error
    return model


def _light(graph: gs.Graph) -> gs.Graph:
    """A copy in which large constants are headers."""
    light = graph.copy()
    light.functions = [function.copy() for function in graph.functions]
    for _, one in scopes_of(light):
        if one.import_domains is not None:
            one.import_domains = list(one.import_domains)
        for node in one.nodes:
            for tensor in (*node.inputs, *node.outputs):
                _lighten(tensor)
            for name, value in node.attrs.items():
                if isinstance(value, gs.Constant):
                    node.attrs[name] = _lighten(value.copy())
        for tensor in (*one.inputs, *one.outputs):
            _lighten(tensor)
    return light


def _culprit(graph: gs.Graph) -> str:
    """The first node that cannot be exported, or the Graph."""
    for _, one in scopes_of(graph):
        for node in one.nodes:
            try:
                OnnxExporter.export_attributes(node.attrs)
            except (TypeError, ValueError, AttributeError):
                return describe(node)
    return f"the Graph '{graph.name}'"


def _lighten(tensor: gs.Tensor) -> gs.Tensor:
    """The tensor; a Constant gets a header for values that are large or stand elsewhere."""
    values = getattr(tensor, "_values", None)
    if not isinstance(tensor, gs.Constant):
        return tensor
    if isinstance(values, SparseValues):
        dims, code = values.tensor.dims, values.tensor.values.data_type
    elif isinstance(values, LazyValues):
        dims, code = values.tensor.dims, values.tensor.data_type
        if prod(dims) <= MAX_CONSTANT and values.tensor.data_location != TensorProto.EXTERNAL:
            return tensor
    elif isinstance(values, np.ndarray):
        if values.size <= MAX_CONSTANT:
            return tensor
        dims, code = values.shape, _code_of(tensor.export_dtype)
    else:
        return tensor
    header = TensorProto(data_type=code, dims=dims, data_location=TensorProto.EXTERNAL)
    tensor._values = LazyValues(header)  # noqa: SLF001  the property would load the weights
    return tensor


def _code_of(dtype: object) -> int:
    """The TensorProto constant of a numpy type, or that constant; 0 for all else."""
    if isinstance(dtype, int):
        return dtype
    try:
        return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))  # type: ignore[call-overload]
    except (TypeError, ValueError, KeyError):
        return 0


def _refuse_shared(graph: gs.Graph) -> None:
    """ModelError where something stands in the Graph twice: edits of one would change the other."""
    seen: set[object] = set()
    for id_, one in scopes_of(graph):
        for identity, trouble in _parts(id_, one):
            if identity in seen:
                raise ModelError(
                    f"{trouble}: edits of one would change the other; give each its own copy"
                )
            seen.add(identity)


def _parts(id_: str, graph: gs.Graph) -> Iterable[tuple[object, str]]:
    yield id_, f"two functions are called '{id_}'"
    yield id(graph), f"the Graph '{graph.name}' is the body of two nodes"
    for node in graph.nodes:
        yield id(node), f"{describe(node)} stands in the Graph twice"


def scopes_of(graph: gs.Graph) -> Iterator[tuple[str, gs.Graph]]:
    """Every graph, body and function with the id of its scope in edit scripts."""
    waiting = [("", graph), *((f"{one.domain or ''}:{one.name}", one) for one in graph.functions)]
    while waiting:
        id_, one = waiting.pop()
        yield id_, one
        for key, node in enumerate(one.nodes):
            for name, value in node.attrs.items():
                if isinstance(value, gs.Graph):
                    step = f"{key}.{name}"
                    waiting.append((f"{id_}/{step}" if id_ else step, value))


def describe(node: gs.Node) -> str:
    """Operator and name of a node, its first output where it has no name."""
    return f"{node.op} '{name_of(node)}'"


def name_of(node: gs.Node) -> str:
    """What a node is called in addresses: name, else first output, else operator."""
    outputs = (tensor.name for tensor in node.outputs if tensor.name)
    name: str = node.name or next(outputs, node.op)
    return name
