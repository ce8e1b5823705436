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
many windows there are to drop, pads that would reach the kernel of a pool, DeformConv. By the
kernel: pads that do not differ by a multiple of the dilation, weights that are no constants, pools.
By a Pad: as split-pads. A Pad node in front whose begin and end differ is left alone: absorb-pad
makes it the operator's own padding.

Cost: nothing where equal pads give the same windows, otherwise the windows that are dropped and a
copy of the output, the new taps, or a Pad node and a copy of the input.

Example: Conv k3 s2 pads=[1, 0] on 6 cells becomes pads=[1, 1], which gives the same windows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from onnxpad.geometry.windows import (
    Taps,
    cut,
    equal_crop,
    equal_ends,
    growth,
    inner_extra,
    taps_around,
)
from onnxpad.padding.chain import Chain, Pads, PassResult, Skip
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
from onnxpad.rewriting.passes import Rewrite, Way
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

Written: TypeAlias = Chain | Expansion
_EQUAL = "begin and end pads are equal"


def _by(*names: str) -> Rewrite:
    """The pass that tries these ways, and says why there are no more; the free ones come first."""

    def rewrite(chain: Chain) -> Sequence[PassResult]:
        require(chain.op.kind not in (Kind.PAD, Kind.OTHER), "no convolution or pool", moot=True)
        if chain.op.kind is Kind.TRANSPOSED:
            crop = standard_crop(chain)
            require(crop.pads.begins != crop.pads.ends, _EQUAL, moot=True)
            done = {name: attempted(_OF_CROPS[name], chain, crop) for name in names}
            free = list[Written]()
        else:
            pads = _uneven(chain)
            ways = {name: _OF_WINDOWS[name] for name in names if name in _OF_WINDOWS}
            free = _free(chain, pads)
            done = {name: attempted(way, chain, pads) for name, way in ways.items()}
        written = [way for ways in done.values() if not isinstance(ways, Skip) for way in ways]
        skips = {name: skip for name, skip in done.items() if isinstance(skip, Skip)}
        return [*free, *written, *([_joined(skips)] if skips else [])]

    return rewrite


def _joined(skips: Mapping[str, Skip]) -> Skip:
    """Why each way is none; one reason alone stays as it is."""
    if len({skip.reason for skip in skips.values()}) == 1:
        return next(iter(skips.values()))
    reasons = "; ".join(f"by {name}: {skip.reason}" for name, skip in skips.items())
    hints = dict.fromkeys(hint for skip in skips.values() for hint in skip.hints)
    return Skip(reasons, tuple(hint for hint in hints if "symmetric-pads" not in hint))


def _uneven(chain: Chain) -> Pads:
    """The effective pads where they differ between begin and end and can be worked on."""
    pads = known(effective_pads(chain))
    require(pads.begins != pads.ends, _EQUAL, moot=True)
    require_pads(pads)
    known(short_axis(chain, pads))
    return pads


def _free(chain: Chain, pads: Pads) -> list[Written]:
    """Symmetric pads that give the very same windows, where there are some."""
    own = Pads(pads.begins, pads.begins)
    wider = floored(chain, pads)
    if not isinstance(wider, Skip):
        ranges = [equal_ends(axis, begin, end) for axis, begin, end in chain.sides(wider)]
        if all(low <= one <= high for (low, high), one in zip(ranges, pads.begins, strict=True)):
            return [replace(chain.with_padding(own), ceil_mode=False)]
    return []


def _sliced(chain: Chain, pads: Pads) -> list[Written]:
    """Wider pads, and a Slice that drops the windows that come on top."""
    if chain.op.name == "DeformConv":
        refuse("DeformConv has an offset for each cell of its output, which would grow")
    cuts = [cut(*side) for side in chain.sides(known(floored(chain, pads)))]
    if unknown := [index for index, one in enumerate(cuts) if one is None]:
        known(missing_sizes(chain, "a Slice behind symmetric pads", unknown))
    surplus = [one for one in cuts if one is not None]
    own = tuple(one.pad for one in surplus)
    rest = Pads(tuple(one.first for one in surplus), tuple(one.beyond for one in surplus))
    composer = Composer(chain.opset, chain.dtype)
    whole = composer.itself(sets={"pads": own + own}, removes=unsaid(chain))
    results = [composer.cut(whole, rest, chain.first_axis)]
    if chain.uses_indices:
        indices = Made(whole.step, 1)
        results.append(composer.cut(indices, rest, chain.first_axis, role="crop_indices"))
    return [composer.finish(*results)]


