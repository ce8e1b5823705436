"""Output types of Resize and Upsample with constant scales."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from onnxpad.geometry.size import Size, floor_divide, times
from onnxpad.graph.reading.shape_rules import Facts, Rule
from onnxpad.graph.reading.types import Type

_EXACT = 2**24
"""Whole numbers up to here are exact in float32."""


def _resize(inputs: Sequence[Type], facts: Facts) -> Type:
    """Resize-10 has its scales at input 1, later versions at input 2."""
    dtype, dims = inputs[0]
    if dims is None:
        return Type(dtype)
    unknown = Type(dtype, (None,) * len(dims))
    scales = scales_of("Resize", len(inputs), facts)
    attributes = facts.attributes()
    if not scales or attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize":
        return unknown
    axes = attributes.get("axes", tuple(range(len(dims))))
    if not isinstance(axes, tuple) or len(axes) != len(scales):
        return unknown
    return Type(dtype, _scaled(dims, tuple(int(axis) for axis in axes), scales))


def _upsample(inputs: Sequence[Type], facts: Facts) -> Type:
    """Upsample-7 has its scales as an attribute, later ones at input 1."""
    dtype, dims = inputs[0]
    if dims is None:
        return Type(dtype)
    scales = scales_of("Upsample", len(inputs), facts)
    if not scales or len(scales) != len(dims):
        return Type(dtype, (None,) * len(dims))
    return Type(dtype, _scaled(dims, tuple(range(len(dims))), scales))


def scales_of(op_type: str, inputs: int, facts: Facts) -> tuple[float, ...] | None:
    """The scales of a node with this many inputs, where they are constant; () where it has none."""
    written = facts.attributes().get("scales")
    if isinstance(written, tuple):
        return tuple(map(float, written))
    return facts.floats(2 if op_type == "Resize" and inputs > 2 else 1)


def _scaled(
    dims: tuple[Size | None, ...], axes: tuple[int, ...], scales: Sequence[float]
) -> tuple[Size | None, ...]:
    sizes = list(dims)
    for axis, scale in zip(axes, scales, strict=True):
        sizes[axis] = scaled(sizes[axis], scale)
    return tuple(sizes)


def scaled(size: Size | None, scale: float) -> Size | None:
    """floor(size * scale) (Resize-19), None where that hangs on how the product is rounded.

    onnxruntime 1.31.1 multiplies in float32, onnx 1.23.2 infers otherwise: 10 cells times 0.7 are
    7 for the one and 6 for the other.
    """
    exact = Fraction(float(np.float32(scale)))
    if size is None or exact <= 0:
        return None
    if isinstance(size, int):
        rounded = int(np.float32(size) * np.float32(scale))
        return rounded if rounded == int(exact * size) and size < _EXACT else None
    if exact.denominator == 1:
        return times(size, exact.numerator)
    return floor_divide(size, exact.denominator) if exact.numerator == 1 else None


RESIZE_RULES: dict[str, Rule] = {"Resize": _resize, "Upsample": _upsample}
