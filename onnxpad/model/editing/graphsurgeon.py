"""A graphsurgeon Graph: its structure as a ModelProto without weights, and edits of it in place.

A session works on the structure, which settles which nodes there are, in which order, and what
they read and write; the lists of the Graph then follow. Each list is written once, at the end:
graphsurgeon's own `insert`, `remove` and `inputs[i] =` compare nodes one by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np
import onnx_graphsurgeon as gs
from onnx import ModelProto, TensorProto
from onnx_graphsurgeon.exporters.onnx_exporter import dtype_to_onnx
from onnx_graphsurgeon.ir.tensor import LazyValues, SparseValues

from onnxpad.errors import ModelError, headline
from onnxpad.model.editing.apply import constant_array
from onnxpad.model.editing.script import (
    Edit,
    FixSize,
    ForgetType,
    InsertNode,
    NewConstant,
    RemoveAttribute,
    Resize,
    SetAttribute,
)
from onnxpad.model.graph.context import MAX_CONSTANT
from onnxpad.model.graph.scopes import Document, Scope
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
        light = graph.copy()
        light.functions = [function.copy() for function in graph.functions]
        for _, one in scopes_of(light):
            if one.import_domains is not None:
                one.import_domains = list(one.import_domains)
            for tensor in (*one.inputs, *one.outputs):
                _lighten(tensor)
            for node in one.nodes:
                for tensor in (*node.inputs, *node.outputs):
                    _lighten(tensor)
                for name, value in node.attrs.items():
                    if isinstance(value, gs.Constant):
                        node.attrs[name] = _lighten(value.copy())
        model: ModelProto = gs.export_onnx(light, do_type_check=False)
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise ModelError(
            f"the Graph '{graph.name}': {headline(error)}; graphsurgeon cannot export it: give "
            "attributes numbers, texts or lists of them, and constants numpy arrays"
        ) from error
    return model


def _lighten(tensor: gs.Tensor) -> gs.Tensor:
    """The tensor; a Constant gets a header for values that are large or stand elsewhere."""
    values, is_light = getattr(tensor, "_values", None), False
    if isinstance(values, SparseValues):
        dims, code = values.tensor.dims, values.tensor.values.data_type
    elif isinstance(values, LazyValues):
        dims, code = values.tensor.dims, values.tensor.data_type
        is_light = values.tensor.data_location != TensorProto.EXTERNAL
    elif isinstance(values, np.ndarray):
        dims, code, is_light = values.shape, tensor.export_dtype, True
    else:
        return tensor
    if not is_light or prod(dims) > MAX_CONSTANT:
        header = TensorProto(
            data_type=dtype_to_onnx(code), dims=dims, data_location=TensorProto.EXTERNAL
        )
        tensor._values = LazyValues(header)  # noqa: SLF001  the property would load the weights
    return tensor


def _refuse_shared(graph: gs.Graph) -> None:
    """ModelError where something stands in the Graph twice: edits of one would change the other."""
    seen: set[object] = set()
    for id_, one in scopes_of(graph):
        parts: list[tuple[object, str]] = [(id_, f"the function '{id_}'")]
        parts += [(id(one), f"the Graph '{one.name}'")]
        parts += [(id(node), f"{node.op} '{node.name}'") for node in one.nodes]
        for identity, name in parts:
            if identity in seen:
                raise ModelError(
                    f"{name} stands in the Graph twice: edits of one would change the other; give "
                    "each its own copy"
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


class GraphFollower:
    """Does to `graph` what `script` did to `document`, which was opened on its structure.

    Untouched nodes and tensors stay the same objects. `_nodes` are those of each scope by key,
    `_tensors` by name.
    """

    def __init__(self, graph: gs.Graph, document: Document) -> None:
        self._document = document
        self._graphs = dict(scopes_of(graph))
        self._nodes = {id_: dict(enumerate(one.nodes)) for id_, one in self._graphs.items()}
        self._tensors: dict[str, dict[str, gs.Tensor]] = {}
        self._touched: dict[int, gs.Tensor] = {}

    def follow(self, script: Sequence[Edit]) -> None:
        """Do all of it."""
        for edit in script:
            self._apply(edit)
        for scope in self._document.scopes.values():
            if not scope.outermost.is_function:
                self._rewire(scope, self._graphs[scope.id])
        readers = defaultdict[int, list[gs.Node]](list)
        makers = defaultdict[int, list[gs.Node]](list)
        for node in (node for graph in self._graphs.values() for node in graph.nodes):
            for linked, tensors in ((readers, node.inputs), (makers, node.outputs)):
                for tensor in tensors:
                    if id(tensor) in self._touched:
                        linked[id(tensor)].append(node)
        for identity, tensor in self._touched.items():
            _write(tensor.outputs, readers[identity])
            _write(tensor.inputs, makers[identity])

    def _apply(self, edit: Edit) -> None:
        """What of an edit the structure has not: attributes, constants, shapes and new nodes."""
        match edit:
            case SetAttribute(address, name, value):  # nodes may share their attributes
                node = self._nodes[address.scope][address.key]
                node.attrs = {**node.attrs, name: _value(value)}
            case RemoveAttribute(address, name):
                node = self._nodes[address.scope][address.key]
                node.attrs = {one: held for one, held in node.attrs.items() if one != name}
            case NewConstant():
                self._new_constant(edit)
            case InsertNode(before, key, op, name):
                attributes = {name: _value(value) for name, value in edit.attributes}
                node = gs.Node(op, name, attributes, domain=edit.domain or None)
                self._nodes[before.scope][key] = node
            case ForgetType(address, tensor):
                self._tensor(address.scope, tensor).shape = None
            case Resize(address, tensor, dims):
                self._tensor(address.scope, tensor).shape = [size or None for size in dims]
            case FixSize():
                self._fix_size(edit)

    def _fix_size(self, edit: FixSize) -> None:
        for tensor in self._graphs[""].inputs:
            for axis, now in enumerate(tensor.shape or ()):
                is_open = not isinstance(now, int) or now < 0
                if is_open and edit.dimension in (now, f"{tensor.name}[{axis}]"):
                    tensor.shape = [*tensor.shape[:axis], edit.size, *tensor.shape[axis + 1 :]]

    def _new_constant(self, edit: NewConstant) -> None:
        scope = edit.before.scope
        values = constant_array(edit, partial(self._values, scope))
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
        if not name:
            return gs.Variable.empty()
        inside: Scope | None = self._document.scopes[scope]
        while inside is not None:
            if name in (known := self._known(inside.id)):
                return known[name]
            inside = inside.parent
        return self._known(scope).setdefault(name, gs.Variable(name))

    def _rewire(self, scope: Scope, graph: gs.Graph) -> None:
        """Let the Graph have the nodes of the structure, with what they read and write."""
        nodes = self._nodes[scope.id]
        in_file = sorted(scope.nodes, key=lambda node: node.key)
        ordered = [one for node in in_file for one in scope.row(node)]
        for key in scope.removed:
            self._set(nodes[key].inputs, scope, ())
            self._set(nodes[key].outputs, scope, ())
        for node in ordered:
            self._set(nodes[node.key].inputs, scope, node.inputs)
            self._set(nodes[node.key].outputs, scope, node.outputs)
        if scope.rearranged:
            graph.nodes = [nodes[node.key] for node in ordered]

    def _set(self, tensors: list[gs.Tensor], scope: Scope, names: Sequence[str]) -> None:
        """Let a list hold the tensors of these names: where the name is the same, the same."""
        if [tensor.name for tensor in tensors] == list(names):
            return
        olds = [*tensors, *[None] * len(names)]
        news = [
            old if old is not None and old.name == name else self._tensor(scope.id, name)
            for old, name in zip(olds, names, strict=False)
        ]
        for tensor in (*tensors, *news):
            if not tensor.is_empty():
                self._touched[id(tensor)] = tensor
        _write(tensors, news)


def _value(value: AttributeValue) -> Any:  # noqa: ANN401  what graphsurgeon takes
    return list(value) if isinstance(value, tuple) else value


def _write(entries: list[Any], wanted: list[Any]) -> None:
    """Write a list of graphsurgeon's without its bookkeeping."""
    list.__setitem__(entries, slice(None), wanted)
