"""Reads a document: one forward pass gives types and the chain of every padded node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from onnx import GraphProto

from onnxpad.model.graph.context import Context, held_constant, tensor_type
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.scopes import Document, Scope
from onnxpad.model.graph.types import UNKNOWN, Type
from onnxpad.model.reading.chains import ChainReader, out_of_reach
from onnxpad.model.shapes.dimensions import Dimensions
from onnxpad.model.shapes.node_inference import are_open, inferred_results
from onnxpad.model.shapes.result_types import (
    MICROSOFT_RULES,
    branch_types,
    completed,
    is_settled,
    joined,
    merge,
    padded_type,
    quantised_result,
    sizes_behind,
    window_type,
)
from onnxpad.model.shapes.shape_rules import PLAIN_RULES, NodeFacts, ruled
from onnxpad.padding.chain import NO_PREFERENCE, Mark, Preferences, contradict
from onnxpad.padding.operators import MICROSOFT, PLAIN_DOMAINS, Kind, Operator, operator

Declared = Mapping[str, Mapping[str, Type]]


def read(
    document: Document,
    dimensions: Dimensions,
    *,
    folder: Path | None = None,
    prefer: Preferences = NO_PREFERENCE,
    given: Declared | None = None,
    stated: bool = True,
) -> list[Context]:
    """Read every scope: contexts in graph order, each with its chains.

    given: types by scope and tensor that hold besides those of the file.
    stated: whether the file is believed what it says of results.
    """
    document.folded_cells = 0
    reader = _Reader(document, dimensions, ChainReader(prefer), given or {}, folder, stated)
    reader.main()
    return reader.contexts


@dataclass(eq=False)
class _Reader:
    document: Document
    dimensions: Dimensions
    chains: ChainReader
    given: Declared
    folder: Path | None
    stated: bool
    contexts: list[Context] = field(default_factory=list)

    def main(self) -> None:
        context = Context(self.document, self.document.main, self.folder)
        self._declare(context)
        self._walk(context)
        self._functions()

    def _functions(self) -> None:
        """What stays in functions: which of it can pad is told, and nothing of it is known."""
        made: dict[str, Context] = {}
        for scope in self.document.scopes.values():
            outer = made.get(scope.parent.id) if scope.parent else None
            if scope.is_function or outer is not None:
                context = made[scope.id] = Context(self.document, scope, self.folder, outer)
                ops = ((node, operator(node.domain, node.op_type)) for node in scope.nodes)
                reason = self.document.kept.get(scope.outermost.id, "")
                context.chains = {
                    node.key: out_of_reach(context, op, reason)
                    for node, op in ops
                    if op is not None and not self.document.function(node)
                }
                self.contexts.append(context)

    def _declare(self, context: Context) -> None:
        """Types that the file states, then those that were given, own results later."""
        scope, types = context.scope, context.types
        graph = scope.proto
        if isinstance(graph, GraphProto):
            root = scope.parent is None
            # The body of a Loop or Scan may call a size that changes by the name of another.
            local = not root and bool(graph.input)
            for value in graph.input:
                types[value.name] = self.dimensions.type_of(
                    value.type, value.name, is_input=root, local=local
                )
            for value in (*graph.value_info, *graph.output) if self.stated else ():
                if value.name not in scope.forgotten:
                    found = self.dimensions.type_of(value.type, value.name, local=local, claim=root)
                    types.setdefault(value.name, found)
        for name, found in self.given.get(context.scope.id, {}).items():
            types[name] = merge(types.get(name, UNKNOWN), found)
        overridable = self.document.overridable if scope.parent is None else frozenset()
        for name, tensor in scope.initializers.items():
            if name not in overridable:
                types[name] = tensor_type(tensor)

    def _walk(self, context: Context) -> None:
        self.contexts.append(context)
        types = context.types
        for node in context.scope.ordered():
            results = self._results(context, node)
            if self._is_left_open(context, node, results):
                results = completed(results, inferred_results(context, node))
            for position, name in enumerate(node.outputs):
                if not name:
                    continue
                found = results[position] if position < len(results) else None
                known = types.get(name)
                if known is not None:
                    if not position:
                        _mark(context, node, known, found or UNKNOWN)
                    types[name] = joined(context, node, known, found or UNKNOWN)
                elif found is not None:
                    types[name] = found
            context.follow(node)

    def _is_left_open(self, context: Context, node: Node, results: Sequence[Type]) -> bool:
        """Whether onnx is asked about a node of which too little is known here."""
        if node.key in context.chains or context.scope.children.get(node.key):
            return False
        return are_open(results, len(node.outputs)) and not is_settled(context, node)

    def _results(self, context: Context, node: Node) -> Sequence[Type]:
        if self.document.function(node) is not None:
            return ()
        if value := held_constant(node):
            return (tensor_type(value),)
        op = operator(node.domain, node.op_type)
        if op is not None:
            return self._padded(context, node, op)
        children = context.scope.children
        inner = children.get(node.key, ())
        bodies = [self._body(context, node, attribute, body) for attribute, body in inner]
        if node.domain in PLAIN_DOMAINS or node.domain == MICROSOFT:
            rules = MICROSOFT_RULES if node.domain == MICROSOFT else PLAIN_RULES
            if node.inputs and (rule := rules.get(node.op_type)):
                inputs = [context.type_of(name) for name in node.inputs]
                return ruled(rule, inputs, NodeFacts(context, node))
        if node.op_type == "If" and len(bodies) == 2:
            taken = context.branch(node)
            return branch_types(bodies if taken is None else [taken])
        return ()

    def _body(self, context: Context, node: Node, attribute: str, scope: Scope) -> Context:
        body = Context(self.document, scope, self.folder, outer=context)
        context.bodies[node.key, attribute] = body
        self._declare(body)
        if node.op_type == "Loop":  # sizes of its state may be others in the next turn
            for name in scope.inputs[2:]:
                known = body.type_of(name)
                body.types[name] = Type(known.dtype, known.dims and (None,) * len(known.dims))
        self._walk(body)
        return body

    def _padded(self, context: Context, node: Node, op: Operator) -> Sequence[Type]:
        chain = self.chains.read(context, node, op)
        context.chains[node.key] = chain
        if op.kind is Kind.PAD:
            source = context.type_of(node.inputs[0]) if node.inputs else UNKNOWN
            if chain.pad is not None and chain.pad.unclear and source.dims is not None:
                return (Type(source.dtype, sizes_behind(context, node, source.dims)),)
            return (padded_type(chain.pad, source),)
        if op.kind is Kind.OTHER or not chain.axes:
            return ()
        made = window_type(chain)
        dtype = quantised_result(context, node, op) if op.quantised else ""
        return (made._replace(dtype=dtype or made.dtype),)


def _mark(context: Context, node: Node, declared: Type, found: Type) -> None:
    """Note at a padded operator that the file says another shape of what it writes."""
    chain = context.chains.get(node.key)
    if chain is not None and contradict(declared.dims, found.dims):
        marks = chain.around.marks | {Mark.DECLARED_OTHERWISE}
        context.chains[node.key] = replace(chain, around=replace(chain.around, marks=marks))
