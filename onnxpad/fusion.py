"""What keeps onnxruntime's default optimiser from fusing a Pad into a pool wrongly.

Its rule Pad_Fusion (onnxruntime core/optimizer/pad_fusion.cc, measured with 1.31.1) folds a Pad
that writes 0 into a pool without auto_pad that is its only reader.
"""

from __future__ import annotations

from dataclasses import replace

from onnxpad.padding.chain import AutoPad, Chain, Constant, Implicit, Pads, PadStep, Skip, lowest
from onnxpad.padding.effective_pads import axes_in_front, same_windows_when_padded
from onnxpad.padding.forms import reaches_kernel
from onnxpad.padding.operators import Kind


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
    is_zero = chain.fill is not Implicit.LOWEST or 0 in lowest(chain.dtype)
    if not is_zero and (unknown or not _never_negative(chain)):
        return unknown or step.follows_zero or any(step.pads.flat)
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


def fuses_worse(before: Chain, pads: Pads, after: Chain, wider: Pads) -> bool:
    """Whether onnxruntime fuses the Pad in front wrongly with `wider`, and not so with `pads`.

    What it computes wrongly now, it must at least still load.
    """
    if not auto_pad_stops_fusion(after, wider):
        return False
    is_right = not auto_pad_stops_fusion(before, pads)
    return is_right or (_beyond_kernel(after, wider) and not _beyond_kernel(before, pads))


def _beyond_kernel(chain: Chain, pads: Pads) -> bool:
    step = chain.pad_in_reach
    if step is None:
        return False
    front = Pads(step.pads.begins[chain.spatial], step.pads.ends[chain.spatial])
    return reaches_kernel(chain, front + pads if front.begins else pads)


def _never_negative(chain: Chain) -> bool:
    """Whether windows that hold a cell of data give the same with a 0 less at the border."""
    dilated = any(axis.dilation > 1 for axis in chain.axes)
    return chain.at_least is not None and chain.at_least >= 0 and not dilated


def left_alone_refusal(chain: Chain, step: PadStep) -> Skip | None:
    """Why an operator may not stop to read its Pad, which onnxruntime would then fuse wrongly.

    Into the operator itself where another Pad stands in front, or into what reads the Pad too.
    """
    if step.follows_zero and chain.op.kind in (Kind.MAX, Kind.AVERAGE):
        return Skip("a Pad that writes 0 stands in front of the Pad; onnxruntime would fuse that")
    stays_lowest = chain.fill is Implicit.LOWEST and 0 in lowest(chain.dtype)
    readers = {
        "a MaxPool reads the Pad too": step.feeds_max_pool
        and (step.feeds_wide_pool or not stays_lowest),
        "an AveragePool reads the Pad too": step.feeds_wide_pool,
        "a Conv reads the Pad as its weight": step.feeds_weight,
    }
    for what, harmed in readers.items():
        if harmed:
            return Skip(f"{what}; left alone with it, onnxruntime would fuse it wrongly")
    return None
