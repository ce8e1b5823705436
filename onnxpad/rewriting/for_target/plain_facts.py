"""Nodes without padding as tables name them: what passes write, and the nine facts of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from onnxpad.geometry.size import Size
from onnxpad.model.editing.session import EditSession
from onnxpad.model.graph.broken import title_of
from onnxpad.model.graph.context import Context, is_stored
from onnxpad.model.graph.model_inputs import is_model_input, may_follow_window
from onnxpad.model.graph.nodes import Node, NodeId
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.operators import PLAIN_DOMAINS, Kind
from onnxpad.rewriting.for_target.judge import Judge
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

_NO_CELLS = 2
"""Tensors of this rank and less are the numbers of a shape, or what a Flatten makes."""
_QUANTISED = ("DequantizeLinear", "QLinear", "QuantizeLinear")
_CELLS = 3
"""The least rank of a tensor with channels."""
_JOINING = ("Concat", "Clip", "AveragePool")
"""What a Slice of passes that write pieces is read by."""
_TO_SIZES = ("ConstantOfShape", "Expand", "Reshape", "Resize", "Slice", "Upsample")


def plain_facts(
    survey: Survey, judge: Judge, names: Iterable[str] = FACTS
) -> Iterator[tuple[Context, Node, str, Judgement]]:
    """Nodes that the target fails, each with the name of the fact, which is one of `names`.

    A live judge asks a runtime whether it runs local functions, where some are written out.
    """
    failing = _failing(survey, judge, names)
    for context in survey.contexts if failing else ():
        undeclared = unshaped(context)
        for number, node in enumerate(context.scope.ordered()):
            found = list(_of_node(context, node, undeclared))
            if not number and _is_main(context) and context.document.has_data_outside:
                found += OUTSIDE
            for name in found:
                if (name, context.scope.opset) in failing:
                    yield context, node, name, failing[name, context.scope.opset]
    main = survey.contexts[0]
    if not survey.is_edited and (judgement := failing.get((CALLS[0], main.scope.opset))):
        for number, call in enumerate(survey.document.written_out, 1):
            yield main, Node(-number, call), CALLS[0], judgement


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


def _failing(
    survey: Survey, judge: Judge, names: Iterable[str]
) -> Mapping[tuple[str, int], Judgement]:
    """What the target fails of `names`, in the opsets of the model."""
    target = judge.target
    rows = (row for part in target.parts or (target,) for row in part.rows)
    named = {name for row in rows for name in row.operators}
    found = {
        (name, opset): judge_plain(target, name, opset)
        for name in names
        if name in named
        for opset in {context.scope.opset for context in survey.contexts}
    }
    if judge.live and CALLS[0] in names and survey.document.written_out and not survey.is_edited:
        opset = survey.contexts[0].scope.opset
        found[CALLS[0], opset] = judge.live.calls(
            target, lambda part: judge_plain(part, CALLS[0], opset)
        )
    return {key: judgement for key, judgement in found.items() if judgement.answer.fails}


def _is_main(context: Context) -> bool:
    return context.scope.parent is None and not context.scope.is_function


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
    results = context.scope.outputs if _is_main(context) else ()
    given = any(name in results and context.type_of(name).dtype == "uint8" for name in node.outputs)
    if given:
        yield BYTES_GIVEN[0]
    if not node.inputs or not node.outputs:
        return
    data = node.inputs[0]
    if node.op_type.startswith(_QUANTISED) and (given or _is_byte_input(context, data)):
        yield QUANTISED_BYTES[0]
    is_made = data in context.scope.producers and not is_stored(context, data)
    if node.op_type == "DequantizeLinear" and is_made:
        yield DEQUANTISES[0]
    if node.op_type in _TO_SIZES and _makes_open_sizes(context, node):
        yield COMPUTED_SIZES[0]


def _is_byte_input(context: Context, name: str) -> bool:
    return is_model_input(context, name) and context.type_of(name).dtype == "uint8"


def _makes_open_sizes(context: Context, node: Node) -> bool:
    """Whether it makes cells of open sizes that are not those of its input, where it computes."""
    read, made = (context.type_of(name).dims for name in (node.inputs[0], node.outputs[0]))
    if made is None or not _is_open(made):
        return False
    if node.op_type in ("Expand", "Reshape") and read is not None and read[1:] == made[1:]:
        return False
    if node.op_type == "Reshape":
        return True
    sizes = node.inputs if node.op_type == "ConstantOfShape" else node.inputs[1:]
    return any(name and context.constant(name) is None for name in sizes)


def _is_open(shape: Sequence[Size | None] | None) -> bool:
    """Whether a size of cells is open, other than that of the batch."""
    return (
        shape is not None
        and len(shape) > _NO_CELLS
        and any(not isinstance(size, int) for size in shape[1:])
    )


def judged_plain(
    session: EditSession, ids: Iterable[NodeId], target: Target
) -> Iterator[tuple[NodeId, str, str, Judgement]]:
    """Of these nodes those that are still there and have no padding, as a target judges them.

    Each with the name under which targets speak of it, and with its operator.
    """
    ids = sorted(ids)
    padded = {site.address.id for site in session.sites_at(ids)}
    contexts = {context.scope.id: context for context in reversed(session.contexts)}
    for node_id in ids:
        scope = session.document.scopes[node_id[0]]
        if node_id in padded or node_id[1] in scope.removed:
            continue
        node, op = scope.node(node_id[1]), title_of(scope.node(node_id[1]))
        name = name_of(contexts[scope.id], node, op)
        yield node_id, name, op, judge_plain(target, name, scope.opset)


def written_padding(survey: Survey) -> Iterator[tuple[Context, Node, str]]:
    """Concats that pad what an operator reads with a block of constants, as targets name them.

    So concat-pads writes padding, and so people do by hand.
    """
    blocks = (*BLOCKS, *OUTER_BLOCKS)
    for context in survey.contexts:
        found: dict[int, tuple[Context, Node, str]] = {}
        for node in reversed(list(context.scope.ordered())):
            if node.op_type == "Concat" and node.domain in PLAIN_DOMAINS and any(node.outputs[:1]):
                readers = context.readers(node.outputs[0])
                feeds = any(
                    one.key in found or _reads_cells(context, one, node.outputs[0])
                    for one in readers
                )
                if feeds and (name := name_of(context, node, "Concat")) in blocks:
                    found[node.key] = (context, node, name)
        yield from reversed(found.values())


def _reads_cells(context: Context, node: Node, name: str) -> bool:
    """Whether a padded operator reads a tensor as cells, not as the numbers of its padding."""
    chain = context.chains.get(node.key)
    if chain is None:
        return False
    return chain.op.kind is not Kind.PAD or node.inputs[0] == name


def name_of(context: Context, node: Node, op: str) -> str:
    """The name under which targets speak of a node without padding.

    Of Slice, whether it reads an input of the model, and not for a Concat, and whether there is a
    convolution or a pool; of Concat, whether it
    joins a constant or what Expand makes, whether that is infinite, and on which axis; of Squeeze
    and Unsqueeze, whether the batch is open; of Div, whether one channel divides several.
    """
    if op == "Slice" and node.outputs and any(is_model_input(context, x) for x in node.inputs[:1]):
        joined = any(one.op_type in _JOINING for one in context.readers(node.outputs[0]))
        among = any(chain.axes for chain in context.chains.values())
        return op if joined else INPUT_CROP[0] if among else LONE_CROP[0]
    if op in RANK and _reads_open_batch(context, node):
        return OPEN_BATCH_RANKS[0]
    if op == "Div" and _divides_by_one_channel(context, node):
        return QUOTIENT[0]
    if op != "Concat":
        return op
    makers = map(context.scope.producers.get, node.inputs)
    expands = [one for one in makers if one is not None and one.op_type == "Expand"]
    made = [name for one in expands for name in one.inputs[:1]]
    stored = [name for name in node.inputs if context.constant_tensor(name) is not None]
    if not made and not stored:
        follows = any(may_follow_window(context, name) for name in node.inputs)
        among = follows or _feeds_windows(context, node)
        return PIECES[0] if among else LOOSE_PIECES[0]
    kinds = OUTER_BLOCKS if context.attributes(node).get("axis") in (0, 1) else BLOCKS
    return kinds[any(_is_infinite(context, name) for name in (*made, *stored))]


def _reads_open_batch(context: Context, node: Node) -> bool:
    """Whether the first axis of what a node reads has no number, where the axes are known."""
    sizes = context.type_of(node.inputs[0]).dims if node.inputs else None
    return sizes is not None and not isinstance(next(iter(sizes), 0), int)


def _divides_by_one_channel(context: Context, node: Node) -> bool:
    """Whether several channels are divided by one that the model computes."""
    data, divisor = (context.type_of(name).dims or () for name in node.inputs)
    if context.constant_tensor(node.inputs[1]) is not None or len(data) < _CELLS:
        return False
    return divisor[1:2] == (1,) != data[1:2]


def _feeds_windows(context: Context, node: Node, far: int = 8) -> bool:
    """Whether a convolution or a pool reads what a Concat joins, perhaps behind other pieces."""
    for one in context.readers(node.outputs[0]) if far and node.outputs else ():
        chain = context.chains.get(one.key)
        if chain is not None and chain.axes:
            return True
        if one.op_type in ("Concat", "Slice") and _feeds_windows(context, one, far - 1):
            return True
    return False


def _is_infinite(context: Context, name: str) -> bool:
    """Whether a cell of a constant is infinite; of large ones, which passes do not write, no."""
    value = context.constant(name)
    return value is not None and value.dtype.kind == "f" and bool((abs(value) == inf).any())
