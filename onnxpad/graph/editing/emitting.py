"""The edits that turn the node behind one chain into the node behind another."""

from __future__ import annotations

from collections.abc import Iterator

from onnxpad.chain import AutoPad, Chain, Dequantised, Pads, PadStep
from onnxpad.errors import InternalError
from onnxpad.expansion import AttributeValue, Expansion
from onnxpad.fills import Constant, TensorValue
from onnxpad.graph.editing.bypassing import bypass, route
from onnxpad.graph.editing.edits import (
    Edit,
    InsertNode,
    NewConstant,
    RemoveAttribute,
    RemoveUnused,
    SetAttribute,
)
from onnxpad.graph.editing.expanding import expand
from onnxpad.graph.editing.naming import Names, as_nodes, next_key, stem
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.ordering import Address, Node
from onnxpad.graph.reading.scopes import Scope, address_of

_PADS_ARE_INPUTS = 11


def emit(
    context: Context, node: Node, before: Chain, after: Chain | Expansion, names: Names
) -> list[Edit]:
    """Edits that make `node`, read as `before`, compute `after`."""
    if isinstance(after, Expansion):
        return expand(context, node, after, names)
    place = address_of(context.scope, node)
    edits = [*_padding_edits(node, place, before, after), *_number_edits(place, before, after)]
    if before.far_pad is not None and after.far_pad is None:
        edits += bypass(context, node, before, names, far=True)
    elif before.pad is not None and after.pad is None:
        edits += bypass(context, node, before, names, far=False)
    elif after.pad is not None and after.pad.is_new:
        edits += _new_pad(context, node, place, after, after.pad, names)
    return edits


def _number_edits(place: Address, before: Chain, after: Chain) -> Iterator[Edit]:
    """Attributes of an operator that say how its padding counts."""
    for name, was, now in (
        ("ceil_mode", before.ceil_mode, after.ceil_mode),
        ("count_include_pad", before.counts_padding, after.counts_padding),
    ):
        if now and not was:
            yield SetAttribute(place, name, 1)
        if was and not now:
            yield RemoveAttribute(place, name)
    if before.output_shape and not after.output_shape:
        yield RemoveAttribute(place, "output_shape")
    if after.output_padding and after.output_padding != before.output_padding:
        yield SetAttribute(place, "output_padding", after.output_padding)
    if before.output_padding and not after.output_padding:
        yield RemoveAttribute(place, "output_padding")


def _padding_edits(node: Node, place: Address, before: Chain, after: Chain) -> Iterator[Edit]:
    match after.padding:
        case Pads() as pads:
            settled = before.ambiguous and not after.ambiguous
            if isinstance(before.padding, AutoPad) or settled:
                yield RemoveAttribute(place, "auto_pad")
            if pads != before.padding:
                yield SetAttribute(place, "pads", pads.flat)
        case AutoPad() as mode:
            if mode != before.padding:
                if any(attribute.name == "pads" for attribute in node.proto.attribute):
                    yield RemoveAttribute(place, "pads")
                yield SetAttribute(place, "auto_pad", str(mode))
        case other:
            if other != before.padding:
                raise InternalError(f"{place.label}: a pass made the padding unclear")


def _new_pad(
    context: Context, node: Node, place: Address, chain: Chain, step: PadStep, names: Names
) -> list[Edit]:
    """A Pad in front of the node, or in front of the conversions that stand there."""
    replaced = context.scope.producers[node.inputs[0]] if step.replaces else None
    dequantised = None if replaced is not None else chain.dequantised
    way = _conversions(context.scope, node, dequantised)
    anchor, led = route(context, way, node, names)
    data = (replaced or [*way, node][0]).inputs[0]
    dtype = dequantised.steps[0].dtype if dequantised else chain.dtype
    new = f"{stem(node)}/pad"
    name = names.new(new)
    output = names.new(f"{new}_output")
    key = next_key(context.scope)
    if chain.opset < _PADS_ARE_INPUTS:
        if not isinstance(step.fill, Constant):
            raise InternalError(f"{place.label}: Pad of opset {chain.opset} takes no tensor value")
        attributes: list[tuple[str, AttributeValue]] = [
            ("mode", step.mode),
            ("paddings" if chain.opset < 2 else "pads", step.pads.flat),
            ("value", float(step.fill.value)),
        ]
        more: tuple[str, ...] = ()
        edits: list[Edit] = []
    else:
        attributes = [("mode", step.mode)]
        more, edits = _pad_inputs(context, node, anchor, step, dtype, names)
    insert = InsertNode(anchor, key, "Pad", name, (data, *more), (output,), tuple(attributes))
    gone = [RemoveUnused(address_of(context.scope, replaced))] if replaced is not None else []
    return [*edits, insert, *led(output), *gone]


def _conversions(scope: Scope, node: Node, place: Dequantised | None) -> list[Node]:
    found: list[Node] = []
    for _ in place.steps if place else ():
        found.insert(0, scope.producers[(found[0] if found else node).inputs[0]])
    return found


def _pad_inputs(
    context: Context, node: Node, anchor: Address, step: PadStep, dtype: str, names: Names
) -> tuple[tuple[str, ...], list[Edit]]:
    as_node = as_nodes(context)
    new = f"{stem(node)}/pad"
    pads = names.new(f"{new}_pads")
    keys = (next_key(context.scope), next_key(context.scope))
    flat = step.pads.flat
    edits: list[Edit] = [NewConstant(anchor, pads, "int64", (len(flat),), flat, as_node, keys[0])]
    if isinstance(step.fill, TensorValue):
        return (pads, step.fill.tensor), edits
    if not isinstance(step.fill, Constant):
        raise InternalError(f"{anchor.label}: a Pad node cannot write {step.fill}")
    if step.fill.value == 0:
        return (pads,), edits
    value = names.new(f"{new}_value")
    edits.append(NewConstant(anchor, value, dtype, (), (step.fill.value,), as_node, keys[1]))
    return (pads, value), edits
