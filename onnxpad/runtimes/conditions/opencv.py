"""What OpenCV's dnn module makes of models, where more than one target says it.

Its getMemoryShapes and getConvPoolPaddings (modules/dnn/src/layers) give SAME of a ConvTranspose
strides * (size - 1) + 1 + output_padding cells, and crop for it as with stride 1.
"""

from __future__ import annotations

from collections.abc import Callable

from onnxpad.geometry.windows import Axis, output_size
from onnxpad.padding.chain import Chain, Pads, Skip
from onnxpad.padding.effective_pads import effective_pads
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.rows import (
    OTHER_SHAPE,
    Condition,
    Evidence,
    Row,
    miscomputes,
    refuses,
)

FROM_PYTORCH = Condition(
    "the model names pytorch as its producer",
    lambda c: c.around.producer == "pytorch",
    "the model does not name pytorch as its producer",
)


def _by_the_kernel_of_3x3(chain: Chain) -> bool:
    """Whether OpenCV has a kernel of its own for the convolution, its begin pads apart."""
    channels, outputs = chain.shape[1] if chain.shape else None, (chain.weight.shape or (0,))[0]
    if not w.is_depthwise(chain) or channels not in (None, outputs) or len(chain.axes) > 2:
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
    w.of_pads(_reads_beyond),
)


def _of_same(test: Callable[[Chain, Pads], bool]) -> Callable[[Chain], bool | None]:
    """A test of what SAME crops from a ConvTranspose without output_shape."""

    def holds(chain: Chain) -> bool | None:
        if not w.SAME.holds(chain) or chain.output_shape:
            return False
        pads = effective_pads(chain)
        return None if isinstance(pads, Skip) else test(chain, pads)

    return holds


def _has_other_shape(chain: Chain, pads: Pads) -> bool:
    both = chain.sides(pads)
    return any(begin + end != axis.span - 1 for axis, begin, end in both)


def _crops_elsewhere(width: Callable[[Axis], int]) -> Callable[[Chain, Pads], bool]:
    """`width` is what an engine takes for the cells that a window spans."""

    def test(chain: Chain, pads: Pads) -> bool:
        added = chain.output_padding or (0,) * len(chain.axes)
        return not _has_other_shape(chain, pads) and any(
            begin != ((width(axis) - 1 - more) // 2 if axis.stride <= axis.kernel else 0)
            for axis, begin, more in zip(chain.axes, pads.begins, added, strict=True)
        )

    return test


def rows_of_crops(
    by: Callable[[str], Evidence], *when: Condition, dilates: bool
) -> tuple[Row, ...]:
    """What both engines get wrong of SAME and output_shape of a ConvTranspose.

    `dilates` says whether its crops heed the dilations.
    """
    width: Callable[[Axis], int] = (lambda axis: axis.span) if dilates else lambda axis: axis.kernel
    return (
        miscomputes(
            w.TRANSPOSED,
            *when,
            Condition(
                "auto_pad is SAME, for which OpenCV has not as many cells as strides times the "
                "size",
                _of_same(_has_other_shape),
            ),
            by=by("SAME ConvTranspose"),
            does=OTHER_SHAPE,
        ),
        miscomputes(
            w.TRANSPOSED,
            *when,
            Condition(
                "auto_pad is SAME, for which OpenCV crops other cells",
                _of_same(_crops_elsewhere(width)),
            ),
            by=by("SAME ConvTranspose, as many cells"),
        ),
        miscomputes(
            w.TRANSPOSED, *when, w.OUTPUT_SHAPE, ~w.SAME, by=by("output_shape"), does=OTHER_SHAPE
        ),
        refuses(
            w.TRANSPOSED,
            *when,
            w.OUTPUT_SHAPE,
            w.SAME,
            by=by("output_shape and SAME"),
        ),
    )
