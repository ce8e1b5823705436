"""What stands in front of a padded operator: Pads, near and far, and conversions."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from onnxpad.chain import Dequantised, PadStep
from onnxpad.graph.reading.bounds import lower_bound
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.conversions import dequantised_input
from onnxpad.graph.reading.crossing import Path, path_to
from onnxpad.graph.reading.distant_pads import seen_behind
from onnxpad.graph.reading.fusing import out_of_reach, pad_behind, with_neighbours
from onnxpad.graph.reading.optimised import made_by, vanishes
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.pads import is_pad, read_pad
from onnxpad.ops import Kind, Operator

_FAR = 8


class Front(NamedTuple):
    """See the fields of Chain with these names."""

    pad: PadStep | None = None
    far_pad: PadStep | None = None
    at_least: float | None = None
    dequantised: Dequantised | None = None
    behind_quantised: bool = False
    producer: str = ""


def front_of(context: Context, node: Node, op: Operator, rank: int, first_axis: int) -> Front:
    """What stands in front of an operator with `rank` spatial axes from `first_axis` on."""
    if not node.inputs or not node.inputs[0] or op.kind is Kind.OTHER:
        return Front()
    quantised = op.kind is Kind.MAX and _follows_quantised(context, node.inputs[0])
    found = Front(pad_in_front(context, node, rank + 2), behind_quantised=quantised)
    if found.pad is None:
        found = found._replace(far_pad=_far_pad(context, node, rank + 2))
    elif not found.pad.unclear:
        found = found._replace(far_pad=_pads_together(context, node, rank + 2))
    if op.kind is Kind.AVERAGE:
        found = found._replace(producer=context.document.model.producer_name)
    if op.kind is Kind.MAX:
        found = found._replace(at_least=lower_bound(context, node.inputs[0]))
    if not op.quantised:
        spatial = slice(first_axis, first_axis + rank)
        found = found._replace(dequantised=dequantised_input(context, node, spatial, rank + 2))
    return found


def _follows_quantised(context: Context, name: str) -> bool:
    """Whether a tensor comes from QuantizeLinear or QLinear..., maybe through other operators."""
    for _ in range(_FAR):
        maker = context.scope.producers.get(name)
        if maker is None or not maker.inputs:
            return False
        if maker.op_type.startswith(("QLinear", "Quantize")):
            return True
        name = maker.inputs[0]
    return False


def pad_in_front(context: Context, node: Node, rank: int) -> PadStep | None:
    """The Pad that makes the operator's input, which has `rank` axes in all."""
    maker, reason = pad_behind(context, node.inputs[0])
    if reason:
        return out_of_reach(context, node.inputs[0], reason, rank)
    if maker is None:
        return None
    return with_neighbours(context, read_pad(context, maker, rank), maker, [node])


def _far_pad(context: Context, node: Node, rank: int) -> PadStep | None:
    path = path_to(context, node.inputs[0])
    if context.call is not None and path.source in context.scope.inputs:
        return _behind_more(context, path, rank, "outside the function", "the call")
    maker, reason = pad_behind(context, path.source)
    if reason:
        idle = all(vanishes(context, one) for one in path.nodes)
        return replace(out_of_reach(context, path.source, reason, rank), is_idle=idle)
    if maker is None:
        last = context.scope.producers.get(path.source)
        name = f"{last.op_type} '{last.name or path.source}'" if last else ""
        return _behind_more(context, path, rank, f"in front of {name}", name) if last else None
    dims = context.type_of(maker.inputs[0]).dims
    step = read_pad(context, maker, None if dims is None else len(dims))
    step = with_neighbours(context, step, maker, [*path.nodes, node])
    seen = seen_behind(context, step, path)
    if len(seen.pads.begins) != rank and not seen.unclear:
        return None
    # What is no Pad(0) for the optimiser behind operators that compute is none for the pool.
    return seen if seen.is_idle else replace(seen, follows_zero=False)


def _behind_more(
    context: Context, path: Path, rank: int, place: str, crossed: str
) -> PadStep | None:
    """A Pad behind what cannot be crossed, but does not keep onnxruntime from fusing it."""
    found = made_by(context, path.source)
    if found is None or not is_pad(found[1]):
        return None
    step = read_pad(*found, rank)
    name = found[1].name or found[1].outputs[0]
    return replace(
        step,
        unclear=f"the Pad '{name}' stands {place}",
        still_fused=step.still_fused or not step.unclear,
        crossed=(crossed,),
        is_idle=all(vanishes(context, one) for one in path.nodes),
    )


def pads_in_a_row(context: Context, node: Node, rank: int) -> tuple[list[Node], PadStep | None]:
    """The Pads in front of a node that add up, the nearest first, and what they do together."""
    maker, _ = pad_behind(context, node.inputs[0])
    found, whole = [], None
    while maker is not None:
        step = read_pad(context, maker, rank)
        together = step if whole is None else _sum(step, whole)
        if together is None or step.unclear or step.mode != "constant":
            break
        found.append(maker)
        whole = together
        maker, _ = pad_behind(context, maker.inputs[0])
    return found, whole


def _pads_together(context: Context, node: Node, rank: int) -> PadStep | None:
    makers, whole = pads_in_a_row(context, node, rank)
    if whole is None or len(makers) < 2:
        return None
    steps = [
        with_neighbours(context, read_pad(context, maker, rank), maker, [*makers, node])
        for maker in makers
    ]
    return replace(
        whole,
        follows_zero=steps[-1].follows_zero,
        feeds_max_pool=any(step.feeds_max_pool for step in steps),
        feeds_wide_pool=any(step.feeds_wide_pool for step in steps),
        feeds_weight=any(step.feeds_weight for step in steps),
        crossed=tuple(f"Pad '{maker.name or maker.outputs[0]}'" for maker in makers[:-1]),
    )


def _sum(first: PadStep, second: PadStep) -> PadStep | None:
    """Two Pads as one; None where they differ, or the second adds to what the first cropped."""
    sides = list(zip(first.pads.flat, second.pads.flat, strict=True))
    if any(one < 0 < other for one, other in sides):
        return None
    adds = [any(pad > 0 for pad in step.pads.flat) for step in (first, second)]
    if all(adds) and first.fill != second.fill:
        return None
    return replace(second if adds[1] else first, pads=first.pads + second.pads)
