"""Inputs of the whole model, which an excerpt that was cut out of it tells by their names."""

from __future__ import annotations

from onnxpad.model.graph.context import Context

EXCERPT = "excerpt of onnxpad"
OUTER = "i"
"""How tensors of an excerpt are called that are inputs of the whole model."""


def is_model_input(context: Context, name: str) -> bool:
    """Whether a tensor is an input of the whole model, here or where an excerpt was cut out."""
    scope = context.scope
    if scope.parent is not None or scope.is_function or name not in scope.input_places:
        return False
    return scope.proto.name != EXCERPT or name.startswith(OUTER)
