"""What stands in front of a padded operator: the Pad that it reads, Pads in a row, and what else.

`front_of` finds the Pads that an operator could do the work of: the one that it reads, with others
in a row, or one whose value crosses other operators (`crossing`). `nearest_pad` is coarser, and
about onnxruntime's Pad fusion alone: it goes through all that its optimiser may take away.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import NamedTuple

from onnxpad.model.graph.context import Context
from onnxpad.model.graph.model_inputs import is_model_input
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
    RowOfPads,
    Unclear,
)
from onnxpad.padding.fills import Constant
from onnxpad.padding.operators import PLAIN_DOMAINS, Kind, Operator

_NAMED, _FAR = 8, 8
POOLS = frozenset({"MaxPool", "AveragePool"})
_MAY_VANISH = frozenset(
    {"Identity", "Dropout", "Cast", "Transpose", "Expand", "Slice", "Mul", "Div", "Add", "Sub"}
)
"""Operators that onnxruntime's optimiser removes or moves where they change nothing."""
_MOVING = _MAY_VANISH | {"Pad"}


class Front(NamedTuple):
    """See the fields of Chain with these names."""

    pad: PadStep | None = None
    far_pad: PadStep | None = None
    around: Around = NOTHING


def front_of(context: Context, node: Node, op: Operator, rank: int) -> Front:
    """What stands in front of an operator with `rank` spatial axes."""
    if not node.inputs or not node.inputs[0] or op.kind is Kind.OTHER:
        return Front()
    name, whole = node.inputs[0], rank + 2
    spatial = slice(2, whole)
    pad, far, way = _pad_behind(context, name, whole), None, [(name, node)]
    pooled = False
    if pad is None:
        path = path_to(context, name)
        far = _seen_far(context, path, whole)
        way += [(one.inputs[data_position(context, one)], one) for one in reversed(path.nodes)]
    elif not pad.unclear:
        row = row_of_pads(context, name, whole)
        if row and row.whole.crossed:
            far, pooled = row.whole, row.to_pools
    marks = marks_of(context, name, op)
    pooled |= any(_others_lead_to_pools(context, *step) for step in way)
    if pooled and (pad or far):
        marks |= {Mark.POOLS_READ_PAD}
    nearest = nearest_pad(context, name, whole)
    if nearest.pad is not None and nearest.is_shared:
        marks |= {Mark.SHARES_PAD}
    around = Around(
        nearest.pad,
        never_negative=op.kind is Kind.MAX and never_negative(context, name),
        dequantised=None if op.quantised else dequantised_input(context, node, spatial, whole),
        marks=marks,
    )
    return Front(pad, far, NOTHING if around == NOTHING else around)


def marks_of(context: Context, name: str, op: Operator) -> frozenset[Mark]:
    """What else holds of an operator that reads this tensor."""
    document, maker = context.document, context.scope.producers.get(name)
    found = set[Mark]()
    if op.kind is Kind.AVERAGE and document.model.producer_name == "pytorch":
        found.add(Mark.FROM_PYTORCH)
    if op.kind is Kind.PAD and is_model_input(context, name):
        found.add(Mark.READS_INPUT)
    if document.quantises and op.kind in (Kind.MAX, Kind.AVERAGE, Kind.PAD):
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


def row_of_pads(context: Context, name: str, rank: int) -> RowOfPads | None:
    """The Pads in front of a tensor of `rank` axes that add up; None without any that can be read.

    Each row is read once, and told of the Pads behind it.
    """
    waiting: list[Node] = []
    producers = context.scope.producers
    maker = producers.get(name)
    while maker is not None and is_pad(maker) and maker.outputs[0] not in context.rows:
        waiting.append(maker)
        maker = producers.get(maker.inputs[0])
    for one in reversed(waiting):
        context.rows[one.outputs[0]] = _row(context, one, rank)
    return context.rows.get(name)


