"""Nodes without padding as tables name them: what passes write, and the nine facts of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf
from typing import TYPE_CHECKING, Any

from onnxpad.model.editing.session import EditSession
from onnxpad.model.graph.broken import title_of
from onnxpad.model.graph.context import Context, is_stored
from onnxpad.model.graph.model_inputs import is_model_input, may_follow_window
from onnxpad.model.graph.nodes import Node, NodeId
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.operators import PLAIN_DOMAINS, Kind
from onnxpad.runtimes.conditions.plain_facts import (
    BLOCKS,
    BRANCH,
    BYTES_GIVEN,
    CALLS,
    COMPUTED_BRANCH,
    COMPUTED_SIZES,
    DEQUANTISES,
    DISORDER,
    FACTS,
    INPUT_CROP,
    LONE_CROP,
    LOOSE_PIECES,
    OPEN_BATCH_RANKS,
    OUTER_BLOCKS,
    OUTSIDE,
    PIECES,
    QUANTISED_BYTES,
    QUOTIENT,
    RANK,
    UNSHAPED,
)
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
    survey: Survey, target: Target, live: Live | None, names: Iterable[str] = FACTS
) -> Iterator[tuple[Context, Node, str, Judgement]]:
    """Nodes that the target fails, each with the name of the fact, which is one of `names`.

    A runtime is asked whether it runs local functions, where some are written out.
    """
    main, judged = survey.contexts[0], dict[tuple[str, int], Judgement]()
    parts = target.parts or (target,)
    named = {name for part in parts for row in part.rows for name in row.operators}.intersection
    for name in named(names):
        for opset in {context.scope.opset for context in survey.contexts}:
            judged[name, opset] = judge_plain(target, name, opset)
    (calls,), opset = CALLS, main.scope.opset
    written_out = () if survey.is_edited else survey.document.written_out
    if live and calls in names and written_out:
        judged[calls, opset] = live.calls(target, lambda part: judge_plain(part, calls, opset))
    failing = {key: found for key, found in judged.items() if found.answer.fails}
    for context in survey.contexts if failing else ():
        undeclared = unshaped(context)
        for number, node in enumerate(context.scope.ordered()):
            found = list(_of_node(context, node, undeclared))
            if not number and context is main and context.document.has_data_outside:
                found += OUTSIDE
            for name in found:
                if (name, context.scope.opset) in failing:
                    yield context, node, name, failing[name, context.scope.opset]
    for number, call in enumerate(written_out if (calls, opset) in failing else (), 1):
        yield main, Node(-number, call), calls, failing[calls, opset]


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
    if context.scope.stands_early(node):
        yield DISORDER[0]
    if not undeclared.isdisjoint((*node.inputs, *node.outputs)):
        yield UNSHAPED[0]
    if context.document.function(node) is not None:
        yield CALLS[0]
    elif node.domain in PLAIN_DOMAINS:
        yield from _of_operator(context, node)


def _of_operator(context: Context, node: Node) -> Iterator[str]:
    if node.op_type in BRANCH:
        yield BRANCH[0]
        if context.constant(node.inputs[0]) is None:
            yield COMPUTED_BRANCH[0]
    scope = context.scope
    results = () if scope.parent is not None or scope.is_function else scope.outputs
    given = any(name in results and context.type_of(name).dtype == "uint8" for name in node.outputs)
    if given:
        yield BYTES_GIVEN[0]
    if not node.inputs or not node.outputs:
        return
    data = node.inputs[0]
    taken = is_model_input(context, data) and context.type_of(data).dtype == "uint8"
    if node.op_type.startswith(_QUANTISED) and (given or taken):
        yield QUANTISED_BYTES[0]
    is_made = data in scope.producers and not is_stored(context, data)
    if node.op_type == "DequantizeLinear" and is_made:
        yield DEQUANTISES[0]
    if node.op_type in _TO_SIZES and _makes_open_sizes(context, node):
        yield COMPUTED_SIZES[0]


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
    """Of these nodes those that are still there and have no padding, as a target judges them.

    Each with its name and its operator.
    """
    ids = sorted(ids)
    padded = {site.address.id for site in session.sites_at(ids)} if ids else ()
    contexts = {context.scope.id: context for context in reversed(session.contexts)}
    for node_id in ids:
        scope = session.document.scopes[node_id[0]]
        if node_id in padded or node_id[1] in scope.removed:
            continue
        node = scope.node(node_id[1])
        name = name_of(contexts[scope.id], node)
        yield node_id, name, title_of(node), judge_plain(target, name, scope.opset)


def written_padding(survey: Survey) -> Iterator[tuple[Context, Node, str]]:
    """Concats that pad what an operator reads with a block of constants, as targets name them.

    So concat-pads writes padding, and so people do by hand.
    """
    blocks = (*BLOCKS, *OUTER_BLOCKS)
    for context in survey.contexts:
        found: dict[int, tuple[Context, Node, str]] = {}
        for node in reversed(list(context.scope.ordered())):
            if node.op_type != "Concat" or node.domain not in PLAIN_DOMAINS or not node.outputs:
                continue
            readers = context.readers(node.outputs[0])
            feeds = any(
                one.key in found or _reads_cells(context, one, node.outputs[0]) for one in readers
            )
            if feeds and (name := name_of(context, node)) in blocks:
                found[node.key] = (context, node, name)
        yield from reversed(found.values())


def _reads_cells(context: Context, node: Node, name: str) -> bool:
    """Whether a padded operator reads a tensor as cells, not as the numbers of its padding."""
    chain = context.chains.get(node.key)
    return chain is not None and (chain.op.kind is not Kind.PAD or node.inputs[0] == name)


def name_of(context: Context, node: Node) -> str:
    """The name under which targets speak of a node without padding: its operator, or more."""
    op = title_of(node)
    sizes = [context.type_of(name).dims for name in node.inputs]
    if op in RANK and sizes and sizes[0] and not isinstance(sizes[0][0], int):
        return OPEN_BATCH_RANKS[0]
    if op == "Div" and context.constant_tensor(node.inputs[1]) is None:
        data, divisor = (one or () for one in sizes)
        one_channel = len(data) >= _CELLS and divisor[1:2] == (1,) != data[1:2]
        return QUOTIENT[0] if one_channel else op
    if op == "Slice" and node.outputs and any(is_model_input(context, x) for x in node.inputs[:1]):
        joined = any(one.op_type in _JOINING for one in context.readers(node.outputs[0]))
        return op if joined else INPUT_CROP[0] if _has_windows(context) else LONE_CROP[0]
    return _name_of_concat(context, node) if op == "Concat" else op


def _name_of_concat(context: Context, node: Node) -> str:
    """By whether it joins a constant or what Expand makes, infinite or not, and on which axis."""
    makers = map(context.scope.producers.get, node.inputs)
    blocks = [one.inputs[0] for one in makers if one is not None and one.op_type == "Expand"]
    blocks += [name for name in node.inputs if context.constant_tensor(name) is not None]
    if not blocks:
        follows = any(may_follow_window(context, name) for name in node.inputs)
        return PIECES[0] if follows or _has_windows(context) else LOOSE_PIECES[0]
    kinds = OUTER_BLOCKS if context.attributes(node).get("axis") in (0, 1) else BLOCKS
    values = [context.constant(name) for name in blocks]
    cells = [one for one in values if one is not None and one.dtype.kind == "f"]
    return kinds[any((abs(one) == inf).any() for one in cells)]


def _has_windows(context: Context) -> bool:
    return any(chain.axes for chain in context.chains.values())
