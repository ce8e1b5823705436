"""What stands in front of a padded operator: Pads, near and far, and conversions."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from onnxpad.model.graph.attributes import Value
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.flat_numbers import constant_integers
from onnxpad.model.graph.nodes import Node
from onnxpad.model.reading.crossing import (
    BINARY,
    Path,
    data_position,
    facts_of,
    hands_on,
    is_inference,
    made_of,
    path_to,
)
from onnxpad.model.reading.lowest_cells import lowest_cell
from onnxpad.model.reading.nearest_pad import nearest_pad, others_reach_pools, row_of_pads
from onnxpad.model.reading.pads import is_pad, read_pad
from onnxpad.model.reading.quantised import (
    dequantised,
    dequantised_input,
    is_in_blocks,
    quantised,
)
from onnxpad.model.reading.readers_of_pad import feeds_quantiser
from onnxpad.padding.chain import NOTHING, Around, Pads, PadStep, Unclear
from onnxpad.padding.fills import Constant, Fill, Implicit, TensorValue
from onnxpad.padding.operators import Destination, Kind, Operator


class _Carried(NamedTuple):
    """Pads and value on the way; the value broadcasts with the tensor, or is a tensor's name."""

    begins: tuple[int, ...]
    ends: tuple[int, ...]
    value: np.ndarray | str

    @property
    def padded(self) -> list[int]:
        sides = zip(self.begins, self.ends, strict=True)
        return [axis for axis, pair in enumerate(sides) if any(pair)]


def seen_behind(context: Context, step: PadStep, path: Path) -> PadStep:
    """A Pad as the operator behind `path` sees it."""
    carried = _start(context, step, path)
    names = tuple(f"{node.op_type} '{node.name or node.outputs[0]}'" for node in path.nodes)
    why = None if carried else Unclear(f"the Pad writes {step.fill}, whose type is not known")
    for node, name in zip(path.nodes, names, strict=True):
        if not isinstance(carried, _Carried):
            break
        carried = _behind(context, node, carried)
        why = Unclear(f"what {name} makes of the Pad is not known") if carried is None else None
    step = replace(step, crossed=names)
    if carried is None or step.unclear:
        return replace(step, unclear=step.unclear or why)
    return replace(step, pads=Pads(carried.begins, carried.ends), fill=_fill(carried.value))


def _start(context: Context, step: PadStep, path: Path) -> _Carried | None:
    if isinstance(step.fill, TensorValue):
        return _Carried(step.pads.begins, step.pads.ends, step.fill.tensor)
    if not isinstance(step.fill, Constant):
        return None
    dtype = context.type_of(path.source).dtype
    known = dtype in ("float16", "float32", "float64", "bool") or "int" in dtype
    if not known and step.fill.value != 0:
        return None
    if "int" in dtype and not float(step.fill.value).is_integer():
        return None
    value = np.full((1,) * len(step.pads.begins), step.fill.value, dtype if known else "float32")
    return _Carried(step.pads.begins, step.pads.ends, value)


def _fill(value: np.ndarray | str) -> Fill:
    if isinstance(value, str):
        return TensorValue(value)
    first = value.reshape(-1)[0]
    return Constant(first.item()) if (value == first).all() else Implicit.PER_CHANNEL


def _behind(context: Context, node: Node, carried: _Carried) -> _Carried | None:
    attributes = context.attributes(node)
    match node.op_type:
        case "Transpose":
            return _transposed(attributes, carried)
        case "Unsqueeze" | "Squeeze":
            return _reranked(context, node, attributes, carried)
        case "QuantizeLinear" | "DequantizeLinear":
            return _converted(context, node, attributes, carried)
        case "DynamicQuantizeLinear":
            return _scaled(node, carried)
        case _:
            return _computed(context, node, carried)


def _transposed(attributes: dict[str, Value], carried: _Carried) -> _Carried | None:
    rank = len(carried.begins)
    perm = attributes.get("perm", tuple(reversed(range(rank))))
    if not isinstance(perm, tuple) or sorted(perm) != list(range(rank)):
        return None
    order = [int(axis) for axis in perm]
    value = carried.value if isinstance(carried.value, str) else carried.value.transpose(order)
    begins, ends = (tuple(side[axis] for axis in order) for side in (carried.begins, carried.ends))
    return _Carried(begins, ends, value)


def _reranked(
    context: Context, node: Node, attributes: dict[str, Value], carried: _Carried
) -> _Carried | None:
    listed = attributes.get("axes")
    axes = constant_integers(context, node.inputs[1]) if len(node.inputs) > 1 else listed
    if not isinstance(axes, tuple) or not axes:
        return None
    grows = node.op_type == "Unsqueeze"
    rank = len(carried.begins) + (len(axes) if grows else 0)
    ordered = sorted({int(axis) + rank if axis < 0 else int(axis) for axis in axes})
    if len(ordered) < len(axes) or not 0 <= ordered[0] <= ordered[-1] < rank:
        return None
    if not grows and set(ordered) & set(carried.padded):
        return None
    sides = []
    for side in (carried.begins, carried.ends):
        cells = list(side)
        for axis in ordered if grows else reversed(ordered):
            cells[axis : axis + (not grows)] = [0] if grows else []
        sides.append(tuple(cells))
    value = carried.value
    if not isinstance(value, str):
        value = np.expand_dims(value, ordered) if grows else value.squeeze(tuple(ordered))
    return _Carried(sides[0], sides[1], value)


