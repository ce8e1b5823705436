"""Graphs with the branches of Ifs of constants in their places, as some runtimes see them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from onnxpad.model.graph.context import Context, given_by
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.scopes import Scope, quantisation_notes
from onnxpad.model.graph.types import UNKNOWN


class Seen(NamedTuple):
    """A graph to look around in, and for each node of it by its key where the model has it."""

    context: Context
    given: Mapping[int, tuple[Context, Node]]


def as_written(contexts: Sequence[Context]) -> Iterator[Seen]:
    """Every graph as the model has it."""
    for context in contexts:
        nodes = context.scope.ordered()
        yield Seen(context, {node.key: (context, node) for node in nodes})


def inlined(contexts: Sequence[Context]) -> Iterator[Seen]:
    """The same, but each If whose condition is known is the branch that it runs.

    So neither the branch is a graph of its own, nor the other one, nor what stands in that.
    """
    for context in contexts:
        if not _is_part(context):
            bodies = (context.branch(node) for node in context.scope.ordered() if _is_if(node))
            yield _Inlining(context).seen() if any(bodies) else next(as_written([context]))


def _is_if(node: Node) -> bool:
    return node.op_type == "If"


def _is_part(context: Context) -> bool:
    """Whether it is a branch of an If whose condition is known, or stands in one not taken."""
    inside: Context | None = context
    while inside is not None and not (inside.is_run and inside is context):
        holder, outer = inside.scope.holder, inside.outer
        known = outer is not None and holder is not None and _is_if(holder) and outer.branch(holder)
        if known and not inside.is_run:
            return True
        inside = outer
    return inside is not None


class _Inlining:
    """Names of tensors in branches get their graph's in front, as others may have the same."""

    def __init__(self, root: Context) -> None:
        self._root = root
        self._names: dict[Context, dict[str, str]] = {root: {}}
        self._given: dict[int, tuple[Context, Node]] = {}
        of = root.scope
        self._scope = Scope(of.id, of.label, of.proto, of.parent, of.opset)
        self._scope.holder, self._scope.inputs, self._scope.sparse = of.holder, of.inputs, of.sparse
        self._made = Context(
            root.document, self._scope, root.folder, root.outer, root.caller, root.call
        )
        self._made.bindings, self._made.calls = root.bindings, root.calls

    def seen(self) -> Seen:
        scope, root = self._scope, self._root
        self._add(root)
        scope.outputs = frozenset(self._name(root, name) for name in root.scope.outputs)
        read = [*scope.outputs, *(name for node in scope.nodes for name in node.inputs if name)]
        read += [
            pair.value
            for entry in quantisation_notes(root.scope)
            for pair in entry.quant_parameter_tensor_names
        ]
        for key, bodies in scope.children.items():
            context = self._given[key][0]
            names = (name for _, body in bodies for name in _read_around(body))
            read += [self._name(context, name) for name in names]
        for name in read:
            scope.uses[name] = scope.uses.get(name, 0) + 1
        return Seen(self._made, self._given)

    def _add(self, context: Context) -> None:
        """What a graph defines, the branches that its Ifs run among it."""
        scope, made = context.scope, self._scope
        for name, tensor in scope.initializers.items():
            made.initializers[self._name(context, name)] = tensor
        made.sparse |= {self._name(context, name) for name in scope.sparse}
        for node in scope.ordered():
            body = context.branch(node) if _is_if(node) else None
            if body is None:
                self._add_node(context, node)
            else:
                self._put(context, node, body)
        for name, found in context.types.items():
            if scope.defines(name):
                known = self._made.types.get(self._name(context, name), UNKNOWN)
                self._made.types[self._name(context, name)] = found if known == UNKNOWN else known

    def _put(self, context: Context, node: Node, body: Context) -> None:
        """A branch in the place of its If, whose results are called as those of the If."""
        own = self._names[body] = {}
        results = [(name, given_by(body, at)) for at, name in enumerate(node.outputs) if name]
        for name, inside in results:
            if inside in body.scope.producers:
                own.setdefault(inside, self._name(context, name))
        for name, inside in results:
            self._names[context][name] = self._name(body, inside)
        self._add(body)

    def _add_node(self, context: Context, node: Node) -> None:
        scope, key = self._scope, len(self._scope.nodes)
        one = Node(key, node.proto)
        one.inputs = [self._name(context, name) for name in node.inputs]
        one.outputs = [self._name(context, name) for name in node.outputs]
        scope.nodes.append(one)
        scope.producers.update((name, one) for name in one.outputs if name)
        self._given[key] = context, node
        if node.key in context.scope.children:
            scope.children[key] = context.scope.children[node.key]
        for (holder, attribute), body in context.bodies.items():
            if holder == node.key:
                self._made.bodies[key, attribute] = body

    def _name(self, context: Context, name: str) -> str:
        """What a tensor that is read in a graph is called."""
        inside: Context | None = context
        while name and inside in self._names:
            if inside.scope.defines(name):
                own = name if inside is self._root else f"{inside.scope.id}\n{name}"
                return self._names[inside].get(name, own)
            inside = inside.outer
        return name


def _read_around(scope: Scope) -> Iterator[str]:
    """What a graph inside a node reads of those around it, as often as it does."""
    names = [name for node in scope.ordered() for name in node.inputs if name]
    names += scope.outputs
    names += (
        name
        for bodies in scope.children.values()
        for _, one in bodies
        for name in _read_around(one)
    )
    yield from (name for name in names if not scope.defines(name))
