"""Local functions, written out where they are called if one of them can pad.

What is read and edited is such a copy; a model that is not changed is written as it came. Tensors
of a function are called 'name__call' then, its nodes 'call/node'.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any, NamedTuple, TypeAlias

from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    OperatorSetIdProto,
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
    """Functions cannot be written out for what a call gives one of them."""


def inlined(model: ModelProto, why_not: str = "", *, everything: bool = False) -> Inlined:
    """The model without calls of functions, if one that is called can pad, or for `everything`.

    With `why_not`, or where one of them cannot be written out, they all stay. Raises ModelError for
    functions that call themselves, and where `everything` is too much.
    """
    if not model.functions:
        return Inlined(model)
    functions = {(plain_domain(f.domain), f.name, f.overload): f for f in model.functions}
    sizes: dict[Key, int] = {}
    if (size := _size(functions, model.graph.node, sizes)) > WRITTEN_OUT.most:
        why_not = why_not or WRITTEN_OUT.reason(f"{size:,}")
        if everything:
            raise ModelError(why_not)
    called = {key: functions[key] for key in sizes}
    padding = {key for key in functions if _pads(functions, key)}
    reasons = filter(None, (_objection(model, one) for one in called.values()))
    if not everything and not padding & called.keys():
        why_not = why_not or "nothing calls it"
    if why_not := why_not or next(reasons, ""):
        return Inlined(model, kept={label_of(functions[key]): why_not for key in padding})
    try:
        nodes = list(_Writer(called, model.graph).written(model.graph.node))
    except _Stays as error:
        return inlined(model, str(error))
    read = ModelProto()
    read.CopyFrom(model)
    del read.functions[:], read.graph.node[:], read.opset_import[:]
    read.graph.node.extend(nodes)
    read.opset_import.extend(_imports(model, called, nodes))
    first = {key_of(node): node for node in reversed(list(every_node(model.graph.node)))}
    return Inlined(read, tuple(first[key] for key in sorted(called.keys() & first.keys())))


def _pads(functions: Mapping[Key, FunctionProto], key: Key) -> bool:
    """Whether a function holds an operator that can pad, or calls one that does."""
    called: dict[Key, int] = {}
    _size(functions, functions[key].node, called)
    nodes = (node for one in (key, *called) for node in every_node(functions[one].node))
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
    """Number of nodes behind all calls, recorded by function in `sizes`. Raises ModelError."""
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
    model: ModelProto, gone: Mapping[Key, FunctionProto], nodes: Sequence[NodeProto]
) -> list[OperatorSetIdProto]:
    """The opsets of the model and of what was written out, without domains that nothing uses.

    Some runtimes refuse domains that they do not have, used or not.
    """
    unused = {domain for domain, *_ in gone} - {node.domain for node in every_node(nodes)}
    read = [entry for one in gone.values() for entry in one.opset_import]
    entries = {entry.domain: entry for entry in (*read, *model.opset_import)}
    return [entry for domain, entry in entries.items() if domain not in unused - PLAIN_DOMAINS]


class _Call(NamedTuple):
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
        self._functions, self._calls = functions, 0
        self._taken = {value.name for value in _values(graph)}
        for node in every_node(graph.node):
            self._taken |= {node.name, *node.input, *node.output}

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
                copy.name = self._unique(f"{call.label}/{_title(node)}")
            yield copy

    def _called(self, node: NodeProto, around: _Call | None) -> list[NodeProto]:
        """What a call stands for; raises _Stays."""
        function = self._functions[key_of(node)]
        self._calls += 1
        given = {one.name: one for one in (*function.attribute_proto, *node.attribute)}
        if missing := [name for name in function.attribute if name not in given]:
            raise _Stays(f"a call does not give its attribute '{missing[0]}'")
        read = [*node.input, *[""] * len(function.input)]
        names = {"": "", **dict(zip(function.input, read, strict=False))}
        call = _Call(self._calls, around.label if around else _title(node), names, given)
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
            fields[:] = [self._name(name, call) for name in fields]
        for attribute in list(node.attribute):
            reference, name = attribute.ref_attr_name, attribute.name
            if reference and reference not in call.given:
                node.attribute.remove(attribute)
            elif reference and call.given[reference].type != attribute.type:
                raise _Stays(f"a call gives its attribute '{reference}' another type")
            elif reference:
                attribute.CopyFrom(call.given[reference])
                attribute.name = name
        for value in (value for body in bodies(node) for value in _values(body)):
            value.name = self._name(value.name, call)

    def _name(self, name: str, call: _Call) -> str:
        if name not in call.names:
            call.names[name] = self._unique(f"{name}__{call.number}")
        return call.names[name]

    def _unique(self, wanted: str) -> str:
        """`wanted`, with a number where it is taken; it is taken from now on."""
        numbered = (f"{wanted}_{number}" for number in count(1))
        name = next(one for one in chain([wanted], numbered) if one not in self._taken)
        self._taken.add(name)
        return name


def _title(node: NodeProto) -> str:
    return node.name or next(filter(None, node.output), node.op_type)


def _values(graph: GraphProto) -> list[Any]:
    """What bears a name in a graph besides its nodes and what they read and write."""
    sparse = [tensor.values for tensor in graph.sparse_initializer]
    return [*graph.input, *graph.output, *graph.initializer, *graph.value_info, *sparse]
