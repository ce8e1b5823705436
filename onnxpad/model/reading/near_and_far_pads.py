"""What stands in front of a padded operator: Pads, near and far, and conversions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from onnxpad.model.graph.context import Context
from onnxpad.model.graph.flat_numbers import constant_integers
from onnxpad.model.graph.model_inputs import is_model_input
from onnxpad.model.graph.nodes import Node
from onnxpad.model.reading.crossing import (
    CONVERSIONS,
    LAYOUT,
    WITH_ITS_OWN_SCALE,
    Path,
    data_position,
    hands_on,
    path_to,
    value_behind,
)
from onnxpad.model.reading.lowest_cells import lowest_cell
from onnxpad.model.reading.nearest_pad import (
    is_copied_out,
    nearest_pad,
    others_reach_pools,
    row_of_pads,
)
from onnxpad.model.reading.pads import is_pad, read_pad
from onnxpad.model.reading.quantised import (
    dequantised,
    dequantised_input,
    is_in_blocks,
    quantised,
)
from onnxpad.padding.chain import NOTHING, Around, Mark, Pads, PadStep, Unclear
from onnxpad.padding.fills import Constant, Fill, Implicit, TensorValue
from onnxpad.padding.operators import Kind, Operator


class _Carried(NamedTuple):
    """Pads and value on the way; the value broadcasts with the tensor, or is a tensor's name."""

    pads: Pads
    value: np.ndarray | str

    def is_even(self, dims: Sequence[object] | None) -> bool:
        """Whether what broadcasts with the tensor is the same all along the padded axes."""
        rank = len(self.pads.begins)
        if dims is None or len(dims) > rank:
            return False
        sizes = (1,) * (rank - len(dims)) + tuple(dims)
        pairs = zip(sizes, self.pads.sides, strict=True)
        return all(size == 1 or not any(sides) for size, sides in pairs)


def seen_behind(context: Context, step: PadStep, path: Path) -> PadStep:
    """A Pad as the operator behind `path` sees it."""
    names = tuple(f"{node.op_type} '{node.name or node.outputs[0]}'" for node in path.nodes)
    step = replace(step, crossed=names)
    carried = _start(context, step, path)
    why = None if carried else Unclear(f"the Pad writes {step.fill}, whose type is not known")
    for node, name in zip(path.nodes, names, strict=True):
        if carried is None:
            break
        carried = _behind(context, node, carried)
        why = Unclear(f"what {name} makes of the Pad is not known") if carried is None else None
    if carried is None or step.unclear:
        return replace(step, unclear=step.unclear or why)
    return replace(step, pads=carried.pads, fill=_fill(carried.value))


def _start(context: Context, step: PadStep, path: Path) -> _Carried | None:
    if isinstance(step.fill, TensorValue):
        return _Carried(step.pads, step.fill.tensor)
    if not isinstance(step.fill, Constant):
        return None
    dtype = context.type_of(path.source).dtype
    known = dtype in ("float16", "float32", "float64", "bool") or "int" in dtype
    if not known and step.fill.value != 0:
        return None
    if "int" in dtype and not float(step.fill.value).is_integer():
        return None
    ones = (1,) * len(step.pads.begins)
    return _Carried(step.pads, np.full(ones, step.fill.value, dtype if known else "float32"))


def _fill(value: np.ndarray | str) -> Fill:
    if isinstance(value, str):
        return TensorValue(value)
    first = value.reshape(-1)[0]
    return Constant(first.item()) if (value == first).all() else Implicit.PER_CHANNEL


def _behind(context: Context, node: Node, carried: _Carried) -> _Carried | None:
    if node.op_type in CONVERSIONS:
        return _converted(context, node, carried)
    if node.op_type == WITH_ITS_OWN_SCALE:
        return _scaled(node, carried)
    value = carried.value
    if node.op_type in LAYOUT:
        pads = moved_pads(context, node, carried.pads)
        moved = value if isinstance(value, str) else value_behind(context, node, value)
        return None if pads is None or moved is None else _Carried(pads, moved)
    if isinstance(value, str):
        return carried if hands_on(context, node) else None
    position = data_position(context, node)
    others = (name for index, name in enumerate(node.inputs) if name and index != position)
    if not all(carried.is_even(context.type_of(name).dims) for name in others):
        return None
    found = value_behind(context, node, value)
    return None if found is None else carried._replace(value=found)


def moved_pads(context: Context, node: Node, pads: Pads) -> Pads | None:
    """Pads behind a Transpose, Unsqueeze or Squeeze, where no padded axis goes."""
    attributes, rank = context.attributes(node), len(pads.begins)
    if node.op_type == "Transpose":
        order = attributes.get("perm", tuple(reversed(range(rank))))
        if not isinstance(order, tuple) or sorted(order) != list(range(rank)):
            return None
        return Pads.of([pads.sides[int(axis)] for axis in order])
    given = attributes.get("axes")
    axes = constant_integers(context, node.inputs[1]) if len(node.inputs) > 1 else given
    if not isinstance(axes, tuple) or not axes:
        return None
    grows = node.op_type == "Unsqueeze"
    whole = rank + len(axes) * grows
    named = {int(axis) % whole for axis in axes if -whole <= axis < whole}
    if len(named) < len(axes):
        return None
    if grows:
        sides = iter(pads.sides)
        return Pads.of([(0, 0) if axis in named else next(sides) for axis in range(whole)])
    if any(any(pads.sides[axis]) for axis in named):
        return None
    return Pads.of([pads.sides[axis] for axis in range(rank) if axis not in named])


