"""Nodes without padding as tables name them: what passes write, and the nine facts of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf
from typing import TYPE_CHECKING, Any

from onnxpad.model.editing.session import EditSession
from onnxpad.model.graph.broken import title_of
from onnxpad.model.graph.context import Context, is_stored
from onnxpad.model.graph.nodes import Node, NodeId
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.operators import PLAIN_DOMAINS, Kind
from onnxpad.runtimes.conditions import plain_facts as names
from onnxpad.runtimes.judge import Judgement, judge_plain
from onnxpad.runtimes.targets import Target

if TYPE_CHECKING:
    from onnxpad.probing.live import Live

_QUANTISED = ("DequantizeLinear", "QLinear", "QuantizeLinear")
_CELLS = 3
"""The least rank of a tensor with channels."""
_JOINING = ("Concat", "Clip", "AveragePool")
"""What a Slice of passes that write pieces is read by."""
_TO_SIZES = ("ConstantOfShape", "Expand", "Reshape", "Resize", "Slice", "Upsample")


def plain_facts(
    survey: Survey, target: Target, live: Live | None, about: Iterable[str] = names.FACTS
) -> Iterator[tuple[Context, Node, str, Judgement]]:
    """Nodes that the target fails, each with the name of the fact, which is one of `about`.

    A runtime is asked whether it runs local functions, where some are written out.
    """
    main, (calls,) = survey.contexts[0], names.CALLS
    rows = (row for part in target.parts or (target,) for row in part.rows)
    judged = {
        (name, opset): judge_plain(target, name, opset)
        for name in {name for row in rows for name in row.operators}.intersection(about)
        for opset in {context.scope.opset for context in survey.contexts}
    }
    written_out = () if survey.is_edited else survey.document.written_out
    called = (calls, main.scope.opset)
    if live and calls in about and written_out:
        judged[called] = live.calls(target, lambda part: judge_plain(part, *called))
    failing = {key: one for key, one in judged.items() if one.answer.fails}
    for context in survey.contexts if failing else ():
        undeclared = unshaped(context)
        for number, node in enumerate(context.scope.ordered()):
            facts = list(_of_node(context, node, undeclared))
            if not number and context is main and context.document.has_data_outside:
                facts += names.OUTSIDE
            for name in facts:
                if (name, context.scope.opset) in failing:
                    yield context, node, name, failing[name, context.scope.opset]
    for number, call in enumerate(written_out if called in failing else (), 1):
        yield main, Node(-number, call), calls, failing[called]


def unshaped(context: Context) -> frozenset[str]:
    """Inputs and results of a graph that are declared as tensors without a shape, or as nothing."""
    if context.scope.is_function:
        return frozenset()  # it declares names alone
    graph: Any = context.scope.proto
    return frozenset(
        value.name
        for value in (*graph.input, *graph.output)
        if (kind := value.type.WhichOneof("value")) is None
        or (kind == "tensor_type" and not value.type.tensor_type.HasField("shape"))
    )


def _of_node(context: Context, node: Node, undeclared: frozenset[str]) -> Iterator[str]:
    """The facts that a node is an example of."""
    if context.scope.stands_early(node):
        yield names.DISORDER[0]
    if not undeclared.isdisjoint((*node.inputs, *node.outputs)):
        yield names.UNSHAPED[0]
    if context.document.function(node) is not None:
        yield names.CALLS[0]
    elif node.domain in PLAIN_DOMAINS:
        yield from _of_operator(context, node)


def _of_operator(context: Context, node: Node) -> Iterator[str]:
    scope, op = context.scope, node.op_type
    if op in names.BRANCH:
        yield op
        if context.constant(node.inputs[0]) is None:
            yield names.COMPUTED_BRANCH[0]
    results = () if scope.parent is not None or scope.is_function else scope.outputs
    given = any(name in results and _is_bytes(context, name) for name in node.outputs)
    if given:
        yield names.BYTES_GIVEN[0]
    if node.inputs and node.outputs:
        data = node.inputs[0]
        taken = context.is_model_input(data) and _is_bytes(context, data)
        if op.startswith(_QUANTISED) and (given or taken):
            yield names.QUANTISED_BYTES[0]
        is_made = data in scope.producers and not is_stored(context, data)
        if op == "DequantizeLinear" and is_made:
            yield names.DEQUANTISES[0]
        if op in _TO_SIZES and _makes_open_sizes(context, node):
            yield names.COMPUTED_SIZES[0]


def _is_bytes(context: Context, name: str) -> bool:
    return context.type_of(name).dtype == "uint8"


def _makes_open_sizes(context: Context, node: Node) -> bool:
    """Whether it makes cells of open sizes that are not those of its input, where it computes."""
    read, made = (context.type_of(name).dims for name in (node.inputs[0], node.outputs[0]))
    if made is None or len(made) < _CELLS or all(isinstance(size, int) for size in made[1:]):
        return False
    if node.op_type in ("Expand", "Reshape") and read is not None and read[1:] == made[1:]:
        return False
    sizes = node.inputs if node.op_type == "ConstantOfShape" else node.inputs[1:]
    computed = any(name and context.constant(name) is None for name in sizes)
    return computed or node.op_type == "Reshape"


def judged_plain(
    session: EditSession, ids: Iterable[NodeId], target: Target
) -> Iterator[tuple[NodeId, str, str, Judgement]]:
    """A target's judgements of those nodes that still exist and have no padding.

    Yields (id, name, operator, judgement), in the order of ids.
    """
    ids = sorted(ids)
    padded = {site.address.id for site in session.sites_at(ids)} if ids else ()
    contexts = {context.scope.id: context for context in reversed(session.contexts)}
    for scope_id, key in ids:
        scope = session.document.scopes[scope_id]
        if (scope_id, key) not in padded and key not in scope.removed:
            node = scope.node(key)
            name = name_of(contexts[scope_id], node)
            yield (scope_id, key), name, title_of(node), judge_plain(target, name, scope.opset)


def written_padding(survey: Survey) -> Iterator[tuple[Context, Node, str]]:
    """Concats that pad what an operator reads with a block of constants, as targets name them.

    So concat-pads writes padding, and so people do by hand.
    """
    for context in survey.contexts:
        blocks: dict[int, tuple[Context, Node, str]] = {}
        for node in reversed(list(context.scope.ordered())):
            if node.op_type == "Concat" and node.domain in PLAIN_DOMAINS and node.outputs:
                joined = node.outputs[0]
                readers = context.readers(joined)
                feeds = any(r.key in blocks or _reads_cells(context, r, joined) for r in readers)
                if feeds and (name := name_of(context, node)) in names.BLOCKS + names.OUTER_BLOCKS:
                    blocks[node.key] = (context, node, name)
        yield from reversed(blocks.values())


def _reads_cells(context: Context, node: Node, name: str) -> bool:
    """Whether a padded operator reads a tensor as cells, not as the numbers of its padding."""
    chain = context.chains.get(node.key)
    return chain is not None and (chain.op.kind is not Kind.PAD or node.inputs[0] == name)


def name_of(context: Context, node: Node) -> str:
    """The name under which targets speak of a node without padding: its operator, or more."""
    op = title_of(node)
    sizes = [context.type_of(name).dims for name in node.inputs]
    if op in names.RANK and sizes and sizes[0] and not isinstance(sizes[0][0], int):
        return names.OPEN_BATCH_RANKS[0]
    if op == "Div" and context.constant_tensor(node.inputs[1]) is None:
        data, divisor = (one or () for one in sizes)
        one_channel = len(data) >= _CELLS and divisor[1:2] == (1,) != data[1:2]
        return names.QUOTIENT[0] if one_channel else op
    if op == "Slice" and node.outputs and any(context.is_model_input(x) for x in node.inputs[:1]):
        joined = any(one.op_type in _JOINING for one in context.readers(node.outputs[0]))
        return op if joined else (names.INPUT_CROP if context.has_windows else names.LONE_CROP)[0]
    if op != "Concat":
        return op
    # By whether it joins a constant or what Expand makes, infinite or not, and on which axis.
    makers = map(context.scope.producers.get, node.inputs)
    blocks = [one.inputs[0] for one in makers if one is not None and one.op_type == "Expand"]
    blocks += [name for name in node.inputs if context.constant_tensor(name) is not None]
    if not blocks:
        return (names.PIECES if context.has_windows else names.LOOSE_PIECES)[0]
    is_outer = context.attributes(node).get("axis") in (0, 1)
    values = [context.constant(name) for name in blocks]
    cells = [one for one in values if one is not None and one.dtype.kind == "f"]
    is_infinite = any((abs(one) == inf).any() for one in cells)
    return (names.OUTER_BLOCKS if is_outer else names.BLOCKS)[is_infinite]
