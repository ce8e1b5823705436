"""Local functions that can pad, written out by onnx.inliner where they are called.

What is read and edited is such a copy; a model that is not changed is written as it came. Measured
with onnx 1.23.2: the inliner leaves out default values of attributes, loses results that are
inputs, forgets the opsets of other domains and lets names of sizes escape. All that is settled
before it begins, and what cannot be is a reason for which a function stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    ValueInfoProto,
    defs,
    helper,
    inliner,
)

from onnxpad.errors import ModelError, headline
from onnxpad.geometry.budgets import DEEPEST, WRITTEN_OUT
from onnxpad.model.graph.nodes import bodies, every_node
from onnxpad.padding.operators import MICROSOFT, PLAIN_DOMAINS, operator, plain_domain

Key: TypeAlias = tuple[str, str, str]
_OPEN = -1
_CALL, _NAME = "onnxpad.call", "onnxpad.name"
"""Attributes that lead a node of a function to the call that it was written out for."""


def key_of(node: NodeProto) -> Key:
    """Domain, name and overload of the function that a node calls, if it calls one."""
    return plain_domain(node.domain), node.op_type, node.overload


def label_of(function: FunctionProto) -> str:
    """'domain:name', and an overload behind it."""
    name = f"{function.domain}:{function.name}"
    return f"{name}:{function.overload}" if function.overload else name


@dataclass(eq=False)
class Functions:
    """The local functions of a model, by what calls them."""

    model: ModelProto
    of_key: dict[Key, FunctionProto] = field(init=False)
    _sizes: dict[Key, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        functions = self.model.functions
        self.of_key = {(plain_domain(f.domain), f.name, f.overload): f for f in functions}

    def called_by(self, nodes: Iterable[NodeProto]) -> set[Key]:
        """Functions that nodes call, at once or in other functions."""
        called: set[Key] = set()
        waiting = list(nodes)
        while waiting:
            fresh = {key_of(node) for node in every_node(waiting)} & self.of_key.keys() - called
            called |= fresh
            waiting = [node for key in fresh for node in self.of_key[key].node]
        return called

    @cached_property
    def padding(self) -> frozenset[Key]:
        """Functions that hold an operator that can pad, or call one that does."""
        padding: set[Key] = set()
        before = -1
        while before < len(padding):
            before = len(padding)
            padding |= {
                key
                for key, function in self.of_key.items()
                if key not in padding
                and any(self._pads(node, padding) for node in every_node(function.node))
            }
        return frozenset(padding)

    def _pads(self, node: NodeProto, padding: set[Key]) -> bool:
        key = key_of(node)
        if key in self.of_key:
            return key in padding
        return operator(node.domain, node.op_type) is not None

    def size(self, nodes: Iterable[NodeProto], depth: int = 0) -> int:
        """How many nodes come for calls, every call written out.

        Raises ModelError for functions that call each other in a circle, or too deeply.
        """
        if depth > DEEPEST.most:
            raise ModelError(DEEPEST.reason())
        total = 0
        for key in filter(self.of_key.__contains__, map(key_of, every_node(nodes))):
            function = self.of_key[key]
            if self._sizes.get(key) == _OPEN:
                raise ModelError(
                    f"function '{label_of(function)}' calls itself, which ONNX does not allow"
                )
            if key not in self._sizes:
                self._sizes[key] = _OPEN
                own = sum(1 for _ in every_node(function.node))
                self._sizes[key] = own + self.size(function.node, depth + 1)
            total += self._sizes[key]
        return total

    @cached_property
    def _given(self) -> dict[Key, list[dict[str, int]]]:
        """The attributes that each call of a function gives, with their types.

        One that refers to what its own function does not have is of type 0.
        """
        calls: dict[Key, list[dict[str, int]]] = {key: [] for key in self.of_key}
        scopes: list[tuple[Sequence[NodeProto], set[str]]] = [(self.model.graph.node, {""})]
        for function in self.of_key.values():
            defaults = (default.name for default in function.attribute_proto)
            scopes.append((function.node, {"", *function.attribute, *defaults}))
        for nodes, names in scopes:
            for node in every_node(nodes):
                given = {
                    entry.name: entry.type if entry.ref_attr_name in names else 0
                    for entry in node.attribute
                }
                calls.get(key_of(node), []).append(given)
        return calls

    @cached_property
    def _imported(self) -> dict[str, int]:
        """The version of each domain: the model's, or that of the first function that has one."""
        versions: dict[str, int] = {}
        for holder in (self.model, *self.model.functions):
            for entry in holder.opset_import:
                versions.setdefault(plain_domain(entry.domain), entry.version)
        return versions

    @cached_property
    def _names(self) -> Counter[str]:
        return Counter(map(label_of, self.model.functions))

    def objection(self, key: Key) -> str:
        """Why a function cannot be written out where it is called; '' where it can."""
        function = self.of_key[key]
        if self._names[label_of(function)] > 1:
            return "there are two of its name"
        if key[0] == MICROSOFT or defs.has(function.name, key[0]):
            return "runtimes may have an operator of its name"
        if not _is_in_order(function.node, set(function.input)):
            return "its nodes stand in disorder, or read what nothing makes"
        for entry in function.opset_import:
            domain, version = plain_domain(entry.domain), entry.version
            other = self._imported[domain]
            if other != version and domain:
                return f"it is written for {domain} {version}, the model for {other}"
            if other != version and (op := _differs(function, other, version)):
                return f"it is of opset {version}, the model of {other}, and {op} is not the same"
        return self._misses(key)

    def _misses(self, key: Key) -> str:
        """Which attribute a call does not give, or not as it is read."""
        function = self.of_key[key]
        defaults = {default.name: default.type for default in function.attribute_proto}
        entries = [entry for node in every_node(function.node) for entry in node.attribute]
        references = [entry for entry in entries if entry.ref_attr_name]
        for given in self._given[key]:
            if lost := next((name for name, kind in given.items() if not kind), ""):
                return f"a call takes its attribute '{lost}' from nowhere"
            for name in function.attribute:
                if name not in given:
                    return f"a call does not give its attribute '{name}'"
            for entry in references:
                if (defaults | given).get(entry.ref_attr_name) not in (entry.type, None):
                    return f"a call gives its attribute '{entry.ref_attr_name}' another type"
        return ""


