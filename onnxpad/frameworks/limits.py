"""Layers that frameworks refuse: each check gives the reason, or ''."""

from __future__ import annotations

from onnxpad.errors import counted
from onnxpad.frameworks.layer import Slide


def at_most_half_a_window(slides: tuple[Slide, ...]) -> str:
    """PyTorch's and Torch7's pools (aten Pool.h, pool2d_shape_check)."""
    for slide in slides:
        if max(slide.begin, slide.end) > slide.span // 2:
            return (
                f"padding {max(slide.begin, slide.end)} is more than half of the window "
                f"({counted(slide.span, 'cell')})"
            )
    return ""


def narrower_than_kernel(slides: tuple[Slide, ...]) -> str:
    """Caffe's pools (pooling_layer.cpp: CHECK_LT(pad, kernel)) and those after it."""
    for slide in slides:
        if max(slide.begin, slide.end) >= slide.kernel:
            return f"padding {max(slide.begin, slide.end)} is not less than kernel {slide.kernel}"
    return ""


def no_stride_with_dilation(slides: tuple[Slide, ...]) -> str:
    """TensorFlow's depthwise convolution."""
    if any(s.stride > 1 for s in slides) and any(s.dilation > 1 for s in slides):
        return "strides and dilations above 1 exclude each other"
    return ""


def equal_strides(slides: tuple[Slide, ...]) -> str:
    """TensorFlow's depthwise convolution."""
    if len({slide.stride for slide in slides}) > 1:
        return "strides must be equal"
    return ""


def growth_below_stride(slides: tuple[Slide, ...]) -> str:
    """PyTorch's transposed convolutions: output padding below stride or dilation."""
    for slide in slides:
        extra = slide.begin - slide.end
        if extra >= max(slide.stride, slide.dilation):
            return f"output padding {extra} is neither below the stride nor below the dilation"
    return ""


def fits_the_padded_input(slides: tuple[Slide, ...]) -> str:
    """MXNet's pools, which otherwise round up to one window."""
    for slide in slides:
        if slide.span > slide.size + slide.begin + slide.end:
            window = counted(slide.span, "cell")
            return f"a window of {window} does not fit into {slide.size} and the padding"
    return ""
