"""Rules that several frameworks share: where padded cells stand, what a transposed layer keeps."""

from __future__ import annotations

from onnxpad.errors import RequestError
from onnxpad.frameworks.words import Given, Mode, Pair
from onnxpad.geometry.windows import Axis, same_pads


def valid(_axis: Axis, _given: Given) -> Pair:
    """No padding."""
    return (0, 0)


def explicit(_axis: Axis, given: Given) -> Pair:
    """The numbers that the layer states, none where it states none."""
    return given.pads or (0, 0)


def same_upper(axis: Axis, _given: Given) -> Pair:
    """ceil(size/stride) windows, the odd cell at the end (TensorFlow nn_ops.py:20-90)."""
    return _same(axis, lower=False)


def same_lower(axis: Axis, _given: Given) -> Pair:
    """ceil(size/stride) windows, the odd cell at the begin."""
    return _same(axis, lower=True)


def unstrided_same(axis: Axis, _given: Given) -> Pair:
    """span-1 cells, the odd one at the end; refused with strides (torch conv.py:145-157)."""
    if axis.stride != 1:
        raise RequestError(
            f"padding='same' is only there for stride 1, not {axis.stride}: give numbers"
        )
    return split(axis.span - 1)


def window_less_one(axis: Axis, _given: Given) -> Pair:
    """span-1 cells whatever the stride, the odd one at the end (flax linear.py:592-606)."""
    return split(axis.span - 1)


def causal(axis: Axis, _given: Given) -> Pair:
    """span-1 cells in front."""
    return (axis.span - 1, 0)


def half_span(axis: Axis, _given: Given) -> Pair:
    """span//2 cells at both sides."""
    return (axis.span // 2, axis.span // 2)


def full(axis: Axis, _given: Given) -> Pair:
    """span-1 cells at both sides."""
    return (axis.span - 1, axis.span - 1)


def split(total: int) -> Pair:
    """Halves of a total, the odd cell at the end."""
    return (total // 2, total - total // 2)


def _same(axis: Axis, *, lower: bool) -> Pair:
    found = same_pads(axis, lower=lower)
    return found if found is not None else (0, 0)


VALID = Mode(valid)
EXPLICIT = Mode(explicit)
SAME_UPPER = Mode(same_upper)
SAME_LOWER = Mode(same_lower)
