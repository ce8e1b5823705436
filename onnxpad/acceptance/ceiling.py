"""What rounding up makes of the last window of a pool."""

from __future__ import annotations

from collections.abc import Iterator

from onnxpad.chain import AutoPad, Chain, Pads
from onnxpad.geometry.axis import Axis
from onnxpad.geometry.size import residues


def overhangs(chain: Chain, pads: Pads) -> bool:
    """Whether rounding up, without the rule that drops it, leaves a window in the end padding."""
    return any(start >= size + begin for size, begin, _, start in _last_windows(chain, pads))


def overhangs_by_end(chain: Chain, pads: Pads) -> bool:
    """Whether a rule that takes the end pad for the begin pad, if there is one, drops otherwise.

    getMemoryShapes of modules/dnn/src/layers/pooling_layer.cpp of OpenCV.
    """
    return any(
        (start >= size + begin) is not (end > 0 and start >= size + end)
        for size, begin, end, start in _last_windows(chain, pads)
    )


def _last_windows(chain: Chain, pads: Pads) -> Iterator[tuple[int, int, int, int]]:
    """Size, pads and start of the last window in the padded input, rounded up, of every axis."""
    for axis, begin, end in zip(chain.axes, pads.begins, pads.ends, strict=True):
        rests = () if axis.stride == 1 or _always_even(chain, axis) else rests_of(axis)
        for size in (axis.size,) if isinstance(axis.size, int) else rests:
            room = size + begin + end - axis.span
            yield size, begin, end, -(-room // axis.stride) * axis.stride


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
