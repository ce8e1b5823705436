"""What a convolution or pool with asymmetric pads is, before a way is chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from onnxpad.chain import AutoPad, Chain, Pads, Skip
from onnxpad.costs import Cost
from onnxpad.effective import effective_pads, short_axis
from onnxpad.expansion import Expansion
from onnxpad.forms import reaches_kernel
from onnxpad.fusion import auto_pad_stops_fusion, fuses_worse
from onnxpad.geometry.rounding import overhang
from onnxpad.geometry.symmetric import equal_ends
from onnxpad.ops import Kind


class Way(NamedTuple):
    """What takes the place of a chain, and what that adds to the work of the model."""

    verdict: Chain | Expansion
    cost: Cost


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
    if chain.weight_is_padded and isinstance(chain.padding, AutoPad):
        return Skip("its auto_pad keeps onnxruntime from fusing the Pad of its weight, wrongly")
    return short_axis(chain, pads) or pads


def floored(chain: Chain, pads: Pads) -> Pads | Skip:
    """Pads that give the same windows without ceil_mode."""
    if not chain.ceil_mode or chain.padding in (AutoPad.SAME_UPPER, AutoPad.SAME_LOWER):
        return pads
    sides = list(zip(chain.axes, pads.begins, pads.ends, strict=True))
    if any(end >= axis.span for axis, _, end in sides):
        return Skip(f"the pads {list(pads.flat)} reach the window and ceil_mode is set")
    extra = [overhang(axis, begin, end) for axis, begin, end in sides]
    if any(extra) and chain.counts_padding:
        return Skip("the average counts its padding, but not the cells that its last window lacks")
    return Pads(pads.begins, tuple(e + more for e, more in zip(pads.ends, extra, strict=True)))


def pool_refusal(chain: Chain, pads: Pads, own: Pads) -> Skip | None:
    """Why a pool that has `pads` cannot have `own` instead."""
    if not chain.op.is_pool:
        return None
    if reaches_kernel(chain, own):
        return Skip(
            f"symmetric pads {list(own.flat)} reach the kernel, which onnxruntime refuses in a pool"
        )
    shielded = isinstance(chain.padding, AutoPad) and auto_pad_stops_fusion(chain, own)
    if shielded or fuses_worse(chain, pads, chain, own):
        return Skip(
            "onnxruntime would fuse the Pad in front of it wrongly into symmetric pads",
            ("--pass absorb-pad",),
        )
    return None


def free(chain: Chain, pads: Pads) -> Way | None:
    """Symmetric pads that give the very same windows, where there are some."""
    wider = floored(chain, pads)
    if isinstance(wider, Skip):
        return None
    for axis, begin, end in zip(chain.axes, wider.begins, wider.ends, strict=True):
        low, high = equal_ends(axis, begin, end)
        if not low <= begin <= high:
            return None
    own = Pads(pads.begins, pads.begins)
    if pool_refusal(chain, pads, own):
        return None
    return Way(replace(chain, padding=own, ceil_mode=False, ambiguous=False), Cost())


def unsaid(chain: Chain) -> tuple[str, ...]:
    """Attributes that explicit pads make wrong or idle."""
    written = dict(chain.attributes)
    wanted = [name for name in ("ceil_mode",) if written.get(name)]
    if written.get("auto_pad", "NOTSET") != "NOTSET":
        wanted.append("auto_pad")
    return tuple(wanted)