def _row(context: Context, maker: Node, rank: int) -> RowOfPads | None:
    """The row that ends with a Pad, from that of the Pad in front of it."""
    step, source = read_pad(context, maker, rank), maker.inputs[0]
    if step.unclear or step.mode != "constant":
        return None
    front = context.rows.get(source)
    together = None if front is None else _sum(front.whole, step)
    if front is None or together is None:
        return RowOfPads(step, source)
    names = (f"Pad '{maker.name or maker.outputs[0]}'", *front.whole.crossed)[:_NAMED]
    pooled = front.to_pools or _others_lead_to_pools(context, source, maker)
    return RowOfPads(replace(together, crossed=names), front.source, pooled)


def _sum(first: PadStep, second: PadStep) -> PadStep | None:
    """Two Pads as one; None where they differ, or the second adds to what the first cropped."""
    sides = list(zip(first.pads.flat, second.pads.flat, strict=True))
    if any(one < 0 < other for one, other in sides):
        return None
    adds = [any(pad > 0 for pad in step.pads.flat) for step in (first, second)]
    if all(adds) and first.fill != second.fill:
        return None
    return replace(second if adds[1] else first, pads=first.pads + second.pads, crossed=())


class Nearest(NamedTuple):
    """The nearest Pad, and whether something else reads it or what stands between."""

    pad: PadStep | None = None
    is_shared: bool = False


def nearest_pad(context: Context, name: str, rank: int) -> Nearest:
    """The Pad that onnxruntime's optimiser may see in front of a tensor of `rank` axes.

    Its axes are in the order of the tensor, `crossed` are operators between the two. It is unclear
    where it stands in another graph, or where a further Pad stands in front of it.
    """
    producers = context.scope.producers
    source, way = _past_vanishing(context, name)
    step, maker = _pad_behind(context, source, rank or None), producers.get(source)
    if step is None or maker is None:
        return Nearest(None if step is None else replace(step, unclear=ELSEWHERE))
    row, front = row_of_pads(context, source, rank), maker.inputs[0]
    if row is not None and _pads_windows_alone(row.whole.pads):
        step, front = row.whole, row.source
    further = producers.get(_past_vanishing(context, front)[0])
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
    return Nearest(replace(_reordered(step, order), crossed=crossed), is_shared)


def _past_vanishing(context: Context, name: str) -> tuple[str, list[Node]]:
    """The tensor in front of operators that may vanish, and these, the nearest first."""
    makers = context.makers(name, data_position)
    way = list(takewhile(partial(_may_vanish, context), makers))
    return way[-1].inputs[data_position(context, way[-1])] if way else name, way


def _pads_windows_alone(pads: Pads) -> bool:
    """Whether it adds cells to spatial axes, and does nothing else."""
    return min(pads.flat, default=0) >= 0 and not any(pads.begins[:2] + pads.ends[:2])


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


def _others_lead_to_pools(context: Context, name: str, reader: Node) -> bool:
    """Whether others than a reader of a tensor may hand it on to a pool."""
    if context.scope.uses.get(name, 0) <= 1:
        return False
    own = reader.op_type != "Conv" and _leads_to_pool(context, reader, name)
    return _count_to_pools(context, name) > own


def leads_to_pool(context: Context, name: str) -> bool:
    """Whether a pool may read a tensor, or a Conv take it for its weight."""
    return _count_to_pools(context, name) > 0


def _count_to_pools(context: Context, name: str, far: int = _FAR) -> int:
    """How many readers hand a tensor on to a pool; what is far, or in another graph, may do so."""
    if name not in context.to_pools:
        readers = context.readers(name)
        here = sum(one.inputs.count(name) for one in readers)
        elsewhere = context.scope.uses.get(name, 0) - here - (name in context.scope.outputs)
        context.to_pools[name] = (elsewhere > 0 and context.document.pools) + sum(
            _leads_to_pool(context, one, name, far) for one in readers
        )
    return context.to_pools[name]


def _leads_to_pool(context: Context, node: Node, name: str, far: int = _FAR) -> bool:
    if node.op_type == "Conv":
        return name in node.inputs[1:2]
    if node.op_type in POOLS or node.op_type not in _MOVING:
        return node.op_type in POOLS
    return not far or any(_count_to_pools(context, one, far - 1) for one in node.outputs[:1])
