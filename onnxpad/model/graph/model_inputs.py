"""What an excerpt tells of the whole model, out of which it was cut, by the names of its inputs."""

from __future__ import annotations

from onnxpad.model.graph.context import Context

EXCERPT = "excerpt of onnxpad"
OUTER = "i"
"""How tensors of an excerpt are called that are inputs of the whole model."""
WINDOW = "w"
"""How those are called that convolutions or pools of the whole model make, where that matters."""


def is_model_input(context: Context, name: str) -> bool:
    """Whether a tensor is an input of the whole model, here or where an excerpt was cut out.

    So it is in the branch that an If runs, where that is known.
    """
    scope = context.scope
    if context.outer is not None and context.is_run and not scope.defines(name):
        return is_model_input(context.outer, name)
    if scope.parent is not None or scope.is_function or name not in scope.input_places:
        return False
    return scope.proto.name != EXCERPT or name.startswith(OUTER)


def behind_window(context: Context, name: str) -> bool:
    """Whether it is the input of an excerpt that a convolution or a pool of the model makes."""
    scope = context.scope
    return scope.proto.name == EXCERPT and name in scope.input_places and name.startswith(WINDOW)
