"""What both engines of OpenCV's dnn module make of the crops of ConvTranspose.

Its getMemoryShapes and getConvPoolPaddings (modules/dnn/src/layers) give SAME of a ConvTranspose
strides * (size - 1) + 1 + output_padding cells, and crop for it as with stride 1.
"""

from __future__ import annotations

from collections.abc import Callable

from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import Chain, Pads, Skip
from onnxpad.padding.effective_pads import effective_pads
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.rows import Condition, Evidence, Row, miscomputes, refuses

_OTHER_SHAPE = "gives another shape"


def _of_same(test: Callable[[Chain, Pads], bool]) -> Callable[[Chain], bool | None]:
    """A test of what SAME crops from a ConvTranspose without output_shape."""

    def holds(chain: Chain) -> bool | None:
        if not w.SAME.holds(chain) or chain.output_shape:
            return False
        pads = effective_pads(chain)
        return None if isinstance(pads, Skip) else test(chain, pads)

    return holds


def _has_other_shape(chain: Chain, pads: Pads) -> bool:
    both = zip(chain.axes, pads.begins, pads.ends, strict=True)
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
            does=_OTHER_SHAPE,
        ),
        miscomputes(
            w.TRANSPOSED,
            *when,
            Condition(
                "auto_pad is SAME, for which OpenCV crops other cells",
                _of_same(_crops_elsewhere(width)),
            ),
            by=by("SAME ConvTranspose, as many cells"),
            unshown="it takes SAME_LOWER with a kernel of an even size",
        ),
        miscomputes(
            w.TRANSPOSED, *when, w.OUTPUT_SHAPE, ~w.SAME, by=by("output_shape"), does=_OTHER_SHAPE
        ),
        refuses(
            w.TRANSPOSED,
            *when,
            w.OUTPUT_SHAPE,
            w.SAME,
            by=by("output_shape and SAME"),
            unshown="small models have output_shape without auto_pad alone",
        ),
    )
