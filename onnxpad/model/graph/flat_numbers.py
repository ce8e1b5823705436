"""Constant tensors as flat numbers."""

from __future__ import annotations

from onnxpad.model.graph.context import Context

LARGEST = 2**31 - 1
"""The largest number that is a pad, a stride or a size anywhere in use."""


def constant_integers(context: Context, name: str) -> tuple[int, ...] | None:
    """A constant tensor of integers as a flat tuple, or None; also for numbers no pad can be."""
    array = context.constant(name) if name else None
    if array is None or array.dtype.kind not in "iu":
        return None
    numbers = tuple(int(value) for value in array.reshape(-1))
    return None if any(abs(number) > LARGEST for number in numbers) else numbers
