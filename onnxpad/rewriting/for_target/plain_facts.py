"""Nodes at which a target stops for what they are, padded or not: the nine facts of its table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from onnxpad.geometry.size import Size
from onnxpad.model.graph.context import Context, is_stored
from onnxpad.model.graph.model_inputs import is_model_input
from onnxpad.model.graph.nodes import Node
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.operators import PLAIN_DOMAINS
from onnxpad.runtimes.conditions.plain_facts import (
    BRANCH,
    BYTES_GIVEN,
    CALLS,
    COMPUTED_BRANCH,
    COMPUTED_SIZES,
    DEQUANTISES,
    DISORDER,
    FACTS,
    OUTSIDE,
    QUANTISED_BYTES,
    UNSHAPED,
)
from onnxpad.runtimes.judge import Judgement, judge_plain
from onnxpad.runtimes.targets import Target

_NO_CELLS = 2
"""Tensors of this rank and less are the numbers of a shape, or what a Flatten makes."""
_QUANTISED = ("DequantizeLinear", "QLinear", "QuantizeLinear")
_TO_SIZES = ("ConstantOfShape", "Expand", "Reshape", "Resize", "Slice", "Upsample")


def plain_facts(
    survey: Survey, target: Target, names: Iterable[str] = FACTS
) -> Iterator[tuple[Context, Node, str, Judgement]]:
    """Nodes that the target fails, each with the name of the fact, which is one of `names`."""
    failing = _failing(survey, target, names)
    for context in survey.contexts if failing else ():
        undeclared = unshaped(context)
        for number, node in enumerate(context.scope.ordered()):
            found = list(_of_node(context, node, undeclared))
            if not number and _is_main(context) and context.document.has_data_outside:
                found += OUTSIDE
            for name in found:
                if (name, context.scope.opset) in failing:
                    yield context, node, name, failing[name, context.scope.opset]


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
    survey: Survey, target: Target, names: Iterable[str]
) -> Mapping[tuple[str, int], Judgement]:
    """What the target fails of `names`, in the opsets of the model."""
    rows = (row for part in target.parts or (target,) for row in part.rows)
    named = {name for row in rows for name in row.operators}
    found = {
        (name, opset): judge_plain(target, name, opset)
        for name in names
        if name in named
        for opset in {context.scope.opset for context in survey.contexts}
    }
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
