"""Equal begin and end pads for convolutions and pools, in three ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onnxpad.geometry.windows import SurplusWindows, cut, equal_ends, growth
from onnxpad.padding.chain import Chain, Pads, Skip
from onnxpad.padding.effective_pads import axes_behind, floored, missing_sizes, rounds_up
from onnxpad.padding.expansion import Made
from onnxpad.padding.fills import Fill
from onnxpad.rewriting.steps.composer import LAST, Composer
from onnxpad.rewriting.steps.pads import ceil_refusal, new_pad, pad_refusal, pad_value
from onnxpad.rewriting.steps.symmetric.premises import (
    Way,
    asymmetric,
    cuts_rounding_up,
    free,
    kernel_refusal,
    unsaid,
    weight_refusal,
    with_taps,
)


def by_slice(chain: Chain) -> list[Way] | Skip:
    """Wider pads, and a Slice that drops the windows that come on top."""
    pads = asymmetric(chain)
    if isinstance(pads, Skip):
        return pads
    found = free(chain, pads)
    if chain.op.name == "DeformConv":
        return found or Skip(
            "DeformConv has an offset for each cell of its output, which would grow"
        )
    added = chain.op.added
    if added is not None and chain.inputs[added : added + 1] == (True,):
        return found or Skip("it adds a tensor to its output, which would grow")
    cuts = _cuts(chain, pads)
    if not isinstance(cuts, Skip):
        found.append(_sliced(chain, cuts, removes=unsaid(chain)))
    if rounding := cuts_rounding_up(chain, pads):
        found.append(_sliced(chain, rounding, removes=()))
    return cuts if isinstance(cuts, Skip) and not found else found


def by_kernel(chain: Chain) -> list[Way] | Skip:
    """A kernel with more taps of 0, or of its zero point, in front or at the back."""
    pads = asymmetric(chain)
    if isinstance(pads, Skip):
        return pads
    if found := free(chain, pads):
        return found
    if refusal := weight_refusal(chain):
        return refusal
    sides = chain.sides(pads)
    taps = [growth(axis, begin, end) for axis, begin, end in sides]
    growths = [one for one in taps if one is not None]
    if len(growths) < len(taps):
        axis, begin, end = sides[taps.index(None)]
        return Skip(
            f"begin and end pads {begin},{end} do not differ by a multiple of the dilation "
            f"{axis.dilation}"
        )
    kernel = tuple(a.kernel + g.front + g.back for a, g in zip(chain.axes, growths, strict=True))
    own = tuple(one.pad for one in growths)
    fronts, backs = [one.front for one in growths], [one.back for one in growths]
    if refusal := kernel_refusal(chain, kernel):
        return refusal
    return [with_taps(chain, fronts, backs, {"pads": own + own}, removes=unsaid(chain))]


def by_pad(chain: Chain) -> list[Way] | Skip:
    """A Pad node in front that adds the difference of begin and end pads, or all of them."""
    pads = asymmetric(chain)
    if isinstance(pads, Skip):
        return pads
    found = free(chain, pads)
    if chain.uses_indices:
        hints = ("--pass symmetric-pads-by-slice", "--pass split-pads")
        return found or Skip("its Indices are used and would count the padded cells", hints)
    fill = pad_value(chain)
    refusal = pad_refusal(chain, pads)
    if refusal or isinstance(fill, Skip):
        return found or refusal or fill  # type: ignore[return-value]
    wider = floored(chain, pads)
    for all_pads, rounds in ((pads, True),) * rounds_up(chain) + ((wider, False),):
        if isinstance(all_pads, Skip):
            continue
        kept, moved = _difference(chain, all_pads, rounds=rounds)
        none = Pads.zero(chain.rank)
        for own, rest in ((kept, moved), (none, all_pads)):
            refusal = ceil_refusal(chain, rest, own) if rounds else None
            if not refusal:
                found.append(_behind(chain, own, rest, fill, rounds=rounds))
    return found or refusal or wider  # type: ignore[return-value]


def _behind(chain: Chain, padding: Pads, moved: Pads, fill: Fill, *, rounds: bool) -> Way:
    """The operator with the pads `padding` behind a new Pad."""
    return replace(
        chain.with_padding(padding),
        axes=axes_behind(chain, moved),
        ceil_mode=rounds,
        pad=new_pad(chain, moved, fill),
    )


def _cuts(chain: Chain, pads: Pads) -> list[SurplusWindows] | Skip:
    """What to cut on each axis behind symmetric pads, without ceil_mode."""
    wider = floored(chain, pads)
    if isinstance(wider, Skip):
        return wider
    sides = chain.sides(wider)
    found = [cut(axis, begin, end) for axis, begin, end in sides]
    cuts = [one for one in found if one is not None]
    if len(cuts) < len(found):
        unknown = [index for index, one in enumerate(found) if one is None]
        return missing_sizes(chain, "a Slice behind symmetric pads", unknown)
    return cuts


def _sliced(chain: Chain, cuts: list[SurplusWindows], removes: Sequence[str]) -> Way:
    own = tuple(one.pad for one in cuts)
    short = [index for index, one in enumerate(cuts) if one.first or one.beyond]
    composer = Composer(chain.opset, chain.dtype)
    whole = composer.itself(sets={"pads": own + own}, removes=removes)
    axes = [chain.first_axis + index for index in short]
    starts = [cuts[index].first for index in short]
    ends = [-cuts[index].beyond or LAST for index in short]
    results = [composer.slice(whole, axes, starts, ends)]
    if chain.uses_indices:
        indices = Made(whole.step, 1)
        results.append(composer.slice(indices, axes, starts, ends, role="crop_indices"))
    return composer.finish(*results)


def _difference(chain: Chain, pads: Pads, *, rounds: bool) -> tuple[Pads, Pads]:
    """Symmetric pads, and what is left to a Pad node."""
    kept, begins, ends = [], [], []
    for axis, begin, end in chain.sides(pads):
        low, high = (end, end) if rounds else equal_ends(axis, begin, end)
        nearest = min(max(begin, low), high)
        kept.append(min(begin, nearest))
        begins.append(begin - kept[-1])
        ends.append(nearest - kept[-1])
    return Pads(tuple(kept), tuple(kept)), Pads(tuple(begins), tuple(ends))