def _converted(
    context: Context, node: Node, attributes: dict[str, Value], carried: _Carried
) -> _Carried | None:
    rank = len(carried.begins)
    if is_in_blocks(attributes):
        return None
    convert = quantised if node.op_type == "QuantizeLinear" else dequantised
    value = convert(context, node, attributes, carried.value, rank)
    if value is None or not (isinstance(value, str) or _is_even(value.shape, carried)):
        return None
    return carried._replace(value=value)


def _scaled(node: Node, carried: _Carried) -> _Carried | None:
    """0 becomes the zero point; the range that sets both holds 0 with the Pad and without it."""
    if isinstance(carried.value, str) or carried.value.any() or not all(node.outputs[2:3]):
        return None
    return carried._replace(value=node.outputs[2]) if len(node.outputs) > 2 else None


def _computed(context: Context, node: Node, carried: _Carried) -> _Carried | None:
    facts, value = facts_of(context, node), carried.value
    if node.op_type == "Dropout" and not is_inference(facts):
        return None
    if isinstance(value, str):
        return carried if hands_on(context, node) else None
    position = data_position(context, node)
    for index, name in enumerate(node.inputs):
        if name and index != position and not _is_even(context.type_of(name).dims, carried):
            return None
    if node.op_type in BINARY:
        if facts.others[0] is None or (node.op_type == "Div" and value.dtype.kind != "f"):
            return None
        facts.others.insert(position, None)
    made = made_of(node.op_type, value, facts)
    return None if made is None else carried._replace(value=made)


def _is_even(dims: tuple[object, ...] | None, carried: _Carried) -> bool:
    """Whether what broadcasts with the tensor is the same all along the padded axes."""
    if dims is None or len(dims) > len(carried.begins):
        return False
    sizes = (1,) * (len(carried.begins) - len(dims)) + dims
    return all(sizes[axis] == 1 for axis in carried.padded)


class Front(NamedTuple):
    """See the fields of Chain with these names."""

    pad: PadStep | None = None
    far_pad: PadStep | None = None
    around: Around = NOTHING


def front_of(context: Context, node: Node, op: Operator, rank: int, first_axis: int) -> Front:
    """What stands in front of an operator with `rank` spatial axes from `first_axis` on."""
    if not node.inputs or not node.inputs[0] or op.kind is Kind.OTHER:
        return Front()
    facts = _of_input(context, node, op, slice(first_axis, first_axis + rank))
    whole = rank + 2
    nearest = nearest_pad(context, node, whole)
    if node.inputs[0] not in context.document.behind_pads:
        return Front(around=_around(nearest=nearest, **facts))
    pad, far = pad_in_front(context, node, whole), None
    path, to_pools = [(node.inputs[0], node)], False
    if pad is None:
        between = path_to(context, node.inputs[0])
        far = _seen_far(context, between, whole)
        path += [(one.inputs[data_position(context, one)], one) for one in reversed(between.nodes)]
    elif not pad.unclear:
        row = row_of_pads(context, node.inputs[0], whole)
        if row is not None and row.names:
            far, to_pools = replace(row.whole, crossed=row.names), row.to_pools
    if pad is not None or far is not None:
        to_pools |= others_reach_pools(context, path)
    return Front(pad, far, Around(replace(nearest, to_pools=to_pools), **facts))


@lru_cache(maxsize=256, typed=True)
def _around(**facts: Any) -> Around:  # noqa: ANN401 - as Around takes them
    """What is known without a Pad in front: much the same of most operators."""
    return Around(**facts)


def _of_input(context: Context, node: Node, op: Operator, spatial: slice) -> dict[str, Any]:
    """What computes the operator's input, as fields of Around."""
    facts: dict[str, Any] = {}
    if op.kind is Kind.AVERAGE:
        facts["producer"] = context.document.model.producer_name
    if op.kind is Kind.MAX:
        facts["at_least"] = lowest_cell(context, node.inputs[0])
    if not context.document.quantises:
        return facts
    if op.kind in (Kind.MAX, Kind.AVERAGE):
        facts["behind_quantised"] = follows_quantised(context, node.inputs[0])
    if op.kind is Kind.CONVOLUTION and feeds_quantiser(context, node):
        facts["feeds_alone"] = Destination.QUANTISER
    if not op.quantised:
        rank = spatial.stop - spatial.start + 2
        facts["dequantised"] = dequantised_input(context, node, spatial, rank)
    return facts


def follows_quantised(context: Context, name: str) -> bool:
    """Whether a tensor comes from QuantizeLinear or QLinear..., maybe through other operators."""
    return any(one.op_type.startswith(("QLinear", "Quantize")) for one in context.makers(name))


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
