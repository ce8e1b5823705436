"""TVM's relax frontend for ONNX."""

from __future__ import annotations

from onnxpad.padding.chain import Chain
from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import (
    ARITHMETIC,
    CALLS,
    CROP,
    DISORDER,
    INLINED,
    INPUT_CROP,
    JOIN,
    SORTED,
)
from onnxpad.runtimes.conditions.rows import (
    OTHER_SHAPE,
    Condition,
    measured,
    miscomputes,
    refuses,
    reported,
    takes,
    until,
)
from onnxpad.runtimes.targets import Target

_VERSION = "apache-tvm 0.27.0.post1, relax, llvm"
_seen = measured(_VERSION)
_in_0_25 = measured("apache-tvm 0.25.0")


def _stride_leaves_rest(chain: Chain) -> bool | None:
    """None where it hangs on sizes that are not known."""
    rests = [[size % axis.stride for size in w.sizes_of(axis)] for axis in chain.axes]
    if any(all(found) for found in rests):
        return True
    return None if any(any(found) for found in rests) else False


_STRIDE_LEAVES_REST = Condition("a size is no multiple of the stride", _stride_leaves_rest)

TARGET = Target(
    _VERSION,
    (
        takes((*w.WINDOWS, "LpPool"), by=_seen("convolutions and pools of 1 to 3 axes")),
        takes(w.WINDOWS, w.NEGATIVE_PADS, t.TWO_D, by=_seen("2-D negative pads attributes")),
        takes(p.PAD, by=_seen("Pad of every mode, with constant pads")),
        takes((*CROP, *JOIN, *ARITHMETIC), by=_seen("rewritten forms")),
        refuses(("Slice", *INPUT_CROP), t.opset_below(10), by=_seen("Slice of opset 9")),
        refuses(CALLS, INLINED, by=_seen("calls of local functions")),
        refuses(DISORDER, SORTED, by=_seen("nodes in front of what they read")),
        refuses(w.QUANTISED, by=_seen("QLinearConv and ConvInteger")),
        miscomputes(
            p.PAD,
            p.WRAPS_PARTLY,
            by=_seen("Pad in mode wrap with a negative pad on the other side"),
            unshown=p.PLAIN_WRAPS,
        ),
        refuses(p.PAD, p.COMPUTED, by=_seen("computed pads")),
        refuses("MaxPool", w.INDICES, by=_seen("MaxPool with Indices")),
        miscomputes(
            w.TRANSPOSED,
            w.OUTPUT_SHAPE,
            w.PADDED | w.SAME,
            by=_seen("output_shape"),
            does=OTHER_SHAPE,
        ),
        miscomputes(
            "MaxPool",
            w.SAME_LOWER,
            _STRIDE_LEAVES_REST,
            by=_seen("SAME_LOWER pools: rounded down"),
        ),
        miscomputes(
            "MaxPool",
            w.SAME_UPPER,
            w.SAME_NEGATIVE,
            by=_seen("SAME pools with kernels below the stride"),
        ),
        miscomputes(
            "MaxPool",
            w.SAME_LOWER,
            w.SAME_SHIFTS,
            by=_seen("SAME_LOWER pools with kernels below the stride"),
        ),
        miscomputes("LpPool", w.CEIL_MODE, by=_seen("LpPool with ceil_mode")),
        *until(
            "0.25",
            refuses(p.PAD, p.WRAP, by=_in_0_25("Pad in mode wrap")),
            refuses(p.PAD, p.LISTS_AXES, by=_in_0_25("Pad with axes")),
            refuses(w.TRANSPOSED, w.DILATED, by=_in_0_25("ConvTranspose with dilations")),
            miscomputes("LpPool", w.SAME, by=_in_0_25("SAME LpPool")),
        ),
        *until(
            "0.23",
            miscomputes(
                w.TRANSPOSED,
                w.OUTPUT_PADDING,
                by=reported("apache/tvm issue 18601", "output_padding is ignored"),
            ),
            miscomputes(
                w.TRANSPOSED,
                w.AUTO_PAD,
                by=reported("apache/tvm pull request 19450", "auto_pad is ignored"),
            ),
        ),
    ),
    also=("apache-tvm",),
    releases=("0.23", "0.25", "0.27"),
    packages=("apache-tvm",),
)
