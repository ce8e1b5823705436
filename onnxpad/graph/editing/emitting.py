"""The edits that turn the node behind one chain into the node behind another."""

from __future__ import annotations

from collections.abc import Iterator

from onnxpad.chain import AutoPad, Chain, Pads, PadStep
from onnxpad.errors import InternalError
from onnxpad.fills import Constant, TensorValue
from onnxpad.graph.editing.edits import (
    AttributeValue,
    Edit,
    InsertNode,
    NewConstant,
    RemoveAttribute,
    RemoveUnused,
    SetAttribute,
    SetInput,
)
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.document import Document, Scope, address_of
from onnxpad.graph.reading.ordering import Address, Node

_PADS_ARE_INPUTS = 11
_INITIALIZERS_NEED_NO_INPUT = 4


class Names:
    """Hands out names that no tensor and no node of the model has."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._taken: set[str] | None = None

    def new(self, wanted: str) -> str:
        """`wanted`, with a number where it is taken."""
        if self._taken is None:
            self._taken = set(_all_names(self._document))
        name, number = wanted, 1
        while name in self._taken:
            name = f"{wanted}_{number}"
            number += 1
        self._taken.add(name)
        return name


def emit(context: Context, node: Node, before: Chain, after: Chain, names: Names) -> list[Edit]:
    """Edits that make `node`, read as `before`, compute `after`."""
    scope = context.scope
    place = address_of(scope, node)
    edits = list(_padding_edits(node, place, before, after))
    if before.ceil_mode and not after.ceil_mode:
        edits.append(RemoveAttribute(place, "ceil_mode"))
    if after.counts_padding and not before.counts_padding:
        edits.append(SetAttribute(place, "count_include_pad", 1))
    if before.counts_padding and not after.counts_padding:
        edits.append(RemoveAttribute(place, "count_include_pad"))
    if before.output_shape and not after.output_shape:
        edits.append(RemoveAttribute(place, "output_shape"))
    if after.output_padding != before.output_padding:
        edits.append(SetAttribute(place, "output_padding", after.output_padding))
    if after.pad is None and before.pad is not None:
        edits += _bypass(scope, node, place)
    elif after.pad is not None and after.pad.is_new:
        edits += _new_pad(context, node, place, after, after.pad, names)
    return edits


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
    stem = _stem(node)
    name = names.new(stem)
    output = names.new(f"{stem}_output")
    key = _next_key(scope)
    if chain.opset < _PADS_ARE_INPUTS:
        if not isinstance(step.fill, Constant):
            raise InternalError(f"{place.label}: Pad of opset {chain.opset} takes no tensor value")
        attributes: list[tuple[str, AttributeValue]] = [
            ("mode", "constant"),
            ("paddings" if chain.opset < 2 else "pads", step.pads.flat),
            ("value", float(step.fill.value)),
        ]
        data: tuple[str, ...] = (node.inputs[0],)
        edits: list[Edit] = []
    else:
        attributes = [("mode", "constant")]
        data, edits = _pad_inputs(context, node, place, chain, step, names)
    insert = InsertNode(place, key, "Pad", name, data, (output,), tuple(attributes))
    return [*edits, insert, SetInput(place, 0, output)]


def _pad_inputs(
    context: Context, node: Node, place: Address, chain: Chain, step: PadStep, names: Names
) -> tuple[tuple[str, ...], list[Edit]]:
    model = context.document.model
    as_node = context.scope.is_function or model.ir_version < _INITIALIZERS_NEED_NO_INPUT
    stem = _stem(node)
    pads = names.new(f"{stem}_pads")
    keys = (_next_key(context.scope), _next_key(context.scope))
    flat = step.pads.flat
    edits: list[Edit] = [NewConstant(place, pads, "int64", (len(flat),), flat, as_node, keys[0])]
    if isinstance(step.fill, TensorValue):
        return (node.inputs[0], pads, step.fill.tensor), edits
    if not isinstance(step.fill, Constant):
        raise InternalError(f"{place.label}: a Pad node cannot write {step.fill}")
    if step.fill.value == 0:
        return (node.inputs[0], pads), edits
    value = names.new(f"{stem}_value")
    edits.append(NewConstant(place, value, chain.dtype, (), (step.fill.value,), as_node, keys[1]))
    return (node.inputs[0], pads, value), edits


def _next_key(scope: Scope) -> int:
    scope.next_key += 1
    return scope.next_key - 1


def _stem(node: Node) -> str:
    return f"{node.name or next((out for out in node.outputs if out), node.op_type)}/pad"


def _all_names(document: Document) -> Iterator[str]:
    for scope in document.scopes.values():
        yield from scope.inputs
        yield from scope.outputs
        yield from scope.initializers
        for node in scope.ordered():
            yield node.name
            yield from node.outputs