def _is_in_order(nodes: Iterable[NodeProto], *there: Collection[str]) -> bool:
    """Whether every node, and what it holds, reads what is there or was made in front of it."""
    made: set[str] = set()
    for node in nodes:
        names = filter(None, node.input)
        if not all(any(name in outer for outer in (*there, made)) for name in names):
            return False
        for body in bodies(node):
            own = {value.name for value in (*body.input, *body.initializer)}
            own |= {tensor.values.name for tensor in body.sparse_initializer}
            if not _is_in_order(body.node, *there, made, own):
                return False
        made.update(node.output)
    return True


def _differs(function: FunctionProto, opset: int, other: int) -> str:
    """The first operator that the texts of two opsets define otherwise, or ''."""
    for node in every_node(function.node):
        if node.domain in PLAIN_DOMAINS:
            try:
                first, second = (defs.get_schema(node.op_type, at, "") for at in (opset, other))
            except defs.SchemaError:
                continue
            if first.since_version != second.since_version:
                return node.op_type
    return ""


@dataclass(frozen=True, eq=False)
class Inlined:
    """A model as it is read: `calls` holds one of each function that is written out.

    `kept` are functions that can pad and stay, by their labels, with the reason.
    """

    model: ModelProto
    calls: tuple[NodeProto, ...] = ()
    kept: Mapping[str, str] = field(default_factory=dict)


def inlined(model: ModelProto, why_not: str = "", *, everything: bool = False) -> Inlined:
    """The model without calls of functions that can pad, or of any; itself where it has none.

    With `why_not` they all stay. Raises ModelError for functions that call themselves, and where
    `everything` is too much.
    """
    if not model.functions:
        return Inlined(model)
    functions = Functions(model)
    size, called = functions.size(model.graph.node), functions.called_by(model.graph.node)
    kept = {label_of(functions.of_key[k]): "nothing calls it" for k in functions.padding - called}
    if everything and size > WRITTEN_OUT.most:
        raise ModelError(WRITTEN_OUT.reason(f"{size:,}"))
    why_not = why_not or (WRITTEN_OUT.reason(f"{size:,}") if size > WRITTEN_OUT.most else "")
    wanted: set[Key] = set()
    for key in called if everything else called & functions.padding:
        if reason := why_not or functions.objection(key):
            kept[label_of(functions.of_key[key])] = reason
        else:
            wanted.add(key)
    if not wanted:
        return Inlined(model, kept=kept)
    bare = ModelProto(ir_version=model.ir_version, opset_import=model.opset_import)
    bare.graph.CopyFrom(_named(model.graph))
    try:
        done = _written_out(bare, functions, wanted)
    except Exception as error:  # noqa: BLE001 - the inliner raises many kinds
        reasons = {label_of(functions.of_key[key]): headline(error) for key in wanted}
        return Inlined(model, kept=kept | reasons)
    staying = {key for key in functions.of_key if key not in wanted}
    needed = functions.called_by(n for key in staying for n in functions.of_key[key].node) & wanted
    kept |= {label_of(functions.of_key[key]): "a function that stays calls it" for key in needed}
    left = [functions.of_key[key] for key in functions.of_key if key in staying | needed]
    read = ModelProto()
    read.CopyFrom(model)
    gone = {domain for domain, *_ in wanted} - _domains(done.graph.node, left) - PLAIN_DOMAINS
    for fields, new in (
        (read.graph.node, done.graph.node),
        (read.opset_import, [entry for entry in done.opset_import if entry.domain not in gone]),
        (read.functions, left),
    ):
        del fields[:]
        fields.extend(new)
    read.graph.value_info.extend(done.graph.value_info)
    first = {key_of(node): node for node in reversed(list(every_node(model.graph.node)))}
    return Inlined(read, tuple(first[key] for key in sorted(wanted & first.keys())), kept)


