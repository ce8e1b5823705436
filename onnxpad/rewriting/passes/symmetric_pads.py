"""Make asymmetric pads symmetric, in the cheapest exact way.

What: begin and end pads that differ become equal pads. Where that gives other windows, a Slice
drops them; else the kernel gets taps of 0 (integer kernels their zero point) on the side with the
smaller pad; else a Pad node adds the difference. Transposed convolutions get output_padding first.
symmetric-pads-by-slice, symmetric-pads-by-kernel and symmetric-pads-by-pad are these ways without
the choice. Many runtimes read one pad for both sides of an axis, cuDNN among them.

Exact: for every size of the input; auto_pad counts as the pads that it stands for. New taps add 0
times a cell: nothing, unless the cell is infinite or not a number. Behind a Pad max pools agree up
to NaN, and up to -inf against the lowest finite float where a window holds padding alone.

Refuses: where none of the ways is exact, with the reason of each. By a Slice: sizes that decide how
many windows there are to drop, pads that would reach the kernel of a pool, operators with other
inputs of the output's size. By the kernel: pads that do not differ by a multiple of the dilation,
weights that are no constants, pools. By a Pad: as split-pads. A Pad node in front whose begin and
end differ is left alone and named: absorb-pad makes it the operator's own padding.

Cost: nothing where equal pads give the same windows, otherwise the windows that are dropped and a
copy of the output, the new taps, or a Pad node and a copy of the input.

Example: Conv k3 s2 pads=[1, 0] on 6 cells becomes pads=[1, 1], which gives the same windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from onnxpad.geometry.windows import (
    Axis,
    SurplusWindows,
    cut,
    equal_crop,
    equal_ends,
    growth,
    inner_extra,
    taps_around,
)
from onnxpad.padding.chain import Chain, NewPad, Pads, PassResult, Skip
from onnxpad.padding.effective_pads import (
    axes_behind,
    effective_pads,
    floored,
    missing_sizes,
    short_axis,
)
from onnxpad.padding.expansion import Expansion, Made
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.passes import Way
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.kernels import require_kernel, require_weight, unsaid, with_taps
from onnxpad.rewriting.steps.pads import new_pad, pad_value, require_pad
from onnxpad.rewriting.steps.refusals import (
    attempted,
    known,
    refuse,
    require,
    require_pads,
)
from onnxpad.rewriting.steps.transposed import Crop, cropped, grown, standard_crop, with_crop

REMOVES = {Form.ASYMMETRIC}
MAY_REMOVE = {Form.AUTO_PAD, Form.CEIL_MODE, Form.OUTPUT_SHAPE}
ADDS = {
    Form.AUTO_PAD,
    Form.COUNTS_PADDING,
    Form.IGNORES_PADDING,
    Form.OUTPUT_PADDING,
    Form.PADS,
    Form.PAD_NODE,
    Form.PAD_VALUE,
    Form.WIDER_THAN_KERNEL,
}


def rewrite(chain: Chain) -> Sequence[PassResult]:
    """Equal begin and end pads in every way there is, and why there are no more.

    What takes no other operator or tap comes first.
    """
    ways, refusals = list[Written](), dict[str, Skip]()
    for name, way in _NAMED.items():
        if way is not by_output_padding or chain.op.kind is Kind.TRANSPOSED:
            made = attempted(way, chain)
            if isinstance(made, Skip):
                refusals[name] = made
            else:
                ways += made
    if ways:
        return [*sorted(ways, key=lambda one: not _is_free(one)), _joined(refusals)]
    first = next(iter(refusals.values()))
    if first.moot and _follows_uneven_pad(chain):
        return [_about_pad(chain)]
    if first.moot or len({skip.reason for skip in refusals.values()}) == 1:
        return [first]
    none = _joined(refusals)
    return [replace(none, reason=f"no way is exact: {none.reason}")]


def _is_free(way: Written) -> bool:
    """Whether it adds no work: other numbers of the operator are all there is to it."""
    return isinstance(way, Chain) and not isinstance(way.pad, NewPad)


def _joined(refusals: dict[str, Skip]) -> Skip:
    reasons = "; ".join(f"by {name}: {skip.reason}" for name, skip in refusals.items())
    hints = dict.fromkeys(hint for skip in refusals.values() for hint in skip.hints)
    return Skip(reasons, tuple(hint for hint in hints if "symmetric-pads" not in hint))


def _follows_uneven_pad(chain: Chain) -> bool:
    """Whether a Pad node in front of the operator pads one side more than the other."""
    step = chain.pad
    if step is None or chain.op.kind is Kind.PAD or step.unclear or step.mode != "constant":
        return False
    return step.pads.begins[chain.spatial] != step.pads.ends[chain.spatial]


def _about_pad(chain: Chain) -> Skip:
    pads = () if chain.pad is None else chain.pad.pads.flat
    return Skip(
        f"its pads are equal, but not those of the Pad node in front of it: {list(pads)}",
        ("--pass absorb-pad --pass symmetric-pads",),
        moot=True,
        noted=True,
    )


Written: TypeAlias = Chain | Expansion
_EQUAL = "begin and end pads are equal"


def by_output_padding(chain: Chain) -> list[Written]:
    """A wider end pad, and output_padding that gives the cells back."""
    crop = _uneven_crop(chain)
    own = crop.pads.begins
    extras = [equal_crop(*side, extra) for side, extra in _crops(chain, crop)]
    if None in extras:
        refuse("no output_padding below the stride makes up for the difference of its pads")
    return [with_crop(chain, Crop(Pads(own, own), tuple(one for one in extras if one is not None)))]


def by_slice(chain: Chain) -> list[Written]:
    """Wider pads, and a Slice that drops the windows that come on top.

    A transposed convolution crops the smaller of its pads on both sides.
    """
    if chain.op.kind is Kind.TRANSPOSED:
        crop = _uneven_crop(chain)
        own = tuple(map(min, crop.pads.begins, crop.pads.ends))
        extra = tuple(map(inner_extra, crop.pads.ends, crop.extra, own))
        return [cropped(chain, Crop(Pads(own, own), extra), crop)]
    pads = _uneven(chain)
    ways = _free(chain, pads)
    if chain.op.name == "DeformConv":
        return ways or refuse(
            "DeformConv has an offset for each cell of its output, which would grow"
        )
    added = chain.op.added
    if added is not None and chain.inputs[added : added + 1] == (True,):
        return ways or refuse("it adds a tensor to its output, which would grow")
    cuts = attempted(_cuts, chain, pads)
    if isinstance(cuts, Skip):
        return ways or known(cuts)
    return [*ways, _sliced(chain, cuts)]


def by_kernel(chain: Chain) -> list[Written]:
    """A kernel with more taps of 0, or of its zero point, in front or at the back."""
    if chain.op.kind is Kind.TRANSPOSED:
        crop = _uneven_crop(chain)
        around = [taps_around(*side, extra) for side, extra in _crops(chain, crop)]
        taps = [one for one in around if one is not None]
        _require_multiples(chain, crop.pads, around)
        own = tuple(one.pad for one in taps)
        return [grown(chain, Crop(Pads(own, own), tuple(one.extra for one in taps)), taps)]
    pads = _uneven(chain)
    if ways := _free(chain, pads):
        return ways
    require_weight(chain)
    grows = [growth(axis, begin, end) for axis, begin, end in chain.sides(pads)]
    _require_multiples(chain, pads, grows)
    more = [one for one in grows if one is not None]
    own = tuple(one.pad for one in more)
    fronts, backs = [one.front for one in more], [one.back for one in more]
    require_kernel(chain, fronts, backs)
    return [with_taps(chain, fronts, backs, {"pads": own + own}, removes=unsaid(chain))]


def by_pad(chain: Chain) -> list[Written]:
    """A Pad node in front that adds the difference of begin and end pads, or all of them."""
    if chain.op.kind is Kind.TRANSPOSED:
        _uneven_crop(chain)
        reason = "the pads of a transposed convolution crop its output, a Pad node cannot"
        refuse(reason, "--pass symmetric-pads-by-slice")
    pads = _uneven(chain)
    ways = _free(chain, pads)
    added = attempted(_behind_pads, chain, pads)
    if isinstance(added, Skip):
        return ways or known(added)
    return ways + added


def _behind_pads(chain: Chain, pads: Pads) -> list[Written]:
    """The operator behind Pads: with what is equal itself, or with nothing."""
    if chain.uses_indices:
        reason = "its Indices are used and would count the padded cells"
        refuse(reason, "--pass symmetric-pads-by-slice")
    fill = pad_value(chain)
    require_pad(chain, pads)
    wider = known(floored(chain, pads))
    plain = replace(chain, ceil_mode=False)
    return [
        replace(
            plain.with_padding(own), axes=axes_behind(chain, rest), pad=new_pad(chain, rest, fill)
        )
        for own, rest in (_difference(chain, wider), (Pads.zero(chain.rank), wider))
    ]


def _uneven(chain: Chain) -> Pads:
    """The effective pads where they differ between begin and end and can be worked on."""
    require(chain.op.kind not in (Kind.PAD, Kind.OTHER), "no convolution or pool", moot=True)
    pads = known(effective_pads(chain))
    require(pads.begins != pads.ends, _EQUAL, moot=True)
    if chain.op.kind is Kind.FOLD:
        refuse("its pads crop the folded image", "--pass plain-col2im")
    if chain.op.name == "MaxpoolWithMask":
        refuse("MaxpoolWithMask has an input that depends on its own padding")
    require_pads(pads)
    known(short_axis(chain, pads))
    return pads


def _uneven_crop(chain: Chain) -> Crop:
    crop = standard_crop(chain)
    require(crop.pads.begins != crop.pads.ends, _EQUAL, moot=True)
    return crop


def _crops(chain: Chain, crop: Crop) -> list[tuple[tuple[Axis, int, int], int]]:
    return list(zip(chain.sides(crop.pads), crop.extra, strict=True))


def _require_multiples(chain: Chain, pads: Pads, taps: Sequence[object]) -> None:
    """Leave alone an axis along which no number of taps makes its pads equal."""
    for (axis, begin, end), one in zip(chain.sides(pads), taps, strict=True):
        if one is None:
            refuse(
                f"begin and end pads {begin},{end} do not differ by a multiple of the dilation "
                f"{axis.dilation}"
            )


def _free(chain: Chain, pads: Pads) -> list[Written]:
    """Symmetric pads that give the very same windows, where there are some."""
    own = Pads(pads.begins, pads.begins)
    wider = floored(chain, pads)
    if not isinstance(wider, Skip):
        ranges = [equal_ends(axis, begin, end) for axis, begin, end in chain.sides(wider)]
        if all(low <= one <= high for (low, high), one in zip(ranges, pads.begins, strict=True)):
            return [replace(chain.with_padding(own), ceil_mode=False)]
    return []


def _cuts(chain: Chain, pads: Pads) -> list[SurplusWindows]:
    """What to cut on each axis behind symmetric pads, without ceil_mode."""
    cuts = [cut(axis, begin, end) for axis, begin, end in chain.sides(known(floored(chain, pads)))]
    if unknown := [index for index, one in enumerate(cuts) if one is None]:
        known(missing_sizes(chain, "a Slice behind symmetric pads", unknown))
    return [one for one in cuts if one is not None]


def _sliced(chain: Chain, cuts: list[SurplusWindows]) -> Written:
    own = tuple(one.pad for one in cuts)
    rest = Pads(tuple(one.first for one in cuts), tuple(one.beyond for one in cuts))
    composer = Composer(chain.opset, chain.dtype)
    whole = composer.itself(sets={"pads": own + own}, removes=unsaid(chain))
    results = [composer.cut(whole, rest, chain.first_axis)]
    if chain.uses_indices:
        indices = Made(whole.step, 1)
        results.append(composer.cut(indices, rest, chain.first_axis, role="crop_indices"))
    return composer.finish(*results)


def _difference(chain: Chain, pads: Pads) -> tuple[Pads, Pads]:
    """Symmetric pads, and what is left to a Pad node."""
    kept, rest = list[int](), list[tuple[int, int]]()
    for axis, begin, end in chain.sides(pads):
        low, high = equal_ends(axis, begin, end)
        nearest = min(max(begin, low), high)
        kept.append(min(begin, nearest))
        rest.append((begin - kept[-1], nearest - kept[-1]))
    return Pads(tuple(kept), tuple(kept)), Pads.of(rest)


WAYS = {
    "symmetric-pads-by-slice": Way(
        "Make asymmetric pads symmetric with a Slice behind the operator.", by_slice
    ),
    "symmetric-pads-by-kernel": Way(
        "Make asymmetric pads symmetric with a kernel that has more taps of 0.", by_kernel
    ),
    "symmetric-pads-by-pad": Way(
        "Make asymmetric pads symmetric with a Pad node that adds the difference.", by_pad
    ),
}
_NAMED = {
    "a Slice": by_slice,
    "the kernel": by_kernel,
    "a Pad": by_pad,
    "output_padding": by_output_padding,
}
