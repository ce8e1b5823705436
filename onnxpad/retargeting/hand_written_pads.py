"""A padded operator with the padding that somebody wrote in front of it by hand."""

from __future__ import annotations

from dataclasses import replace

from onnxpad.padding.chain import Chain, PadStep, Skip
from onnxpad.padding.effective_pads import axes_in_front, effective_pads, rounds_up
from onnxpad.padding.fills import Constant, Implicit, TensorValue, number_of
from onnxpad.padding.operators import Kind

_MIRRORS = frozenset({"edge", "reflect"})


def without_hand(chain: Chain) -> Chain | Skip:
    """The chain with the Pad in front counted as the operator's own padding.

    That holds for a Pad over spatial axes that writes 0 (before max pools as well, where it is
    no padding, and before averages, which count it), the operator's own fill, or before max
    pools a mirrored edge. Any other Pad is data and stays. A Skip where the Pad is computed, or
    where auto_pad behind it needs a size.
    """
    step = chain.pad
    if step is None or chain.op.kind is Kind.TRANSPOSED:
        return chain
    if step.unclear:
        return Skip(f"{step.unclear.reason}; a plan can take it away")
    if not is_by_hand(chain, step):
        return chain
    own = effective_pads(chain)
    if isinstance(own, Skip):
        return own
    front = chain.inner(step.pads)
    average = chain.op.kind is Kind.AVERAGE
    if average and any(own.flat) and not chain.counts_padding and any(front.flat):
        return Skip("its average counts the cells of the Pad in front, but not its own padding")
    counts = chain.counts_padding or (average and any(front.flat))
    return replace(
        chain.with_padding(own + front),
        axes=axes_in_front(chain, front),
        pad=None,
        ceil_mode=rounds_up(chain),
        fill=Constant(0) if average and counts else chain.fill,
    )


def without_pad(chain: Chain) -> Chain:
    """The operator as it would be without the Pad in front."""
    step = chain.pad
    if step is None:
        return chain
    if step.unclear:
        return replace(chain, pad=None, axes=tuple(a._replace(size=None) for a in chain.axes))
    return replace(chain, pad=None, axes=axes_in_front(chain, chain.inner(step.pads)))


def counting(chain: Chain, *, counts: bool) -> Chain:
    """The average with padding that it counts, or does not."""
    same = counts == chain.counts_padding
    return chain if same else replace(chain, fill=Constant(0) if counts else Implicit.NOTHING)


def is_by_hand(chain: Chain, step: PadStep) -> bool:
    """Whether a Pad is padding of the operator behind it rather than data."""
    if any(map(any, chain.outer(step.pads))) or min(step.pads.flat) < 0:
        return False
    if chain.is_max and step.mode in _MIRRORS:
        return True
    if step.mode != "constant":
        return False
    if isinstance(chain.fill, TensorValue):
        return step.fill == chain.fill or number_of(step.fill) == chain.fill.value
    if chain.fill is Implicit.LOWEST:
        return True
    return number_of(step.fill) == 0
