"""Rules that several frameworks share: what a transposed layer keeps of one axis."""

from __future__ import annotations

from onnxpad.errors import RequestError
from onnxpad.frameworks.values import many
from onnxpad.frameworks.words import Crop, Given, Mode
from onnxpad.geometry.windows import Axis


def crop_both(axis: Axis, size: int, given: Given) -> Crop:
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
        return Crop(begin, given.extent)
    return Crop(begin, plain + (given.growth or 0))


def same_gradient(axis: Axis, size: int, given: Given) -> Crop:
    """The gradient of SAME (TensorFlow): of what is too much, the smaller half goes in front."""
    output = given.extent if given.extent is not None else size * axis.stride
    if -(-output // axis.stride) != size:
        raise RequestError(_no_inverse(output, "SAME", size, axis))
    return Crop(max(0, full_extent(axis, size) - output) // 2, output)


def valid_gradient(axis: Axis, size: int, given: Given) -> Crop:
    """The gradient of VALID (TensorFlow): nothing is cut in front."""
    output = given.extent
    if output is None:
        output = size * axis.stride + max(axis.span - axis.stride, 0)
    if (output - axis.span) // axis.stride + 1 != size:
        raise RequestError(_no_inverse(output, "VALID", size, axis))
    return Crop(0, output)


def same_multiple(axis: Axis, size: int, _given: Given) -> Crop:
    """size*stride cells; of what is too much, the smaller half goes in front."""
    output = size * axis.stride
    return Crop(max(0, full_extent(axis, size) - output) // 2, output)


def full_extent(axis: Axis, size: int) -> int:
    """Extent before anything is cut: (size-1)*stride + span."""
    return (size - 1) * axis.stride + axis.span


def _no_inverse(output: int, mode: str, size: int, axis: Axis) -> str:
    return (
        f"output size {output} does not fit: a {mode} convolution with stride {axis.stride} over "
        f"{many(output, 'cell')} does not give {size}"
    )


CROP_BOTH = Mode(cut=crop_both)
SAME_GRADIENT = Mode(cut=same_gradient)
VALID_GRADIENT = Mode(cut=valid_gradient)
