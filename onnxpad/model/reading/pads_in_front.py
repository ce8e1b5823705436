"""What stands in front of a padded operator: the Pad that it reads, and what else.

`front_of` finds the Pad that an operator could do the work of: the one that it reads, or one whose
value crosses other operators (`crossing`). `nearest_pad` is coarser, and
about onnxruntime's Pad fusion alone: it goes through all that its optimiser may take away.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import takewhile

from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.reading.crossing import Path, data_position, path_to, seen_behind
from onnxpad.model.reading.never_negative import never_negative
from onnxpad.model.reading.pads import is_pad, read_pad
from onnxpad.model.reading.quantised import dequantised_input
from onnxpad.padding.chain import (
    ELSEWHERE,
    FURTHER,
    NOTHING,
    Around,
    Mark,
    Pads,
    PadStep,
    Unclear,
)
from onnxpad.padding.fills import Constant
from onnxpad.padding.operators import PLAIN_DOMAINS, Kind, Operator

_POOLS = frozenset({"MaxPool", "AveragePool"})
_MAY_VANISH = frozenset(
    {"Identity", "Dropout", "Cast", "Transpose", "Expand", "Slice", "Mul", "Div", "Add", "Sub"}
)
"""Operators that onnxruntime's optimiser removes or moves where they change nothing."""
_HAND_ON, _MANY = _MAY_VANISH | {"Pad"}, 64


def front_of(
    context: Context, node: Node, op: Operator, rank: int
) -> tuple[PadStep | None, Around]:
    """The Pad in front of an operator with `rank` spatial axes, and its surroundings."""
    if not node.inputs or not node.inputs[0] or op.kind is Kind.OTHER:
        return None, NOTHING
    name, whole = node.inputs[0], rank + 2
    spatial = slice(2, whole)
    pad = _pad_behind(context, name, whole)
    path = Path((), name) if pad else path_to(context, name)
    far = None if pad else _seen_far(context, path, whole)
    marks = marks_of(context, name, op)
    row = [*path.nodes, node]
    read = [one.inputs[data_position(context, one)] for one in path.nodes] + [name]
    if (pad or far) and any(map(partial(pools_read, context), read, row)):
        marks |= {Mark.POOLS_READ_PAD}
    nearest, is_shared = nearest_pad(context, name, whole)
    if nearest is not None and is_shared:
        marks |= {Mark.SHARES_PAD}
    around = Around(
        nearest,
        never_negative=op.kind is Kind.MAX and never_negative(context, name),
        dequantised=None if op.quantised else dequantised_input(context, node, spatial, whole),
        far_pad=far,
        marks=marks,
    )
    return pad, NOTHING if around == NOTHING else around


def marks_of(context: Context, name: str, op: Operator) -> frozenset[Mark]:
    """What else holds of an operator that reads this tensor."""
    document, maker = context.document, context.scope.producers.get(name)
    found = set[Mark]()
    if op.kind is Kind.AVERAGE and document.model.producer_name == "pytorch":
        found.add(Mark.FROM_PYTORCH)
    if op.kind is Kind.PAD and context.is_model_input(name):
        found.add(Mark.READS_INPUT)
    if op.kind in (Kind.MAX, Kind.AVERAGE, Kind.PAD):
        makers = (one.op_type for one in context.makers(name))
        if any(one.startswith(("QLinear", "Quantize")) for one in makers):
            found.add(Mark.BEHIND_QUANTISED)
    read = (name, maker.inputs[0]) if maker is not None and is_pad(maker) else (name,)
    if any(_is_copied_out(context, one) for one in read):
        found.add(Mark.COPIED_OUT)
    return frozenset(found)


def _is_copied_out(context: Context, name: str) -> bool:
    """Whether a node's output has two readers, one of them an Identity that makes a result."""
    scope = context.scope
    if scope.uses.get(name, 0) != 2 or name not in scope.producers or name in scope.outputs:
        return False
    copies = (one for one in context.readers(name) if one.op_type == "Identity")
    return any(one.outputs[0] in scope.outputs for one in copies)


def _pad_behind(context: Context, name: str, rank: int | None) -> PadStep | None:
    """The Pad that makes a tensor of `rank` axes; unclear in an enclosing graph."""
    owner = context.scope.owner(name)
    maker = owner.producers.get(name) if owner is not None else None
    if maker is None or not is_pad(maker):
        return None
    if owner is context.scope:
        return read_pad(context, maker, rank)
    why = Unclear(f"the Pad '{maker.name or name}' stands in an enclosing graph")
    return PadStep(Pads.zero(rank or 0), Constant(0), unclear=why)


