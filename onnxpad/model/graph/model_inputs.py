"""What an excerpt tells of the whole model, out of which it was cut, by the names of its inputs."""

from __future__ import annotations

from onnxpad.model.graph.context import Context

EXCERPT = "excerpt of onnxpad"
OUTER = "i"
"""How tensors of an excerpt are called that are inputs of the whole model."""
LOOSE = "l"
"""How those are called that have no convolution or pool anywhere in front, where that matters."""
_FAR = 64


def is_model_input(context: Context, name: str) -> bool:
    """Whether a tensor is an input of the whole model, here or where an excerpt was cut out."""
    scope = context.scope
    if scope.parent is not None or scope.is_function or name not in scope.input_places:
        return False
    return scope.proto.name != EXCERPT or name.startswith(OUTER)


def may_follow_window(context: Context, name: str) -> bool:
    """Whether a convolution or a pool stands in front of a tensor, or may, beyond an excerpt.

    Of operators in front their first input is followed.
    """
    scope = context.scope
    for _ in range(_FAR):
        maker = scope.producers.get(name)
        if maker is None:
            apart = scope.proto.name == EXCERPT and name.startswith(LOOSE)
            return name in scope.inputs and not apart and not is_model_input(context, name)
        chain = context.chains.get(maker.key)
        if chain is not None and chain.axes:
            return True
        name = maker.input(0)
    return False
