"""Reads a model into scopes of nodes."""

from __future__ import annotations

from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter

from onnx import (
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    OperatorSetIdProto,
    SparseTensorProto,
    TensorProto,
)

from onnxpad.errors import ModelError
from onnxpad.geometry.budgets import DEEPEST
from onnxpad.model.graph.inlined import inlined, label_of
from onnxpad.model.graph.nodes import Node, named_bodies
from onnxpad.model.graph.scopes import Document, Scope, quantisation_notes, scope_label
from onnxpad.padding.operators import FREE_INITIALIZERS, PLAIN_DOMAINS, plain_domain

_MOST_OPSETS = 2**31 - 1
"""Beyond it no runtime can name one."""
WITH_BODIES = frozenset({"If", "Loop", "Scan", "SequenceMap"})


def open_document(model: ModelProto, why_not: str = "") -> Document:
    """Index a model; its nodes are referred to, not copied.

    Where functions are written out, which `why_not` forbids, it is a copy that is indexed.
    Raises ModelError for an opset that no runtime can name and for cycles.
    """
    found = inlined(model, why_not)
    model = found.model
    opset = _default_opset(model.opset_import, "the model")
    scopes: dict[str, Scope] = {}
    main = _graph_scope(model.graph, "", "", None, opset, scopes)
    functions = {}
    for proto in model.functions:
        key = (plain_domain(proto.domain), proto.name, proto.overload)
        functions[key] = _function_scope(proto, scopes)
    names = (
        {value.name for value in model.graph.input}
        if model.ir_version >= FREE_INITIALIZERS
        else set()
    )
    overridable = frozenset(names & main.initializers.keys())
    return Document(model, main, functions, scopes, overridable, found.kept, found.calls)


def _default_opset(imports: Iterable[OperatorSetIdProto], where: str) -> int:
    found = 0
    for entry in imports:
        if entry.domain in PLAIN_DOMAINS:
            found = entry.version
    if not 0 <= found <= _MOST_OPSETS:
        raise ModelError(f"{where} uses opset {found}, which does not exist")
    return found


def _graph_scope(
    graph: GraphProto,
    id_: str,
    label: str,
    parent: Scope | None,
    opset: int,
    scopes: dict[str, Scope],
) -> Scope:
    scope = Scope(id_, label, graph, parent, opset)
    scope.initializers = {tensor.name: tensor for tensor in graph.initializer}
    sparse = {tensor.values.name: _header(tensor) for tensor in graph.sparse_initializer}
    scope.initializers |= sparse
    scope.sparse = frozenset(sparse)
    scope.inputs = tuple(value.name for value in graph.input)
    scope.outputs = frozenset(value.name for value in graph.output)
    return _fill(scope, graph.node, scopes)


def _header(sparse: SparseTensorProto) -> TensorProto:
    """Type of a sparse initializer; its values are not read."""
    name, kind, location = sparse.values.name, sparse.values.data_type, TensorProto.EXTERNAL
    return TensorProto(name=name, data_type=kind, dims=sparse.dims, data_location=location)


def _function_scope(proto: FunctionProto, scopes: dict[str, Scope]) -> Scope:
    name = label_of(proto)
    opset = _default_opset(proto.opset_import, f"function '{name}'")
    scope = Scope(name, name, proto, None, opset)
    scope.inputs = tuple(proto.input)
    scope.outputs = frozenset(proto.output)
    return _fill(scope, proto.node, scopes)


def _fill(scope: Scope, protos: Iterable[NodeProto], scopes: dict[str, Scope]) -> Scope:
    scopes[scope.id] = scope
    scope.nodes = [Node(key, proto) for key, proto in enumerate(protos)]
    scope.next_key = len(scope.nodes)
    _index_producers(scope)
    uses = scope.uses
    for name in scope.outputs:
        uses[name] = uses.get(name, 0) + 1
    for entry in quantisation_notes(scope):
        for pair in entry.quant_parameter_tensor_names:
            uses[pair.value] = uses.get(pair.value, 0) + 1
    in_place = _count_uses(scope)
    for node in scope.nodes:
        if node.op_type in WITH_BODIES or node.domain not in PLAIN_DOMAINS:
            _open_bodies(scope, node, scopes)
    if not in_place:
        try:
            scope.nodes = [
                scope.nodes[key] for key in TopologicalSorter(_needs(scope)).static_order()
            ]
        except CycleError as error:
            stuck = scope.nodes[error.args[1][0]]
            name = stuck.name or stuck.outputs[0]
            raise ModelError(f"the graph has a cycle through {stuck.op_type} '{name}'") from None
    return scope


def _index_producers(scope: Scope) -> None:
    producers = scope.producers
    for node in scope.nodes:
        for name in node.outputs:
            if name and name in producers:
                raise ModelError(
                    f"tensor '{name}' is written by two nodes in {scope.label or 'the main graph'}"
                )
            producers[name] = node
    producers.pop("", None)


def _count_uses(scope: Scope) -> bool:
    """Count readers of tensors; whether every node stands behind those that it reads from."""
    producers, uses, in_place = scope.producers, scope.uses, True
    for node in scope.nodes:
        for name in node.inputs:
            made = producers.get(name)
            if made is not None:
                uses[name] = uses.get(name, 0) + 1
                in_place &= made.key < node.key
            elif name:
                owner = scope.owner(name)
                if owner is None:
                    scope.dangling.setdefault(name, node)
                counts = (owner or scope).uses
                counts[name] = counts.get(name, 0) + 1
    return in_place


def _open_bodies(scope: Scope, node: Node, scopes: dict[str, Scope]) -> None:
    for name, graph in named_bodies(node.proto):
        if scope.depth >= DEEPEST.most:
            raise ModelError(DEEPEST.reason())
        id_ = f"{scope.id}/{node.key}.{name}" if scope.id else f"{node.key}.{name}"
        label = scope_label(scope, node, name)
        body = _graph_scope(graph, id_, label, scope, scope.opset, scopes)
        body.holder = node
        for used in body.outputs:
            if body.owner(used) not in (body, None):
                outer = body.owner(used)
                outer.uses[used] = outer.uses.get(used, 0) + 1  # type: ignore[union-attr]
        scope.children.setdefault(node.key, []).append((name, body))


def _needs(scope: Scope) -> dict[int, set[int]]:
    """For each node the keys of the nodes that it reads from, directly or in its bodies."""
    needs = {}
    for node in scope.nodes:
        names = set(node.inputs)
        pending = [body for _, body in scope.children.get(node.key, ())]
        while pending:
            body = pending.pop()
            for inner in body.nodes:
                names.update(inner.inputs)
                pending.extend(child for _, child in body.children.get(inner.key, ()))
        needs[node.key] = {scope.producers[n].key for n in names if n in scope.producers}
    return needs