def _seen_far(context: Context, path: Path, rank: int) -> PadStep | None:
    """The Pad behind the operators of the path, as the operator sees it."""
    maker = context.scope.producers.get(path.source)
    dims = context.type_of(maker.inputs[0]).dims if maker is not None and is_pad(maker) else None
    step = _pad_behind(context, path.source, None if dims is None else len(dims))
    if step is None or maker is None:
        return None if step is None else replace(step, pads=Pads.zero(rank))
    seen = seen_behind(context, step, path)
    return None if len(seen.pads.begins) != rank and not seen.unclear else seen


def nearest_pad(context: Context, name: str, rank: int) -> tuple[PadStep | None, bool]:
    """The Pad that onnxruntime's optimiser may see in front of a tensor of `rank` axes.

    And whether something else reads it or what stands between.

    Its axes are in the order of the tensor, `crossed` are operators between the two. It is unclear
    where it stands in another graph, or where a further Pad stands in front of it.
    """
    producers = context.scope.producers
    source, way = _past_vanishing(context, name)
    step, maker = _pad_behind(context, source, rank or None), producers.get(source)
    if step is None or maker is None:
        return None if step is None else replace(step, unclear=ELSEWHERE), False
    further = producers.get(_past_vanishing(context, maker.inputs[0])[0])
    if further is not None and is_pad(further) and not step.unclear:
        adds = read_pad(context, further, None).mode == "constant"
        step = replace(step, unclear=FURTHER) if adds else step
    order = tuple(range(rank))
    for node in way:
        if node.op_type == "Transpose":
            perm = context.attributes(node).get("perm", tuple(reversed(range(rank))))
            fits = isinstance(perm, tuple) and sorted(perm) == sorted(order)
            order = tuple(int(perm[axis]) for axis in order) if fits else ()  # type: ignore[index]
    read = (name, *(one.inputs[data_position(context, one)] for one in way))
    is_shared = any(context.scope.uses.get(one, 0) > 1 for one in read)
    crossed = tuple(node.op_type for node in way)
    return replace(_reordered(step, order), crossed=crossed), is_shared


def _past_vanishing(context: Context, name: str) -> tuple[str, list[Node]]:
    """The tensor in front of operators that may vanish, and these, the nearest first."""
    makers = context.makers(name, data_position)
    way = list(takewhile(partial(_may_vanish, context), makers))
    return way[-1].inputs[data_position(context, way[-1])] if way else name, way


def _reordered(step: PadStep, order: tuple[int, ...]) -> PadStep:
    """A Pad with its axes as the operator counts them."""
    if len(step.pads.begins) != len(order):
        return replace(step, unclear=step.unclear or FURTHER)
    return replace(step, pads=Pads.of([step.pads.sides[axis] for axis in order]))


def _may_vanish(context: Context, node: Node) -> bool:
    """Whether onnxruntime's default optimiser may see what is behind a node in front of it."""
    if node.op_type not in _MAY_VANISH or node.domain not in PLAIN_DOMAINS:
        return False
    if node.op_type in ("Expand", "Slice"):
        made = context.type_of(node.outputs[0]).dims if node.outputs else None
        return made is None or made == context.type_of(node.inputs[0]).dims
    if len(node.inputs) == len(("data", "number")) and node.op_type not in ("Dropout", "Cast"):
        return context.constant_tensor(node.inputs[1 - data_position(context, node)]) is not None
    return bool(node.inputs)


def pools_read(context: Context, name: str, but: Node | None = None) -> bool:
    """Whether a pool may read a tensor, or a Conv take it for its weight, a reader left out.

    It may do so behind others, in another graph, and among many readers.
    """
    scope, waiting = context.scope, [name]
    for read in waiting:  # which grows
        readers = context.readers(read)
        here = sum(one.inputs.count(read) for one in readers) + (read in scope.outputs)
        if scope.uses.get(read, 0) > here and not _POOLS.isdisjoint(_kinds_in_bodies(context)):
            return True
        if len(readers) > _MANY or len(waiting) > _MANY:
            return True
        if any(read in one.inputs[1:2] for one in readers if one.op_type == "Conv"):
            return True
        others = [one for one in readers if one is not but]
        if any(one.op_type in _POOLS for one in others):
            return True
        waiting += [one.outputs[0] for one in others if one.op_type in _HAND_ON and one.outputs]
    return False


def _kinds_in_bodies(context: Context) -> Iterator[str]:
    inner = (scope for scope in context.document.scopes.values() if scope.parent)
    return (node.op_type for scope in inner for node in scope.ordered())
