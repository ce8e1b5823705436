"""Rules that several frameworks share: where padded cells stand, what a transposed layer keeps."""

from __future__ import annotations

from onnxpad.errors import RequestError, counted
from onnxpad.frameworks.layer import AxisCrop, Given, Mode, Pair
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


def total_or_kernel_less_one(axis: Axis, given: Given) -> Pair:
    """The number is a total, kernel-1 where it is left out; the odd cell at the end (Darknet)."""
    return split(given.pads[0] if given.pads else axis.kernel - 1)


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


def crop_both(axis: Axis, size: int, given: Given) -> AxisCrop:
    """Cut the numbers off, then grow at the end: (size-1)s + span - b - e + growth.

    An output size takes the place of the growth where it is given.
    """
    begin, end = given.pads or (0, 0)
    plain = full_extent(axis, size) - begin - end
    if given.extent is not None:
        if not plain <= given.extent < plain + axis.stride:
            raise RequestError(
                f"output size {given.extent} is not one of {plain} to {plain + axis.stride - 1}"
            )
        return AxisCrop(begin, given.extent)
    return AxisCrop(begin, plain + (given.growth or 0))


def same_gradient(axis: Axis, size: int, given: Given) -> AxisCrop:
    """The gradient of SAME (TensorFlow): of what is too much, the smaller half goes in front."""
    output = given.extent if given.extent is not None else size * axis.stride
    if -(-output // axis.stride) != size:
        raise RequestError(_no_inverse(output, "SAME", size, axis))
    return AxisCrop(max(0, full_extent(axis, size) - output) // 2, output)


def valid_gradient(axis: Axis, size: int, given: Given) -> AxisCrop:
    """The gradient of VALID (TensorFlow): nothing is cut in front."""
    output = given.extent
    if output is None:
        output = size * axis.stride + max(axis.span - axis.stride, 0)
    if (output - axis.span) // axis.stride + 1 != size:
        raise RequestError(_no_inverse(output, "VALID", size, axis))
    return AxisCrop(0, output)


def same_multiple(axis: Axis, size: int, _given: Given) -> AxisCrop:
    """size*stride cells; of what is too much, the smaller half goes in front."""
    output = size * axis.stride
    return AxisCrop(max(0, full_extent(axis, size) - output) // 2, output)


def full_extent(axis: Axis, size: int) -> int:
    """Extent before anything is cut: (size-1)*stride + span."""
    return (size - 1) * axis.stride + axis.span


def _no_inverse(output: int, mode: str, size: int, axis: Axis) -> str:
    return (
        f"output size {output} does not fit: a {mode} convolution with stride {axis.stride} over "
        f"{counted(output, 'cell')} does not give {size}"
    )


CROP_BOTH = Mode(cut=crop_both)
