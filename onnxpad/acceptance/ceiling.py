"""What rounding up makes of the last window of a pool."""

from __future__ import annotations

from onnxpad.chain import AutoPad, Chain, Pads
from onnxpad.geometry.axis import Axis
from onnxpad.geometry.size import residues


def overhangs(chain: Chain, pads: Pads) -> bool:
    """Whether rounding up, without the rule that drops it, leaves a window in the end padding."""
    for axis, begin, end in zip(chain.axes, pads.begins, pads.ends, strict=True):
        rests = () if axis.stride == 1 or _always_even(chain, axis) else rests_of(axis)
        for size in (axis.size,) if isinstance(axis.size, int) else rests:
            room = size + begin + end - axis.span
            if -(-room // axis.stride) * axis.stride >= size + begin:
                return True
    return False


def cut_off(chain: Chain, pads: Pads) -> bool:
    """Whether rounding up makes a window that reads beyond the padded input."""
    for axis, begin, end in zip(chain.axes, pads.begins, pads.ends, strict=True):
        if not isinstance(axis.size, int):
            if not _always_even(chain, axis):
                return True
        elif (axis.size + begin + end - axis.span) % axis.stride:
            return True
    return False


def _always_even(chain: Chain, axis: Axis) -> bool:
    """Whether SAME pads every size so that the windows end with the padding."""
    return chain.padding in (AutoPad.SAME_UPPER, AutoPad.SAME_LOWER) and axis.span >= axis.stride


def rests_of(axis: Axis) -> tuple[int, ...]:
    """What the size can leave when it is divided by the stride."""
    return tuple(range(axis.stride)) if axis.size is None else residues(axis.size, axis.stride)
