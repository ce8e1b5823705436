"""The graph as onnxruntime's optimiser sees it: without Identity, and functions inlined."""

from __future__ import annotations

from collections.abc import Iterator

from onnxpad.chain import PadStep
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.scopes import Scope

_STEPS_BACK = 8


def made_by(context: Context | None, name: str) -> tuple[Context, Node] | None:
    """What makes a tensor, not counting Identity, and for what a function is given its call."""
    for _ in range(_STEPS_BACK):
        if context is None:
            return None
        maker = context.scope.producers.get(name)
        if maker is None:
            argument = _argument(context, name)
            if not argument:
                return None
            context, name = context.caller, argument
        elif maker.op_type == "Identity" and maker.inputs:
            name = maker.inputs[0]
        else:
            return context, maker
    return None


def _argument(context: Context, name: str) -> str:
    """The tensor that the call gives for an input of the function, or ''."""
    scope, call = context.scope, context.call
    if call is None or not scope.is_function or name not in scope.inputs:
        return ""
    position = scope.inputs.index(name)
    return call.inputs[position] if position < len(call.inputs) else ""


def readers_of(scope: Scope, name: str, left: int = _STEPS_BACK) -> Iterator[Node]:
    """Nodes of the scope that read a tensor, also through Identity."""
    for reader in scope.readers(name):
        if reader.op_type == "Identity" and left and reader.outputs:
            yield from readers_of(scope, reader.outputs[0], left - 1)
        else:
            yield reader


def is_narrow(context: Context, pool: Node, step: PadStep) -> bool:
    """Whether onnxruntime could fuse the Pad into this pool and then refuse it."""
    if pool.op_type not in ("MaxPool", "AveragePool"):
        return False
    attributes = context.attributes(pool)
    kernel, own = attributes.get("kernel_shape"), attributes.get("pads", ())
    if not isinstance(kernel, tuple) or not isinstance(own, tuple):
        return False
    rank = len(kernel)
    own = own or (0,) * 2 * rank
    around = step.pads.begins[-rank:] + step.pads.ends[-rank:]
    sides = zip(around, own, kernel * 2, strict=False)
    return any(int(a) + int(b) >= int(k) for a, b, k in sides)
