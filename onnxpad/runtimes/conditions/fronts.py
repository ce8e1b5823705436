"""Questions about what stands in front of convolutions and pools."""

from __future__ import annotations

from onnxpad.padding.chain import Chain, PadStep
from onnxpad.padding.fills import Constant
from onnxpad.padding.operators import Destination, Kind, PadInput
from onnxpad.runtimes.conditions.rows import Condition

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
        and PadInput.AXES not in s.listed
        and not any(pad < 0 for pad in s.pads.flat)
        and any(s.pads.flat)
    ),
)
FOLLOWS_WINDOW = Condition(
    "a convolution or a pool makes what it reads",
    lambda c: c.around.follows_window,
    "no convolution or pool makes what it reads",
)
BEHIND_REFLECT = Condition(
    "a Pad node in mode reflect stands in front",
    lambda c: c.pad is not None and c.pad.mode == "reflect",
)
BEHIND_PAD = Condition(
    "a Pad node stands in front", lambda c: c.pad is not None and c.op.kind is not Kind.PAD
)
BETWEEN_CONVERSIONS = Condition(
    "it stands between DequantizeLinear and QuantizeLinear with the same numbers",
    lambda c: c.around.between is not None,
    "it does not stand between DequantizeLinear and QuantizeLinear with the same numbers",
)
FEEDS_MAX_POOLS = Condition(
    "only max pools read it, each of whose windows holds a cell of data",
    lambda c: c.around.feeds_alone is Destination.MAX_POOLS,
    "something else than a max pool reads it, or a max pool with a window that holds no data",
)
FROM_PYTORCH = Condition(
    "the model names pytorch as its producer",
    lambda c: c.around.producer == "pytorch",
    "the model does not name pytorch as its producer",
)
