"""Questions about the weights of convolutions."""

from __future__ import annotations

from onnxpad.geometry.windows import Axis, output_size
from onnxpad.padding.chain import Chain, Pads
from onnxpad.runtimes.conditions.rows import Condition
from onnxpad.runtimes.conditions.windows import of_pads


def _is_depthwise(chain: Chain) -> bool:
    sizes = chain.weight.shape
    return sizes is not None and len(sizes) > 1 and sizes[1] == 1 and sizes[0] != 1


def _by_the_kernel_of_3x3(chain: Chain) -> bool:
    """Whether OpenCV has a kernel of its own for the convolution, its begin pads apart."""
    channels, outputs = chain.shape[1] if chain.shape else None, (chain.weight.shape or (0,))[0]
    if not _is_depthwise(chain) or channels not in (None, outputs) or len(chain.axes) > 2:
        return False
    across = chain.axes[-1]
    steps = across.stride == 1 or (across.stride == 2 and across.dilation == 1)
    return steps and all(axis.kernel == 3 for axis in chain.axes)


def _reads_beyond(chain: Chain, pads: Pads) -> bool:
    """Whether that kernel takes cells that are not those of the window.

    Along the last axis it reads the first window as if the dilation were 1. Along the other one it
    leaves out a row in front of the input, or else the last one behind it, and nothing more:
    depthWiseBlockConv2D of modules/dnn/src/layers/cpu_kernels/conv_depthwise.cpp, the same in 4.8
    to 5.0; 700 drawn convolutions were run in 4.8, 4.10, 4.12 and 5.0.
    """
    if not _by_the_kernel_of_3x3(chain) or max(pads.begins) > 1:
        return False
    across = chain.axes[-1]
    narrow = isinstance(across.size, int) and across.size <= across.dilation
    if pads.begins[-1] and (across.dilation > 1 or narrow):
        return True
    return len(chain.axes) == 2 and _lies_below(chain.axes[0], pads.begins[0], pads.ends[0])


def _lies_below(axis: Axis, begin: int, end: int) -> bool:
    """Whether a window has two rows behind the input, or one in front of it and one behind."""
    windows = output_size(axis, begin, end)
    if not isinstance(axis.size, int) or not isinstance(windows, int) or windows < 1:
        return end > axis.dilation  # without a size: as soon as some size has such a window
    last = (windows - 1) * axis.stride - begin
    return last + axis.dilation >= axis.size or (begin > 0 and axis.size < 2 * axis.dilation)


DEPTHWISE_READS_BEYOND = Condition(
    "it is depthwise with a kernel of 3x3, and begins at a pad while dilated or has two rows of a "
    "window in the end padding",
    of_pads(_reads_beyond),
)


def _has_multiplier(chain: Chain) -> bool:
    sizes, channels = chain.weight.shape, chain.shape[1] if chain.shape else None
    return _is_depthwise(chain) and sizes is not None and channels not in (1, sizes[0])


SEVERAL_PER_CHANNEL = Condition(
    "it is depthwise, with several outputs for each channel", _has_multiplier
)
