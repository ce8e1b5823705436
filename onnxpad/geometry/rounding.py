"""What ceil_mode adds to an axis."""

from __future__ import annotations

from onnxpad.geometry.axis import Axis
from onnxpad.geometry.size import plus, residues


def overhang(axis: Axis, begin: int, end: int) -> int:
    """Fewest cells behind the padded axis with which rounding down gives the windows of ceil_mode.

    `end` must be below the span. With room = size + begin + end - span, rounding up adds a window
    that lacks -room mod stride cells. It is dropped when it would start in the end padding, at
    size + begin or later: then end - span + lacking >= 0, whatever the size (MaxPool-22,
    AveragePool-22). Where several sizes are possible, what the widest window that is kept lacks
    serves all of them: a stride more would be needed for a further window, and as much as it
    lacks itself for one that is dropped, which is more than any that is kept.
    """
    if axis.size is None:
        rests = tuple(range(axis.stride))
    else:
        rests = residues(plus(axis.size, begin + end - axis.span), axis.stride)
    lacking = (-rest % axis.stride for rest in rests)
    return max((cells for cells in lacking if end - axis.span + cells < 0), default=0)
