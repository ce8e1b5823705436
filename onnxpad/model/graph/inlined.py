"""Local functions that can pad, written out where they are called.

What is read and edited is such a copy; a model that is not changed is written as it came. Tensors
of a function are called 'name__call' then, its nodes 'call/node'.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    defs,
    helper,
)

from onnxpad.errors import ModelError
from onnxpad.geometry.budgets import DEEPEST, WRITTEN_OUT
from onnxpad.model.graph.nodes import bodies, every_node
from onnxpad.padding.operators import MICROSOFT, PLAIN_DOMAINS, operator, plain_domain

Key: TypeAlias = tuple[str, str, str]
_OPEN = -1


def key_of(node: NodeProto) -> Key:
    """Domain, name and overload of the function that a node calls, if it calls one."""
    return plain_domain(node.domain), node.op_type, node.overload


def label_of(function: FunctionProto) -> str:
    """'domain:name', and an overload behind it."""
    name = f"{function.domain}:{function.name}"
    return f"{name}:{function.overload}" if function.overload else name


@dataclass(frozen=True, eq=False)
class Inlined:
    """A model as it is read: `calls` holds one of each function that is written out.

    `kept` are functions that can pad and stay, by their labels, with the reason.
    """

    model: ModelProto
    calls: tuple[NodeProto, ...] = ()
    kept: Mapping[str, str] = field(default_factory=dict)


class _Stays(Exception):
    """A function cannot be written out for what a call gives it."""


def inlined(model: ModelProto, why_not: str = "", *, everything: bool = False) -> Inlined:
    """The model without calls of functions that can pad, or of any; itself where it has none.

    With `why_not` they all stay. Raises ModelError for functions that call themselves, and where
    `everything` is too much.
    """
    if not model.functions:
        return Inlined(model)
    functions = {(plain_domain(f.domain), f.name, f.overload): f for f in model.functions}
    size, called = _size(functions, model.graph.node, {}), _called(functions, model.graph.node)
    if everything and size > WRITTEN_OUT.most:
        raise ModelError(WRITTEN_OUT.reason(f"{size:,}"))
    why_not = why_not or (WRITTEN_OUT.reason(f"{size:,}") if size > WRITTEN_OUT.most else "")
    padding = {key for key in functions if _pads(functions, key)}
    asked = called if everything else called & padding
    reasons = {key: why_not or _objection(model, functions[key]) for key in asked}
    gone = {key: functions[key] for key, reason in reasons.items() if not reason}
    try:
        nodes = list(_Writer(gone, model.graph).written(model.graph.node)) if gone else []
    except _Stays as error:
        return inlined(model, str(error))
    reasons |= dict.fromkeys(padding - called, "nothing calls it")
    staying = functions.keys() - gone.keys()
    needed = gone.keys() & _called(functions, (n for key in staying for n in functions[key].node))
    reasons |= dict.fromkeys(needed, "a function that stays calls it")
    kept = {label_of(functions[key]): reason for key, reason in reasons.items() if reason}
    if not gone:
        return Inlined(model, kept=kept)
    left = [function for key, function in functions.items() if key in staying | needed]
    read = ModelProto()
    read.CopyFrom(model)
    for fields, new in (
        (read.graph.node, nodes),
        (read.opset_import, _imports(model, gone, nodes, left)),
        (read.functions, left),
    ):
        del fields[:]
        fields.extend(new)
    first = {key_of(node): node for node in reversed(list(every_node(model.graph.node)))}
    return Inlined(read, tuple(first[key] for key in sorted(gone.keys() & first.keys())), kept)


def _called(functions: Mapping[Key, FunctionProto], nodes: Iterable[NodeProto]) -> set[Key]:
    """Functions that nodes call, at once or in other functions."""
    called: set[Key] = set()
    waiting = list(nodes)
    while waiting:
        fresh = {key_of(node) for node in every_node(waiting)} & functions.keys() - called
        called |= fresh
        waiting = [node for key in fresh for node in functions[key].node]
    return called


def _pads(functions: Mapping[Key, FunctionProto], key: Key) -> bool:
    """Whether a function holds an operator that can pad, or calls one that does."""
    inside = _called(functions, functions[key].node) | {key}
    nodes = (node for one in inside for node in every_node(functions[one].node))
    return any(
        key_of(node) not in functions and operator(node.domain, node.op_type) is not None
        for node in nodes
    )


def _size(
    functions: Mapping[Key, FunctionProto],
    nodes: Iterable[NodeProto],
    sizes: dict[Key, int],
    depth: int = 0,
) -> int:
    """How many nodes come for calls, every call written out.

    Raises ModelError for functions that call each other in a circle, or too deeply.
    """
    if depth > DEEPEST.most:
        raise ModelError(DEEPEST.reason())
    total = 0
    for key in filter(functions.__contains__, map(key_of, every_node(nodes))):
        inside = functions[key].node
        if sizes.get(key) == _OPEN:
            name = label_of(functions[key])
            raise ModelError(f"function '{name}' calls itself, which ONNX does not allow")
        if key not in sizes:
            sizes[key] = _OPEN
            own = sum(1 for _ in every_node(inside))
            sizes[key] = own + _size(functions, inside, sizes, depth + 1)
        total += sizes[key]
    return total


def _objection(model: ModelProto, function: FunctionProto) -> str:
    """Why a function cannot be written out wherever it is called; '' where it can."""
    if [label_of(one) for one in model.functions].count(label_of(function)) > 1:
        return "there are two of its name"
    domain = plain_domain(function.domain)
    if domain == MICROSOFT or defs.has(function.name, domain):
        return "runtimes may have an operator of its name"
    versions: dict[str, int] = {}  # of the model, or of the first function that has one
    for holder in (model, *model.functions):
        for entry in holder.opset_import:
            versions.setdefault(plain_domain(entry.domain), entry.version)
    for entry in function.opset_import:
        domain = plain_domain(entry.domain)
        if (other := versions[domain]) != entry.version:
            return f"it is of {domain or 'opset'} {entry.version}, the model of {other}"
    return ""


def _imports(
    model: ModelProto,
    gone: Mapping[Key, FunctionProto],
    nodes: Sequence[NodeProto],
    left: Sequence[FunctionProto],
) -> list[object]:
    """The opsets of the model and of what was written out, without domains that nothing uses.

    Some runtimes refuse domains that they do not have, used or not.
    """
    inside = [node for function in left for node in function.node]
    used = {node.domain for node in every_node([*nodes, *inside])} | {f.domain for f in left}
    unused = {domain for domain, *_ in gone} - used - PLAIN_DOMAINS
    entries = {entry.domain: entry for entry in model.opset_import}
    for function in gone.values():
        for entry in function.opset_import:
            entries.setdefault(entry.domain, entry)
    return [entry for domain, entry in entries.items() if domain not in unused]


@dataclass(eq=False)
class _Call:
    """A call of a function: what names and attributes mean in it.

    number: it is the so manieth call. label: how the outermost call around it is called.
    """

    number: int
    label: str
    names: dict[str, str]
    given: Mapping[str, AttributeProto]


class _Writer:
    """Writes out the calls of `functions` in one graph."""

    def __init__(self, functions: Mapping[Key, FunctionProto], graph: GraphProto) -> None:
        self._functions = functions
        nodes = list(every_node(graph.node))
        values = (*graph.input, *graph.initializer, *graph.value_info, *graph.output)
        self._taken = {value.name for value in values}
        self._taken |= {name for node in nodes for name in (*node.input, *node.output)}
        self._node_names = {node.name for node in nodes}
        self._calls = 0

    def written(
        self, nodes: Iterable[NodeProto], call: _Call | None = None, *, in_body: bool = False
    ) -> Iterator[NodeProto]:
        """Copies of nodes, those of a `call` as they are in it, and what their calls stand for."""
        for node in nodes:
            copy = NodeProto()
            copy.CopyFrom(node)
            if call is not None:
                self._adapt(copy, call)
            for body in bodies(copy):
                inside = list(self.written(body.node, call, in_body=True))
                del body.node[:]
                body.node.extend(inside)
            if key_of(copy) in self._functions:
                yield from self._called(copy, call)
                continue
            if call is not None and not in_body:
                own = node.name or next(filter(None, node.output), node.op_type)
                copy.name = _unique(f"{call.label}/{own}", self._node_names, 2)
            yield copy

    def _called(self, node: NodeProto, around: _Call | None) -> list[NodeProto]:
        """What a call stands for; raises _Stays."""
        key = key_of(node)
        function = self._functions[key]
        self._calls += 1
        attributes = (*function.attribute_proto, *node.attribute)
        given = {attribute.name: attribute for attribute in attributes}
        for name in function.attribute:
            if name not in given:
                raise _Stays(f"a call does not give its attribute '{name}'")
        label = around.label if around else node.name or next(filter(None, node.output), key[1])
        read = [*node.input, *[""] * len(function.input)]
        names = {"": "", **dict(zip(function.input, read, strict=False))}
        call = _Call(self._calls, label, names, given)
        copies = []
        for name, result in zip(function.output, node.output, strict=False):
            if result and name in names:
                copies.append(helper.make_node("Identity", [names[name]], [result]))
            elif result:
                names[name] = result
        return [*self.written(function.node, call), *copies]

    def _adapt(self, node: NodeProto, call: _Call) -> None:
        """Let a node of a function have the names and attributes that they are in a call."""
        if not call.names.keys() >= set(node.input):
            raise _Stays("its nodes stand in disorder, or read what nothing makes")
        for fields in (node.input, node.output):
            for place, name in enumerate(fields):
                fields[place] = self._name(name, call)
        for place in reversed(range(len(node.attribute))):
            attribute = node.attribute[place]
            reference, name = attribute.ref_attr_name, attribute.name
            if not reference:
                continue
            if reference not in call.given:
                del node.attribute[place]
            elif call.given[reference].type != attribute.type:
                raise _Stays(f"a call gives its attribute '{reference}' another type")
            else:
                attribute.CopyFrom(call.given[reference])
                attribute.name = name
        for body in bodies(node):
            sparse = [tensor.values for tensor in body.sparse_initializer]
            values = (*body.input, *body.output, *body.initializer, *body.value_info, *sparse)
            for value in values:
                value.name = self._name(value.name, call)

    def _name(self, name: str, call: _Call) -> str:
        if name not in call.names:
            call.names[name] = _unique(f"{name}__{call.number}", self._taken, 1)
        return call.names[name]


def _unique(wanted: str, taken: set[str], number: int) -> str:
    """`wanted`, with a number where it is taken; it is taken from now on."""
    name = wanted
    while name in taken:
        name = f"{wanted}_{number}"
        number += 1
    taken.add(name)
    return name
