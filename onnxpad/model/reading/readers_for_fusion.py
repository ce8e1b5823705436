"""What reads a Pad in the eyes of onnxruntime's optimiser: its Pad fusion may act on that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from onnx import FunctionProto

from onnxpad.geometry.budgets import IN_A_ROW
from onnxpad.model.graph.attributes import bindings_of
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.scopes import Scope
from onnxpad.model.reading.crossing import data_position
from onnxpad.model.reading.optimised import vanishes
from onnxpad.model.reading.pads import is_pad, read_pad
from onnxpad.padding.fills import Constant
from onnxpad.padding.operators import PLAIN_DOMAINS


class _Tensor(NamedTuple):
    """A tensor that holds what the Pad writes."""

    context: Context
    name: str


def readers_behind(context: Context, name: str) -> Iterator[tuple[Context, Node]]:
    """What reads a tensor, behind operators that hand it on and further Pads that write 0.

    In bodies and functions as well, and behind the calls of a function whose result it is, or the
    If whose branch gives it, where its condition is known.
    """
    pending = [_Tensor(context, name)]
    for tensor in pending:
        if tensor.name in tensor.context.in_a_row and len(pending) < IN_A_ROW:
            pending.append(_Tensor(tensor.context, tensor.context.in_a_row[tensor.name]))
            continue
        if isinstance(tensor.context.scope.proto, FunctionProto):
            pending += _results(tensor, context)
        elif (outside := tensor.context.around_branch(tensor.name)) is not None:
            pending.append(_Tensor(*outside))
        direct = list(_direct(tensor.context, tensor.name))
        for inner, reader in direct:
            here = _Tensor(inner, tensor.name)
            further = list(_behind(here, reader)) if len(pending) < IN_A_ROW else []
            pending += further
            if not further and reader.domain in PLAIN_DOMAINS:
                yield inner, reader
            if further and len(direct) == 1 and inner is tensor.context:
                _keep_row(tensor, reader)


def _keep_row(tensor: _Tensor, reader: Node) -> None:
    """Remember that a Pad which writes 0 is all that reads a tensor: rows of them are long."""
    context = tensor.context
    if context.zeros.get(reader.key) and not isinstance(context.scope.proto, FunctionProto):
        context.in_a_row[tensor.name] = reader.outputs[0]


def _direct(context: Context, name: str) -> Iterator[tuple[Context, Node]]:
    """Nodes that read a tensor, in bodies too."""
    readers = context.readers(name)
    for reader in readers:
        yield context, reader
    known = sum(reader.inputs.count(name) for reader in readers)
    if context.scope.uses.get(name, 0) > known + (name in context.scope.outputs):
        for body, reader in context.inner_readers(name):
            yield _inside(context, body), reader


def _inside(context: Context, body: Scope) -> Context:
    """A graph inside the scope of `context`, however deep, as seen from there."""
    around = body.parent
    outer = context if around in (context.scope, None) else _inside(context, around)
    return Context(context.document, body, context.folder, outer=outer, bindings=context.bindings)


def _behind(tensor: _Tensor, reader: Node) -> Iterator[_Tensor]:
    """What a reader hands the tensor on as, if the optimiser does not stop there."""
    context, name = tensor
    function = context.document.function(reader)
    if reader.key in context.zeros:
        if context.zeros[reader.key] and reader.inputs[0] == name:
            yield _Tensor(context, reader.outputs[0])
    elif function is not None and isinstance(function.proto, FunctionProto):
        given = bindings_of(reader.proto, context.bindings, function.proto.attribute_proto)
        inner = Context(context.document, function, context.folder, None, context, reader, given)
        for own, outside in zip(function.inputs, reader.inputs, strict=False):
            if outside == name:
                yield _Tensor(inner, own)
    elif is_pad(reader) and reader.inputs[0] == name:
        if _writes_zeros(context, reader):
            yield _Tensor(context, reader.outputs[0])
    elif vanishes(context, reader) and reader.inputs[data_position(context, reader)] == name:
        yield _Tensor(context, reader.outputs[0])


def _writes_zeros(context: Context, pad: Node) -> bool:
    """Asked for each Pad in front; where the value is known it stays the same."""
    known = context.zeros.get(pad.key)
    if known is not None:
        return known
    step = read_pad(context, pad, None)
    found = step.mode == "constant" and step.fill == Constant(0)
    if isinstance(step.fill, Constant):
        context.zeros[pad.key] = found
    return found


def _results(tensor: _Tensor, start: Context) -> Iterator[_Tensor]:
    """The tensor at the calls of the function whose result it is."""
    context = tensor.context
    proto = context.scope.proto
    if not isinstance(proto, FunctionProto) or tensor.name not in context.scope.outputs:
        return
    calls: Iterator[tuple[Context, Node]] = _calls_of(context, context.scope)
    if context is not start and context.caller is not None and context.call is not None:
        calls = iter([(context.caller, context.call)])
    for caller, call in calls:
        for own, outside in zip(proto.output, call.outputs, strict=False):
            if own == tensor.name and outside:
                yield _Tensor(caller, outside)


def _calls_of(context: Context, function: Scope) -> Iterator[tuple[Context, Node]]:
    document = context.document
    for scope in document.scopes.values():
        for node in scope.ordered():
            if document.function(node) is function:
                known = context.caller if node is context.call else None
                yield known or Context(document, scope, context.folder), node
