"""New Pad nodes in front of an operator: their value, and what onnxruntime would make of them."""

from __future__ import annotations

from onnxpad.chain import AutoPad, Chain, Pads, PadStep, Skip
from onnxpad.effective import same_windows_when_padded
from onnxpad.fills import Constant, Fill, Implicit, lowest
from onnxpad.forms import reaches_kernel

_PAD_HAS_ITS_VALUE_AS_INPUT = 11


def pad_value(chain: Chain) -> Fill | Skip:
    """What a Pad node has to write so that it does what the operator's own padding does."""
    fill = chain.fill
    if fill is Implicit.NOTHING:
        return Skip(
            "the average does not count padded cells, it would count those of a Pad node",
            ("--pass uncounted-padding",),
        )
    if fill is Implicit.PER_CHANNEL:
        return Skip("the zero point has one value per channel, a Pad node writes one for all")
    if fill is Implicit.LOWEST:
        values = lowest(chain.dtype)
        if not values:
            return Skip(f"the lowest value of type '{chain.dtype or 'unknown'}' is not known")
        fill = Constant(values[0])
    if chain.opset < _PAD_HAS_ITS_VALUE_AS_INPUT and (chain.op.quantised or "int" in chain.dtype):
        return Skip(f"Pad of opset {chain.opset} takes no integers")
    return fill


def pad_refusal(chain: Chain, pads: Pads) -> Skip | None:
    """Why the operator's own padding cannot become a Pad node, whatever that would write."""
    if not chain.opset:
        return Skip("no version of the ONNX operators is imported, so it can have no Pad")
    if chain.weight_is_padded and isinstance(chain.padding, AutoPad):
        return Skip("its auto_pad keeps onnxruntime from fusing the Pad of its weight, wrongly")
    if any(pad < 0 for pad in pads.flat):
        return Skip(f"the pads {list(pads.flat)} are negative, onnxruntime and the checker refuse")
    return None


def ceil_refusal(chain: Chain, pads: Pads, kept: Pads | None = None) -> Skip | None:
    """Why a pool with ceil_mode cannot have `pads`, but for `kept`, in a Pad node."""
    moved = pads if kept is None else pads + Pads(_minus(kept.begins), _minus(kept.ends))
    if not same_windows_when_padded(chain, moved, kept):
        return Skip("ceil_mode drops its last window over padding; behind a Pad node it may not")
    if reaches_kernel(chain, pads):
        return Skip(f"the pads {list(pads.flat)} reach the kernel and ceil_mode is set")
    if chain.pad_in_reach is not None:
        return Skip("ceil_mode is set and another Pad stands in front")
    return None


def by_a_pad_node(chain: Chain) -> str:
    """What to try for pads that only a Pad node can hold."""
    uncounted = chain.fill is Implicit.NOTHING
    return f"--pass {'uncounted-padding' if uncounted else 'split-pads'}"


def needs_valid(chain: Chain, pads: Pads, fill: Fill) -> bool:
    """Whether a pool behind a new Pad must say auto_pad=VALID to be left alone by onnxruntime.

    It fuses Pads with 0 into a pool one after the other, past its own limit.
    """
    fused = chain.op.is_pool and fill == Constant(0)
    return fused and (reaches_kernel(chain, pads) or chain.pad_in_reach is not None)


def new_pad(chain: Chain, pads: Pads, fill: Fill) -> PadStep:
    """A Pad over all axes of the input that pads the spatial ones."""
    return PadStep(full_pads(chain, pads), fill, is_new=True)


def full_pads(chain: Chain, pads: Pads) -> Pads:
    """Pads over the spatial axes as a Pad node lists them, over all axes."""
    ahead, behind = (0,) * chain.first_axis, (0,) * (2 - chain.first_axis)
    return Pads(ahead + pads.begins + behind, ahead + pads.ends + behind)


def _minus(pads: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(-pad for pad in pads)
