"""The edits that turn the node behind one chain into the node behind another."""

from __future__ import annotations

from collections.abc import Iterator

from onnxpad.chain import AutoPad, Chain, Pads, PadStep
from onnxpad.errors import InternalError
from onnxpad.expansion import AttributeValue, Expansion
from onnxpad.fills import Constant, TensorValue
from onnxpad.graph.editing.edits import (
    Edit,
    InsertNode,
    NewConstant,
    RemoveAttribute,
    RemoveUnused,
    SetAttribute,
    SetInput,
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
    scope = context.scope
    place = address_of(scope, node)
    edits = [*_padding_edits(node, place, before, after), *_number_edits(place, before, after)]
    if after.pad is None and before.pad is not None:
        edits += _bypass(scope, node, place)
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


def _bypass(scope: Scope, node: Node, place: Address) -> list[Edit]:
    pad = scope.producers[node.inputs[0]]
    return [SetInput(place, 0, pad.inputs[0]), RemoveUnused(address_of(scope, pad))]


def _new_pad(
    context: Context, node: Node, place: Address, chain: Chain, step: PadStep, names: Names
) -> list[Edit]:
    scope = context.scope
    new = f"{stem(node)}/pad"
    name = names.new(new)
    output = names.new(f"{new}_output")
    key = next_key(scope)
    replaced = scope.producers[node.inputs[0]] if step.replaces else None
    source = replaced.inputs[0] if replaced is not None else node.inputs[0]
    if chain.opset < _PADS_ARE_INPUTS:
        if not isinstance(step.fill, Constant):
            raise InternalError(f"{place.label}: Pad of opset {chain.opset} takes no tensor value")
        attributes: list[tuple[str, AttributeValue]] = [
            ("mode", step.mode),
            ("paddings" if chain.opset < 2 else "pads", step.pads.flat),
            ("value", float(step.fill.value)),
        ]
        data: tuple[str, ...] = (source,)
        edits: list[Edit] = []
    else:
        attributes = [("mode", step.mode)]
        data, edits = _pad_inputs(context, node, place, chain, step, names)
        data = (source, *data[1:])
    insert = InsertNode(place, key, "Pad", name, data, (output,), tuple(attributes))
    edits += [insert, SetInput(place, 0, output)]
    if replaced is not None:
        edits.append(RemoveUnused(address_of(scope, replaced)))
    return edits


def _pad_inputs(
    context: Context, node: Node, place: Address, chain: Chain, step: PadStep, names: Names
) -> tuple[tuple[str, ...], list[Edit]]:
    as_node = as_nodes(context)
    new = f"{stem(node)}/pad"
    pads = names.new(f"{new}_pads")
    keys = (next_key(context.scope), next_key(context.scope))
    flat = step.pads.flat
    edits: list[Edit] = [NewConstant(place, pads, "int64", (len(flat),), flat, as_node, keys[0])]
    if isinstance(step.fill, TensorValue):
        return (node.inputs[0], pads, step.fill.tensor), edits
    if not isinstance(step.fill, Constant):
        raise InternalError(f"{place.label}: a Pad node cannot write {step.fill}")
    if step.fill.value == 0:
        return (node.inputs[0], pads), edits
    value = names.new(f"{new}_value")
    edits.append(NewConstant(place, value, chain.dtype, (), (step.fill.value,), as_node, keys[1]))
    return (node.inputs[0], pads, value), edits
