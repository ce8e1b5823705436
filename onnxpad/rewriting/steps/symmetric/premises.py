"""What a convolution or pool with asymmetric pads is, before a way is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import TypeAlias

from onnxpad.geometry.budgets import CONSTANT, WINDOW
from onnxpad.geometry.windows import SurplusWindows, cut_rounding_up, equal_ends
from onnxpad.padding.chain import Chain, Pads, Skip
from onnxpad.padding.effective_pads import effective_pads, floored, rounds_up, short_axis
from onnxpad.padding.expansion import Expansion
from onnxpad.padding.operators import Kind

_MOST_GROWTH = 16


Way: TypeAlias = Chain | Expansion
"""What takes the place of a chain."""


def asymmetric(chain: Chain) -> Pads | Skip:
    """The effective pads where they differ between begin and end and can be worked on."""
    if chain.op.kind in (Kind.PAD, Kind.OTHER):
        return Skip("no convolution or pool", moot=True)
    pads = effective_pads(chain)
    if isinstance(pads, Skip):
        return pads
    if pads.begins == pads.ends:
        return Skip("begin and end pads are equal", moot=True)
    if chain.op.kind is Kind.FOLD:
        return Skip("its pads crop the folded image", ("--pass plain-col2im",))
    if chain.op.name == "MaxpoolWithMask":
        return Skip("MaxpoolWithMask has an input that depends on its own padding")
    if any(pad < 0 for pad in pads.flat):
        return Skip(f"the pads {list(pads.flat)} are negative, onnxruntime and the checker refuse")
    return short_axis(chain, pads) or pads


def free(chain: Chain, pads: Pads) -> list[Way]:
    """Symmetric pads that give the very same windows, where there are some."""
    own = Pads(pads.begins, pads.begins)
    if _ends_may_be_equal(chain, pads):
        return [replace(chain.with_padding(own), ceil_mode=False)]
    cuts = cuts_rounding_up(chain, pads)
    if cuts and not any(one.first or one.beyond for one in cuts):
        return [chain.with_padding(own)]
    return []


def _ends_may_be_equal(chain: Chain, pads: Pads) -> bool:
    """Whether the end pads may be the begin pads, without ceil_mode."""
    wider = floored(chain, pads)
    if isinstance(wider, Skip):
        return False
    sides = chain.sides(wider)
    ranges = [equal_ends(axis, begin, end) for axis, begin, end in sides]
    return all(low <= begin <= high for (low, high), begin in zip(ranges, pads.begins, strict=True))


def cuts_rounding_up(chain: Chain, pads: Pads) -> list[SurplusWindows]:
    """Symmetric pads that leave ceil_mode as it is, and what is cut behind them; [] for none."""
    if not rounds_up(chain):
        return []
    counts = chain.op.kind is Kind.AVERAGE and chain.counts_padding
    sides = chain.sides(pads)
    found = [cut_rounding_up(axis, begin, end, counts=counts) for axis, begin, end in sides]
    cuts = [one for one in found if one is not None]
    return cuts if len(cuts) == len(found) else []


def kernel_refusal(chain: Chain, kernel: Sequence[int]) -> Skip | None:
    """Why the weight cannot be written with a kernel of this size."""
    spans = [axis.dilation * (taps - 1) + 1 for axis, taps in zip(chain.axes, kernel, strict=True)]
    if max(spans) > WINDOW.most:
        return Skip(WINDOW.reason(f"its window would span {max(spans):,}"))
    sizes = (chain.weight.shape or ())[:2]
    filters = prod(size for size in sizes if isinstance(size, int))
    old = filters * prod(axis.kernel for axis in chain.axes)
    new = filters * prod(kernel)
    if new > max(CONSTANT.most, _MOST_GROWTH * old):
        return Skip(CONSTANT.reason(f"its weight would grow to {new:,}"))
    return None


def unsaid(chain: Chain) -> tuple[str, ...]:
    """Attributes that explicit pads make wrong or idle."""
    written = dict(chain.attributes)
    wanted = [name for name in ("ceil_mode",) if written.get(name)]
    if written.get("auto_pad", "NOTSET") != "NOTSET":
        wanted.append("auto_pad")
    return tuple(wanted)
