"""Questions about what stands in front of convolutions and pools."""

from __future__ import annotations

from onnxpad.padding.chain import Chain, Constant, Pads
from onnxpad.runtimes.conditions.rows import Condition
from onnxpad.runtimes.conditions.windows import reaches

NEVER_NEGATIVE = Condition(
    "no cell of its input is negative",
    lambda c: c.at_least is not None and c.at_least >= 0,
    "a cell of its input may be negative",
)
DEQUANTISED = Condition("it reads a DequantizeLinear", lambda c: c.dequantised is not None)
BEHIND_ZEROS = Condition(
    "a Pad node that writes 0 stands in front",
    lambda c: (
        (s := c.pad_in_reach) is not None
        and s.mode == "constant"
        and s.fill == Constant(0)
        and not s.lists_axes
        and not any(pad < 0 for pad in s.pads.flat)
        and any(s.pads.flat)
    ),
)


def _reaches_with_zeros(chain: Chain) -> bool | None:
    step = chain.pad_in_reach
    if not BEHIND_ZEROS.holds(chain) or step is None or not isinstance(chain.padding, Pads):
        return False
    front = Pads(step.pads.begins[chain.spatial], step.pads.ends[chain.spatial])
    return reaches(chain, front + chain.padding, lambda axis: axis.kernel)


HARMED_BY_FUSION = (
    BEHIND_ZEROS
    & Condition("", lambda c: c.at_least is None or c.at_least < 0 or bool(_reaches_with_zeros(c)))
).called("a Pad node that writes 0 stands in front, and a cell may be negative")
WIDE_BEHIND_ZEROS = Condition(
    "a Pad node that writes 0 and the own pads reach the kernel together", _reaches_with_zeros
)
BEHIND_REFLECT = Condition(
    "a Pad node in mode reflect stands in front",
    lambda c: c.pad is not None and c.pad.mode == "reflect",
)
BEHIND_PAD = Condition("a Pad node stands in front", lambda c: c.pad is not None)
