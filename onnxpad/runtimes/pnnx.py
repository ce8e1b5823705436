"""By what pnnx, which converts models for ncnn, knows which axis of its tensors is the batch.

It knows it of operators that have one by their definition, and of all that hangs together with
them (tools/pnnx/src/pass_ncnn/solve_batch_index.cpp). In a model without any it takes the batch for
another axis, and what names an axis means that one.
"""

from __future__ import annotations

from onnxpad.runtimes.conditions.windows import WINDOWS

_SHOWS_BATCH = frozenset(
    (
        *WINDOWS,
        *("BatchNormalization", "InstanceNormalization", "GlobalAveragePool", "GlobalMaxPool"),
        *("LRN", "Resize", "Upsample"),
    )
)
_NAMES_AXES = frozenset(
    (
        *("Concat", "Einsum", "Expand", "Flatten", "Gather", "LogSoftmax", "Reshape", "Slice"),
        *("Softmax", "Split", "Squeeze", "Unsqueeze"),
    )
)
_CHANNELS_AND_ONE = 2
"""Axes of a tensor of which the batch is known by their number."""


def shows_batch(op_type: str) -> bool:
    """Whether pnnx knows the batch axis of all that hangs together with this operator."""
    return op_type in _SHOWS_BATCH


def names_axes(op_type: str, rank: int | None) -> bool:
    """Whether this operator names axes of a tensor of three or more, or of an unknown number."""
    if op_type not in _NAMES_AXES and not op_type.startswith("Reduce"):
        return False
    return rank is None or rank > _CHANNELS_AND_ONE
