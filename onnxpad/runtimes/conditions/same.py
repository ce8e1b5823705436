"""Questions about pads that auto_pad could stand for, and is not written."""

from __future__ import annotations

from dataclasses import replace

from onnxpad.padding.chain import AutoPad, Chain
from onnxpad.runtimes.conditions.rows import Condition
from onnxpad.runtimes.conditions.windows import possible_pads


def _like_same_upper(chain: Chain) -> bool | None:
    """None where it hangs on sizes that are not known."""
    own = possible_pads(chain)
    same = possible_pads(replace(chain, padding=AutoPad.SAME_UPPER))
    if not own or not same:
        return None
    shared = any(pads in same for pads in own)
    return None if shared and len(own) + len(same) > 2 else shared


LIKE_SAME_UPPER = Condition(
    "its pads are those of SAME_UPPER", _like_same_upper, "its pads are not those of SAME_UPPER"
)