def _with_wider_kernel(chain: Chain, pads: Pads) -> list[Written]:
    """A kernel with more taps of 0, or of its zero point, in front or at the back."""
    require_weight(chain)
    grows = _multiples(chain, pads, [growth(*side) for side in chain.sides(pads)])
    own = tuple(one.pad for one in grows)
    fronts, backs = [one.front for one in grows], [one.back for one in grows]
    require_kernel(chain, fronts, backs)
    return [with_taps(chain, fronts, backs, {"pads": own + own}, removes=unsaid(chain))]


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


def _difference(chain: Chain, pads: Pads) -> tuple[Pads, Pads]:
    """Symmetric pads, and what is left to a Pad node."""
    kept, rest = list[int](), list[tuple[int, int]]()
    for axis, begin, end in chain.sides(pads):
        low, high = equal_ends(axis, begin, end)
        nearest = min(max(begin, low), high)
        kept.append(min(begin, nearest))
        rest.append((begin - kept[-1], nearest - kept[-1]))
    return Pads(tuple(kept), tuple(kept)), Pads.of(rest)


def _given_back(chain: Chain, crop: Crop) -> list[Written]:
    """A wider end pad, and output_padding that gives the cells back."""
    own, sides = crop.pads.begins, zip(chain.sides(crop.pads), crop.extra, strict=True)
    extras = [equal_crop(*side, extra) for side, extra in sides]
    if None in extras:
        refuse("no output_padding below the stride makes up for the difference of its pads")
    return [with_crop(chain, Crop(Pads(own, own), tuple(one for one in extras if one is not None)))]


def _crop_sliced(chain: Chain, crop: Crop) -> list[Written]:
    """The smaller of the pads on both sides, and a Slice."""
    own = tuple(map(min, crop.pads.begins, crop.pads.ends))
    extra = tuple(map(inner_extra, crop.pads.ends, crop.extra, own))
    return [cropped(chain, Crop(Pads(own, own), extra), crop)]


def _crop_with_taps(chain: Chain, crop: Crop) -> list[Written]:
    """A kernel with more taps of 0."""
    sides = zip(chain.sides(crop.pads), crop.extra, strict=True)
    taps = _multiples(chain, crop.pads, [taps_around(*side, extra) for side, extra in sides])
    own = tuple(one.pad for one in taps)
    return [grown(chain, Crop(Pads(own, own), tuple(one.extra for one in taps)), taps)]


def _no_pad(_: Chain, __: Crop) -> list[Written]:
    reason = "the pads of a transposed convolution crop its output, a Pad node cannot"
    return refuse(reason, "--pass symmetric-pads-by-slice")


def _multiples(chain: Chain, pads: Pads, taps: Sequence[Taps | None]) -> list[Taps]:
    """The taps of each axis; refuses where no number of them makes its pads equal."""
    for (axis, begin, end), one in zip(chain.sides(pads), taps, strict=True):
        if one is None:
            refuse(
                f"begin and end pads {begin},{end} do not differ by a multiple of the dilation "
                f"{axis.dilation}"
            )
    return [one for one in taps if one is not None]


_OF_WINDOWS = {"a Slice": _sliced, "the kernel": _with_wider_kernel, "a Pad": _behind_pads}
_OF_CROPS = {
    "output_padding": _given_back,
    "a Slice": _crop_sliced,
    "the kernel": _crop_with_taps,
    "a Pad": _no_pad,
}
rewrite = _by(*_OF_CROPS)
WAYS = {
    "symmetric-pads-by-slice": Way(
        "Make asymmetric pads symmetric with a Slice behind the operator.", _by("a Slice")
    ),
    "symmetric-pads-by-kernel": Way(
        "Make asymmetric pads symmetric with a kernel that has more taps of 0.", _by("the kernel")
    ),
    "symmetric-pads-by-pad": Way(
        "Make asymmetric pads symmetric with a Pad node that adds the difference.", _by("a Pad")
    ),
}
