"""What reads a Pad in the eyes of onnxruntime's optimiser: its Pad fusion may act on that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from onnx import FunctionProto

from onnxpad.model.reading.attributes import bindings_of
from onnxpad.model.reading.context import Context
from onnxpad.model.reading.crossing import data_position
from onnxpad.model.reading.nodes import Node
from onnxpad.model.reading.optimised import vanishes
from onnxpad.model.reading.pads import is_pad, read_pad
from onnxpad.model.reading.scopes import PLAIN_DOMAINS, Scope
from onnxpad.padding.chain import Constant, Pads, PadStep

_STEPS = 64


class Fed(NamedTuple):
    """What kinds of readers there are that a Pad with 0 would be fused into wrongly."""

    max_pool: bool = False
    wide_pool: bool = False
    weight: bool = False


class _Tensor(NamedTuple):
    """A tensor that holds what the Pad writes, more Pads added: `pads`, None if not known."""

    context: Context
    name: str
    pads: Pads | None
    turned: bool = False


def fed_by(context: Context, maker: Node, step: PadStep, way: Sequence[Node] = ()) -> Fed:
    """What a Pad that writes 0 feeds besides the operator at the end of `way`.

    `way` is what stands between the Pad and that operator, which comes last.
    """
    if len(way) == 1 and context.scope.uses.get(maker.outputs[0], 0) == 1:
        return Fed()
    found = Fed()
    for tensor, reader in _readers(context, maker, step, {one.key for one in way}):
        if tensor.context.attributes(reader).get("auto_pad", "NOTSET") in _SHIELDS:
            continue
        found = Fed(
            found.max_pool or reader.op_type == "MaxPool",
            found.wide_pool or _is_wide_pool(tensor, reader, step),
            found.weight or (reader.op_type == "Conv" and tensor.name in reader.inputs[1:]),
        )
    return found


_SHIELDS = ("VALID", "SAME_UPPER", "SAME_LOWER")


def _readers(
    context: Context, maker: Node, step: PadStep, way: set[int]
) -> Iterator[tuple[_Tensor, Node]]:
    """Readers behind whatever the optimiser takes away, and behind further Pads with 0."""
    pending = [_Tensor(context, maker.outputs[0], None if step.unclear else step.pads)]
    for tensor in pending:
        pending += _results(tensor, context)
        for inner, reader in _direct(tensor.context, tensor.name):
            here = tensor._replace(context=inner)
            further = list(_behind(here, reader)) if len(pending) < _STEPS else []
            pending += further
            own = inner is context and reader.key in way and tensor.name not in reader.inputs[1:]
            if not further and not own and reader.domain in PLAIN_DOMAINS:
                yield here, reader


def _direct(context: Context, name: str) -> Iterator[tuple[Context, Node]]:
    """Nodes that read a tensor, in bodies too."""
    readers = context.readers(name)
    for reader in readers:
        yield context, reader
    known = sum(reader.inputs.count(name) for reader in readers)
    if context.scope.uses.get(name, 0) > known + (name in context.scope.outputs):
        pending = [(context, context.scope)]
        for outer, scope in pending:
            for _, body in (pair for pairs in scope.children.values() for pair in pairs):
                inner = Context(
                    context.document, body, context.folder, outer=outer, bindings=context.bindings
                )
                pending.append((inner, body))
                yield from ((inner, one) for one in body.nodes if name in one.inputs)


def _behind(tensor: _Tensor, reader: Node) -> Iterator[_Tensor]:
    """What a reader hands the tensor on as, if the optimiser does not stop there."""
    context, name = tensor.context, tensor.name
    function = context.document.function(reader)
    if function is not None and isinstance(function.proto, FunctionProto):
        given = bindings_of(reader.proto, context.bindings, function.proto.attribute_proto)
        inner = Context(context.document, function, context.folder, None, context, reader, given)
        for own, outside in zip(function.inputs, reader.inputs, strict=False):
            if outside == name:
                yield tensor._replace(context=inner, name=own)
    elif is_pad(reader) and reader.inputs[0] == name:
        rank = None if tensor.pads is None else len(tensor.pads.begins)
        step = read_pad(context, reader, rank)
        if step.mode == "constant" and step.fill == Constant(0):
            known = tensor.pads is not None and not step.unclear
            pads = tensor.pads + step.pads if known and tensor.pads else None
            yield tensor._replace(name=reader.outputs[0], pads=pads)
    elif vanishes(context, reader) and reader.inputs[data_position(context, reader)] == name:
        turned = tensor.turned or reader.op_type == "Transpose"
        yield tensor._replace(name=reader.outputs[0], turned=turned)


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
                yield tensor._replace(context=caller, name=outside)


def _calls_of(context: Context, function: Scope) -> Iterator[tuple[Context, Node]]:
    document = context.document
    for scope in document.scopes.values():
        for node in scope.ordered():
            if document.function(node) is function:
                known = context.caller if node is context.call else None
                yield known or Context(document, scope, context.folder), node


def _is_wide_pool(tensor: _Tensor, node: Node, step: PadStep) -> bool:
    """Whether onnxruntime would fuse the Pad into a pool that cannot hold it.

    It leaves alone averages that have pads and do not count them. With ceil_mode the last window
    may be lost, whether it is depends on sizes.
    """
    if node.op_type not in ("AveragePool", "MaxPool"):
        return False
    found = tensor.context.attributes(node)
    kernel, own = found.get("kernel_shape"), found.get("pads") or ()
    if not isinstance(kernel, tuple) or not isinstance(own, tuple) or tensor.pads is None:
        return True
    rank = len(kernel)
    own = own or (0,) * 2 * rank
    is_average = node.op_type == "AveragePool"
    if is_average and any(own) and found.get("count_include_pad", 0) == 0:
        return False
    around = tensor.pads.begins[-rank:] + tensor.pads.ends[-rank:]
    if tensor.turned:
        around = (max(tensor.pads.flat),) * (2 * rank)
    total = [int(a) + b for a, b in zip(own, around, strict=False)]
    wide = any(pad >= size for pad, size in zip(total, kernel * 2, strict=False))
    return wide or step.follows_zero or found.get("ceil_mode", 0) != 0