def _domains(nodes: Sequence[NodeProto], functions: Sequence[FunctionProto]) -> set[str]:
    """The domains of these nodes and functions; some runtimes refuse others that are imported."""
    inside = [node for function in functions for node in function.node]
    of_nodes = {node.domain for node in every_node([*nodes, *inside])}
    return of_nodes | {function.domain for function in functions}


def _named(graph: GraphProto) -> GraphProto:
    """The nodes of a graph, and the names that it has besides: weights stay where they are."""
    bare = GraphProto(name=graph.name, node=graph.node)
    names = [value.name for value in (*graph.input, *graph.initializer, *graph.value_info)]
    for name in (*names, *(tensor.values.name for tensor in graph.sparse_initializer)):
        bare.input.add(name=name)
    bare.output.extend(ValueInfoProto(name=value.name) for value in graph.output)
    return bare


def _written_out(bare: ModelProto, functions: Functions, wanted: Collection[Key]) -> ModelProto:
    """The same with what calls of these functions stand for: nodes are called 'call/node'."""
    imported = {entry.domain for entry in bare.opset_import}
    for key in wanted:
        function = bare.functions.add()
        function.CopyFrom(functions.of_key[key])
        others = [entry for entry in function.opset_import if entry.domain not in imported]
        bare.opset_import.extend(others)
        imported |= {entry.domain for entry in others}
        _prepare(function)
    for function in bare.functions:
        del function.opset_import[:]
        function.opset_import.extend(bare.opset_import)
    inside = [node for function in bare.functions for node in function.node]
    for node in every_node([*bare.graph.node, *inside]):
        if key_of(node) in wanted:
            given = {entry.name for entry in node.attribute}
            defaults = functions.of_key[key_of(node)].attribute_proto
            node.attribute.extend(entry for entry in defaults if entry.name not in given)
            if _CALL not in given:
                name = node.name or next(filter(None, node.output), node.op_type)
                node.attribute.append(helper.make_attribute(_CALL, name))
    done = inliner.inline_local_functions(bare)
    _name(list(every_node(done.graph.node)))
    return done


def _prepare(function: FunctionProto) -> None:
    """Tell every node its name and its call, leave sizes nameless, and give inputs a copy."""
    for value in function.value_info:
        for dim in value.type.tensor_type.shape.dim:
            dim.ClearField("dim_param")
    names = {name for node in every_node(function.node) for name in (*node.input, *node.output)}
    for node in function.node:
        name = node.name or next(filter(None, node.output), node.op_type)
        node.attribute.append(helper.make_attribute(_NAME, name))
        node.attribute.add(name=_CALL, ref_attr_name=_CALL, type=AttributeProto.STRING)
    function.attribute.append(_CALL)
    for place, name in enumerate(function.output):
        if name in (*function.input, *function.output[:place]):
            copy = f"{name}_{place}"
            while copy in names:
                copy += "_"
            names.add(copy)
            function.node.add(op_type="Identity", input=[name], output=[copy])
            function.output[place] = copy


def _name(nodes: Sequence[NodeProto]) -> None:
    """Call nodes that were in functions by the call and their own name, each once."""
    taken = {node.name for node in nodes}
    numbers: dict[str, int] = {}
    for node in nodes:
        notes = {a.name: a.s.decode() for a in node.attribute if a.name in (_CALL, _NAME)}
        if not notes:
            continue
        for place in reversed(range(len(node.attribute))):
            if node.attribute[place].name in notes:
                del node.attribute[place]
        if _NAME in notes:
            name = wanted = f"{notes[_CALL]}/{notes[_NAME]}"
            while name in taken:
                numbers[wanted] = numbers.get(wanted, 1) + 1
                name = f"{wanted}_{numbers[wanted]}"
            taken.add(name)
            node.name = name
