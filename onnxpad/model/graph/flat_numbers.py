"""Constant tensors as flat numbers."""

from __future__ import annotations

from onnxpad.model.graph.context import Context

LARGEST = 2**31 - 1
"""The largest number that is a pad, a stride or a size anywhere in use."""


def constant_integers(context: Context, name: str) -> tuple[int, ...] | None:
    """A constant tensor of integers as a flat tuple, or None; also for numbers no pad can be."""
    numbers = any_integers(context, name)
    return None if any(abs(number) > LARGEST for number in numbers or ()) else numbers


def any_integers(context: Context, name: str) -> tuple[int, ...] | None:
    """A constant tensor of integers as a flat tuple, or None."""
    if not name:
        return None
    array = context.constant(name)
    if array is None or array.dtype.kind not in "iu":
        return None
    return tuple(int(value) for value in array.reshape(-1))


def any_floats(context: Context, name: str) -> tuple[float, ...] | None:
    """A constant tensor of floating point as a flat tuple, or None."""
    array = context.constant(name) if name else None
    if array is None or array.dtype.kind != "f":
        return None
    return tuple(float(value) for value in array.reshape(-1))
