"""The graph as onnxruntime's optimiser sees it: without Identity, and functions inlined."""

from __future__ import annotations

from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.ordering import Node

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
