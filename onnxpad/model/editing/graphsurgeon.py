"""A graphsurgeon Graph: its structure as a ModelProto without weights, and edits of it in place.

A script is applied to the Graph's structure, which settles which nodes there are, in which order,
and what they read and write; the lists of the Graph then follow. Each list is written once, at the
end: graphsurgeon's own `insert`, `remove` and `inputs[i] =` compare nodes one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import zip_longest
from math import prod
from typing import Any

import numpy as np
import onnx_graphsurgeon as gs
from onnx import ModelProto, TensorProto, helper
from onnx_graphsurgeon.exporters.onnx_exporter import OnnxExporter
from onnx_graphsurgeon.ir.tensor import LazyValues, SparseValues

from onnxpad.errors import ModelError, headline
from onnxpad.model.editing.apply import ProtoApplier
from onnxpad.model.editing.constants import AnyConstant, constant_array, derived_array
from onnxpad.model.editing.script import (
    Edit,
    FixSize,
    ForgetType,
    GrownConstant,
    InsertNode,
    NewConstant,
    RemoveAttribute,
    ReshapedConstant,
    Resize,
    SetAttribute,
)
from onnxpad.model.graph.context import MAX_CONSTANT
from onnxpad.model.graph.document import open_document
from onnxpad.model.graph.nodes import Address
from onnxpad.model.graph.scopes import Scope
from onnxpad.padding.operators import AttributeValue


def structure_of(graph: gs.Graph) -> ModelProto:
    """A ModelProto with the nodes, types and small constants that `graph` would export.

    Nodes keep their places in `graph.nodes` and in subgraphs, so that an edit script for the
    result fits the Graph. Constants of more than 4096 elements, sparse and external ones have a
    type and no values; nothing is loaded and the Graph is not changed. Raises ModelError for what
    graphsurgeon cannot export either, for one body used twice, and for two functions of one name
    (graphsurgeon drops `overload`).
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
                return _label(node)
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
        parts: list[tuple[object, str]] = [
            (id_, f"two functions are called '{id_}'"),
            (id(one), f"the Graph '{one.name}' is the body of two nodes"),
            *((id(node), f"{_label(node)} stands in the Graph twice") for node in one.nodes),
        ]
        for identity, trouble in parts:
            if identity in seen:
                raise ModelError(
                    f"{trouble}: edits of one would change the other; give each its own copy"
                )
            seen.add(identity)


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


def _label(node: gs.Node) -> str:
    outputs = (tensor.name for tensor in node.outputs if tensor.name)
    return f"{node.op} '{node.name or next(outputs, node.op)}'"


def apply_script(graph: gs.Graph, script: Sequence[Edit]) -> None:
    """Do to `graph` what `script`, made for its structure, says; ModelError as of `structure_of`.

    Untouched nodes and tensors stay the same objects.
    """
    if script:
        _GraphApplier(graph, script).run()