def _converted(context: Context, node: Node, carried: _Carried) -> _Carried | None:
    attributes, rank = context.attributes(node), len(carried.pads.begins)
    if is_in_blocks(attributes):
        return None
    convert = quantised if node.op_type == "QuantizeLinear" else dequantised
    value = convert(context, node, attributes, carried.value, rank)
    if value is None or not (isinstance(value, str) or carried.is_even(value.shape)):
        return None
    return carried._replace(value=value)


def _scaled(node: Node, carried: _Carried) -> _Carried | None:
    """0 becomes the zero point; the range that sets both holds 0 with the Pad and without it."""
    if isinstance(carried.value, str) or carried.value.any() or not all(node.outputs[2:3]):
        return None
    return carried._replace(value=node.outputs[2]) if len(node.outputs) > 2 else None


class Front(NamedTuple):
    """See the fields of Chain with these names."""

    pad: PadStep | None = None
    far_pad: PadStep | None = None
    around: Around = NOTHING


def front_of(context: Context, node: Node, op: Operator, rank: int, first_axis: int) -> Front:
    """What stands in front of an operator with `rank` spatial axes from `first_axis` on."""
    if not node.inputs or not node.inputs[0] or op.kind is Kind.OTHER:
        return Front()
    name, whole = node.inputs[0], rank + 2
    around = _of_input(context, node, op, slice(first_axis, first_axis + rank))
    if name not in context.document.behind_pads:
        return Front(around=around)
    pad, far = pad_in_front(context, node, whole), None
    path, to_pools = [(name, node)], False
    if pad is None:
        between = path_to(context, name)
        far = _seen_far(context, between, whole)
        path += [(one.inputs[data_position(context, one)], one) for one in reversed(between.nodes)]
    elif not pad.unclear:
        row = row_of_pads(context, name, whole)
        if row is not None and row.names:
            far, to_pools = replace(row.whole, crossed=row.names), row.to_pools
    if pad is not None or far is not None:
        to_pools |= others_reach_pools(context, path)
    nearest = replace(nearest_pad(context, node, whole), to_pools=to_pools)
    return Front(pad, far, replace(around, nearest=nearest))


def _of_input(context: Context, node: Node, op: Operator, spatial: slice) -> Around:
    """What computes the operator's input, Pads aside."""
    name, rank = node.inputs[0], spatial.stop - spatial.start + 2
    return _around(
        at_least=lowest_cell(context, name) if op.kind is Kind.MAX else None,
        dequantised=None if op.quantised else dequantised_input(context, node, spatial, rank),
        marks=marks_of(context, name, op),
    )


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
    if any(is_copied_out(context, one) for one in read):
        found.add(Mark.COPIED_OUT)
    return frozenset(found)


@lru_cache(maxsize=256, typed=True)
def _around(**facts: Any) -> Around:  # noqa: ANN401 - as Around takes them
    """Much the same of most operators."""
    return Around(**facts)


def pad_in_front(context: Context, node: Node, rank: int) -> PadStep | None:
    """The Pad that makes the operator's input, which has `rank` axes in all."""
    maker, reason = _pad_behind(context, node.inputs[0])
    if reason:
        return _out_of_reach(reason, rank)
    if maker is None:
        return None
    return read_pad(context, maker, rank)


def _seen_far(context: Context, path: Path, rank: int) -> PadStep | None:
    """The Pad behind the operators of the path, as the operator sees it."""
    maker, reason = _pad_behind(context, path.source)
    if reason:
        return _out_of_reach(reason, rank)
    if maker is None:
        return None
    dims = context.type_of(maker.inputs[0]).dims
    step = read_pad(context, maker, None if dims is None else len(dims))
    seen = seen_behind(context, step, path)
    return None if len(seen.pads.begins) != rank and not seen.unclear else seen


def _pad_behind(context: Context, name: str) -> tuple[Node | None, str]:
    """The Pad that makes a tensor; or why it is out of reach."""
    scope = context.scope
    maker = scope.producers.get(name)
    if maker is not None:
        return (maker if is_pad(maker) else None), ""
    owner = scope.owner(name)
    maker = owner.producers.get(name) if owner is not None else None
    if maker is None or not is_pad(maker):
        return None, ""
    return None, f"the Pad '{maker.name or name}' stands in an enclosing graph"


def _out_of_reach(reason: str, rank: int) -> PadStep:
    """A Pad that cannot be worked on because of `reason`."""
    return PadStep(Pads.zero(rank), Constant(0), unclear=Unclear(reason))
