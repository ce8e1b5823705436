"""What keeps onnxruntime's default optimiser from fusing a Pad into a pool wrongly.

Its rule Pad_Fusion (onnxruntime core/optimizer/pad_fusion.cc, measured with 1.31.1) folds a Pad
that writes 0 into a pool without auto_pad that is its only reader.
"""

from __future__ import annotations

from dataclasses import replace

from onnxpad.chain import AutoPad, Chain, Pads
from onnxpad.effective import axes_in_front, same_windows_when_padded
from onnxpad.fills import Constant, Implicit, lowest
from onnxpad.forms import reaches_kernel
from onnxpad.ops import Kind


def auto_pad_stops_fusion(chain: Chain, pads: Pads) -> bool:
    """Whether onnxruntime would fuse the Pad into the pool if it had `pads` and no auto_pad.

    It fuses Pad(0) into MaxPool, where padding is not 0, and into averages also where the sum
    reaches the kernel (the session does not open) or ceil_mode drops a window then; averages
    that do not count their own pads, and LpPool, it leaves alone (measured with 1.31.1).
    """
    step = chain.pad_in_reach
    if step is None or step.mode != "constant" or step.fill != Constant(0):
        return False
    if step.unclear and not step.still_fused:
        return False
    unknown = bool(step.unclear) and not any(step.pads.flat)
    if chain.fill is Implicit.LOWEST and 0 not in lowest(chain.dtype):
        return unknown or any(step.pads.flat)
    if chain.op.kind is Kind.LP or (chain.fill is Implicit.NOTHING and any(pads.flat)):
        return False
    if unknown:
        return True
    front = Pads(step.pads.begins[chain.spatial], step.pads.ends[chain.spatial])
    if reaches_kernel(chain, front + pads) or step.follows_zero:
        return True
    same = chain.padding in (AutoPad.SAME_UPPER, AutoPad.SAME_LOWER)
    source = replace(chain, axes=axes_in_front(chain, front))
    return chain.ceil_mode and not same and not same_windows_when_padded(source, front, pads)
