"""Equal begin and end pads for transposed convolutions, in three ways."""

from __future__ import annotations

from onnxpad.geometry.windows import TapsAround, equal_crop, inner_extra, taps_around
from onnxpad.padding.chain import Chain, Pads, Skip
from onnxpad.rewriting.steps.composer import LAST, Composer
from onnxpad.rewriting.steps.symmetric.premises import (
    Way,
    kernel_refusal,
    weight_refusal,
    with_taps,
)
from onnxpad.rewriting.steps.transposed import Crop, standard_crop, with_crop, written


def by_output_padding(chain: Chain) -> Way | Skip:
    """A wider end pad, and output_padding that gives the cells back."""
    crop = _asymmetric(chain)
    if isinstance(crop, Skip):
        return crop
    sides = zip(chain.axes, crop.pads.begins, crop.pads.ends, crop.extra, strict=True)
    found = [equal_crop(axis, begin, end, extra) for axis, begin, end, extra in sides]
    extras = tuple(extra for extra in found if extra is not None)
    if len(extras) < len(found):
        return Skip("no output_padding below the stride makes up for the difference of its pads")
    own = crop.pads.begins
    return with_crop(chain, Crop(Pads(own, own), extras))


def by_slice(chain: Chain) -> Way | Skip:
    """The smaller crop on both sides, and a Slice that crops the rest."""
    crop = _asymmetric(chain)
    if isinstance(crop, Skip):
        return crop
    own = tuple(map(min, crop.pads.begins, crop.pads.ends))
    return cropped(
        chain, Crop(Pads(own, own), tuple(map(inner_extra, crop.pads.ends, crop.extra, own))), crop
    )


def cropped(chain: Chain, done: Crop, wanted: Crop) -> Way:
    """The operator crops as `done` says, a Slice what is missing to `wanted`, whatever the size."""
    starts = [b - a for a, b in zip(done.pads.begins, wanted.pads.begins, strict=True)]
    beyond = [
        (end - extra) - (inner - more)
        for end, extra, inner, more in zip(
            wanted.pads.ends, wanted.extra, done.pads.ends, done.extra, strict=True
        )
    ]
    short = [index for index in range(chain.rank) if starts[index] or beyond[index]]
    if not short:
        return with_crop(chain, done)
    composer = Composer(chain.opset, chain.dtype)
    sets, gone = written(chain, done)
    whole = composer.itself(sets=sets, removes=gone)
    axes = [chain.first_axis + index for index in short]
    ends = [-beyond[index] or LAST for index in short]
    result = composer.slice(whole, axes, [starts[index] for index in short], ends)
    return composer.finish(result)


def by_kernel(chain: Chain) -> Way | Skip:
    """A kernel with more taps of 0 in front or at the back, whose outputs are cropped."""
    crop = _asymmetric(chain)
    if isinstance(crop, Skip):
        return crop
    sides = list(zip(chain.axes, crop.pads.begins, crop.pads.ends, crop.extra, strict=True))
    found = [taps_around(axis, begin, end, extra) for axis, begin, end, extra in sides]
    taps = [one for one in found if one is not None]
    if len(taps) < len(found):
        axis, begin, end, _ = sides[found.index(None)]
        return Skip(
            f"begin and end pads {begin},{end} do not differ by a multiple of the dilation "
            f"{axis.dilation}"
        )
    own = tuple(one.pad for one in taps)
    return grown(chain, Crop(Pads(own, own), tuple(one.extra for one in taps)), taps)


def grown(chain: Chain, crop: Crop, taps: list[TapsAround]) -> Way | Skip:
    """The operator with more taps, cropping as `crop` says."""
    if not any(one.front or one.back for one in taps):
        return with_crop(chain, crop)
    if refusal := weight_refusal(chain):
        return refusal
    kernel = tuple(a.kernel + one.front + one.back for a, one in zip(chain.axes, taps, strict=True))
    if refusal := kernel_refusal(chain, kernel):
        return refusal
    sets, gone = written(chain, crop)
    fronts, backs = [one.front for one in taps], [one.back for one in taps]
    return with_taps(chain, fronts, backs, sets, removes=gone)


def _asymmetric(chain: Chain) -> Crop | Skip:
    crop = standard_crop(chain)
    if isinstance(crop, Crop) and crop.pads.begins == crop.pads.ends:
        return Skip("begin and end pads are equal", moot=True)
    return crop
