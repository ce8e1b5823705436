"""What comes from outside a model: its inputs, and stored values that an input may replace."""

from __future__ import annotations

from collections.abc import Mapping

from onnx import ModelProto

from onnxpad.graph.reading.context import Context

EXCERPT = "excerpt of onnxpad"
OUTER = "i"
"""How tensors of an excerpt are called that are inputs of the whole model."""


def is_model_input(context: Context, name: str) -> bool:
    """Whether a tensor is an input of the whole model, here or where an excerpt was cut out."""
    scope = context.scope
    if scope.parent is not None or scope.is_function or name not in scope.inputs:
        return False
    return scope.proto.name != EXCERPT or name.startswith(OUTER)


def has_value(context: Context, name: str) -> bool:
    """Whether a value is stored for a tensor, though an input or a call may give another."""
    if context.constant_tensor(name) is not None:
        return True
    return context.scope.parent is None and name in context.document.overridable


def beyond_batch(
    model: ModelProto, dims: Mapping[str, int | str] | None
) -> dict[str, int | str] | None:
    """Of what a user says of sizes, all but those that stand on the first axis of inputs alone."""
    first, others = set[str](), set[str]()
    for value in model.graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            (others if axis else first).update({dim.dim_param, f"{value.name}[{axis}]"})
    batch = first - others
    return None if dims is None else {k: size for k, size in dims.items() if k not in batch}
