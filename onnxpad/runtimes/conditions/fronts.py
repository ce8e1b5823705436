"""Questions about what stands in front of convolutions and pools."""

from __future__ import annotations

from onnxpad.padding.chain import Chain, PadStep
from onnxpad.padding.fills import Constant
from onnxpad.runtimes.conditions.rows import Condition
from onnxpad.runtimes.onnxruntime.pad_fusion import Way, harms

NEVER_NEGATIVE = Condition(
    "no cell of its input is negative",
    lambda c: c.around.at_least is not None and c.around.at_least >= 0,
    "a cell of its input may be negative",
)
DEQUANTISED = Condition("it reads a DequantizeLinear", lambda c: c.around.dequantised is not None)


def _nearest_pad(chain: Chain) -> PadStep | None:
    front = chain.around.front
    return chain.pad or (front[0].pad if front else None)


BEHIND_ZEROS = Condition(
    "a Pad node that writes 0 stands in front",
    lambda c: (
        (s := _nearest_pad(c)) is not None
        and s.mode == "constant"
        and s.fill == Constant(0)
        and not s.lists_axes
        and not any(pad < 0 for pad in s.pads.flat)
        and any(s.pads.flat)
    ),
)


def _fused(text: str, *ways: Way) -> Condition:
    """Whether onnxruntime folds Pads in front into the operator, wrongly in one of these ways."""

    def holds(chain: Chain) -> bool | None:
        found = [one for one in harms(chain, chain.around) if one.way in ways]
        return (any(one.sure for one in found) or None) if found else False

    return Condition(text, holds)


HARMED_BY_FUSION = _fused(
    "a Pad node that writes 0 stands in front, and a cell may be negative", Way.VALUE
)
SHORT_BY_FUSION = _fused(
    "a Pad node that writes 0 stands in front, and ceil_mode has a window in its cells",
    Way.WINDOW,
)
WIDE_BEHIND_ZEROS = _fused(
    "a Pad node that writes 0 and the own pads reach the kernel together", Way.LOAD
)
BESIDE_IDENTITY = _fused(
    "a Pad node that writes 0 stands in front, and an Identity beside it makes a result", Way.COPY
)
BEHIND_PADDED_WEIGHT = _fused("a Pad node that writes 0 makes its weight", Way.WEIGHT)
BEHIND_REFLECT = Condition(
    "a Pad node in mode reflect stands in front",
    lambda c: c.pad is not None and c.pad.mode == "reflect",
)
BEHIND_PAD = Condition("a Pad node stands in front", lambda c: c.pad is not None)
