"""What a convolution or pool with asymmetric pads is, before a way is chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TypeAlias

from onnxpad.geometry.budgets import CONSTANT, WINDOW
from onnxpad.geometry.windows import SurplusWindows, cut_rounding_up, equal_ends
from onnxpad.padding.chain import Chain, Pads, Skip
from onnxpad.padding.effective_pads import effective_pads, floored, rounds_up, short_axis
from onnxpad.padding.expansion import Expansion, Grown, Read
from onnxpad.padding.operators import AttributeValue, Kind
from onnxpad.rewriting.steps.composer import Composer

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


def weight_refusal(chain: Chain) -> Skip | None:
    """Why taps cannot be added to the kernel."""
    if chain.op.weight is None:
        return Skip("a pool has no weights to extend")
    if chain.op.name == "DeformConv":
        return Skip("DeformConv has an offset for each tap of its kernel")
    if chain.op.channels_last:
        return Skip(f"the layout of the weight of {chain.op.name} is not documented")
    if not chain.weight.is_constant:
        return Skip("its weight is no constant of the model, sparse, or an input can replace it")
    if chain.op.quantised and not chain.weight.zero_point_is_constant:
        return Skip("the zero point of its weight is no constant of the model")
    return None


def with_taps(
    chain: Chain,
    fronts: Sequence[int],
    backs: Sequence[int],
    sets: Mapping[str, AttributeValue],
    *,
    removes: Sequence[str] = (),
    steps: Sequence[int] = (),
) -> Expansion:
    """The operator with more taps of 0, or of the zero point, around its own.

    Along each spatial axis `fronts` and `backs` taps, and the own ones `steps` apart.
    """
    weight, zero = chain.op.weight or 0, chain.op.weight_zero_point
    known = zero is not None and chain.inputs[zero : zero + 1] == (True,)
    apart = (1, 1, *steps) if steps else ()
    point = Read(zero) if known and zero else None
    taps = Grown(Read(weight), (0, 0, *fronts), (0, 0, *backs), point, apart)
    if chain.attribute("kernel_shape", ()):
        rows = zip(fronts, chain.axes, backs, steps or (1,) * chain.rank, strict=True)
        kernel = tuple(a + (axis.kernel - 1) * step + 1 + b for a, axis, b, step in rows)
        sets = {**sets, "kernel_shape": kernel}
    composer = Composer(chain.opset, chain.dtype)
    return composer.finish(composer.itself({weight: taps}, sets=sets, removes=removes))


def unsaid(chain: Chain) -> tuple[str, ...]:
    """Attributes that explicit pads make wrong or idle."""
    written = dict(chain.attributes)
    wanted = [name for name in ("ceil_mode",) if written.get(name)]
    if written.get("auto_pad", "NOTSET") != "NOTSET":
        wanted.append("auto_pad")
    return tuple(wanted)
