"""What ceil_mode adds to an axis."""

from __future__ import annotations

from onnxpad.geometry.axis import Axis
from onnxpad.geometry.size import plus, residue


def overhang(axis: Axis, begin: int, end: int) -> int | None:
    """Cells that the last window reads beyond the padded axis; None where the size matters.

    With room = size + begin + end - span, rounding up adds a window that reads -room mod stride
    cells too many. It is dropped when it would start in the end padding, at size + begin or
    later: then end - span + overhang >= 0, whatever the size (MaxPool-22, AveragePool-22).
    """
    if axis.stride == 1:
        return 0
    if axis.size is None:
        return None
    rest = residue(plus(axis.size, begin + end - axis.span), axis.stride)
    if rest is None:
        return None
    cells = -rest % axis.stride
    return 0 if end - axis.span + cells >= 0 else cells