class _GraphApplier:
    """Holds the nodes of each scope by key, its tensors by name, and who leaves which list."""

    def __init__(self, graph: gs.Graph, script: Sequence[Edit]) -> None:
        self._graph = graph
        self._script = script
        self._document = open_document(structure_of(graph), "a Graph keeps its functions")
        self._graphs = dict(scopes_of(graph))
        self._nodes = {id_: dict(enumerate(one.nodes)) for id_, one in self._graphs.items()}
        self._tensors: dict[str, dict[str, gs.Tensor]] = {}
        self._own_attributes: set[int] = set()
        self._touched: dict[tuple[int, str], gs.Tensor] = {}

    def run(self) -> None:
        ProtoApplier(self._document).apply(self._script)
        for edit in self._script:
            self._apply(edit)
        for scope in self._document.scopes.values():
            if not scope.outermost.is_function:
                self._follow(scope, self._graphs[scope.id])
        for (_, back), tensor in self._touched.items():
            _relink(tensor, back)

    def _apply(self, edit: Edit) -> None:
        """What of an edit the structure has not: attributes, constants, shapes and new nodes."""
        match edit:
            case SetAttribute(address, name, value):
                self._attributes(address)[name] = _value(value)
            case RemoveAttribute(address, name):
                self._attributes(address).pop(name, None)
            case NewConstant() | GrownConstant() | ReshapedConstant():
                self._new_constant(edit)
            case InsertNode(before, key, op, name):
                attributes = {name: _value(value) for name, value in edit.attributes}
                node = gs.Node(op, name, attributes, domain=edit.domain or None)
                self._nodes[before.scope][key] = node
                self._own_attributes.add(id(node))
            case ForgetType(address, tensor):
                self._tensor(address.scope, tensor).shape = None
            case Resize(address, tensor, dims):
                self._tensor(address.scope, tensor).shape = [size or None for size in dims]
            case FixSize():
                self._fix_size(edit)

    def _fix_size(self, edit: FixSize) -> None:
        for tensor in (one for one in self._graph.inputs if one.shape is not None):
            called = [(size, f"{tensor.name}[{axis}]") for axis, size in enumerate(tensor.shape)]
            open_sizes = [not isinstance(size, int) or size < 0 for size in tensor.shape]
            tensor.shape = [
                edit.size if still and edit.dimension in names else names[0]
                for still, names in zip(open_sizes, called, strict=True)
            ]

    def _attributes(self, address: Address) -> dict[str, object]:
        """The node's attributes, in a dict that no other node shares."""
        node = self._nodes[address.scope][address.key]
        if id(node) not in self._own_attributes:
            self._own_attributes.add(id(node))
            node.attrs = copy(node.attrs)
        attributes: dict[str, object] = node.attrs
        return attributes

    def _new_constant(self, edit: AnyConstant) -> None:
        scope = edit.before.scope
        if isinstance(edit, NewConstant):
            values = constant_array(edit)
        else:
            zero = edit.zero_point if isinstance(edit, GrownConstant) else ""
            of_zero = self._values(scope, zero) if zero else None
            values = derived_array(edit, self._values(scope, edit.source), of_zero)
        if edit.as_node:
            held = {"value": gs.Constant("", values)}
            self._nodes[scope][edit.key] = gs.Node("Constant", attrs=held)
        else:
            self._known(scope)[edit.name] = gs.Constant(edit.name, values)

    def _values(self, scope: str, name: str) -> np.ndarray:
        """The values of a constant, loaded for this once: the Graph keeps them as they are."""
        tensor = self._tensor(scope, name)
        if not isinstance(tensor, gs.Constant) and tensor.inputs:
            tensor = tensor.inputs[0].attrs["value"]
        held = tensor._values  # noqa: SLF001  the property would load the weights for good
        return held if isinstance(held, np.ndarray) else held.load()

    def _known(self, scope: str) -> dict[str, gs.Tensor]:
        """Tensors of one graph by name; what a node makes beats another of the same name."""
        if scope not in self._tensors:
            graph = self._graphs[scope]
            found = {t.name: t for node in graph.nodes for t in node.inputs}
            found |= {t.name: t for t in (*graph.outputs, *graph.inputs)}
            found |= {t.name: t for node in graph.nodes for t in node.outputs}
            self._tensors[scope] = found
        return self._tensors[scope]

    def _tensor(self, scope: str, name: str) -> gs.Tensor:
        """The tensor that a name means in a scope, a new one where nothing has the name."""
        inside: Scope | None = self._document.scopes[scope]
        while inside is not None:
            if name in (known := self._known(inside.id)):
                return known[name]
            inside = inside.parent
        return self._known(scope).setdefault(name, gs.Variable(name))

    def _follow(self, scope: Scope, graph: gs.Graph) -> None:
        """Let the Graph have the nodes of the structure, with its wires."""
        nodes, self._known(scope.id)[""] = self._nodes[scope.id], gs.Variable.empty()
        for key in scope.removed:
            self._wire(nodes[key], [], [])
        in_file = sorted(scope.nodes, key=lambda node: node.key)
        ordered = [one for node in in_file for one in scope.row(node)]
        for node in ordered:
            written = [self._tensor(scope.id, name) for name in node.outputs]
            self._wire(nodes[node.key], [self._tensor(scope.id, n) for n in node.inputs], written)
        if scope.rearranged:
            graph.nodes = [nodes[node.key] for node in ordered]

    def _wire(self, node: gs.Node, read: list[gs.Tensor], written: list[gs.Tensor]) -> None:
        wires = (node.inputs, read, "outputs"), (node.outputs, written, "inputs")
        for own, wanted, back in wires:
            for position, (old, new) in enumerate(zip_longest(list(own), wanted)):
                if old is new or (old is not None and new is not None and old.name == new.name):
                    wanted[position] = old
                    continue
                if old is not None and not old.is_empty():
                    self._touched[id(old), back] = old
                if new is not None and new.is_empty():
                    wanted[position] = gs.Variable.empty()
                elif new is not None:
                    list.append(getattr(new, back), node)
            list.__setitem__(own, slice(None), wanted)


def _value(value: AttributeValue) -> Any:  # noqa: ANN401  what graphsurgeon takes
    return list(value) if isinstance(value, tuple) else value


def _relink(tensor: gs.Tensor, back: str) -> None:
    """Let a tensor know the nodes that read it (or make it), as often as they do."""
    nodes = getattr(tensor, back)
    wires = "inputs" if back == "outputs" else "outputs"
    distinct = {id(node): node for node in nodes}.values()
    found = [node for node in distinct for one in getattr(node, wires) if one is tensor]
    list.__setitem__(nodes, slice(None), found)
