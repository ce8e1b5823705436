"""Moves transposed convolutions: which side loses the odd cell."""

from __future__ import annotations

from dataclasses import replace

from onnxpad.chain import Chain, Pads, Skip
from onnxpad.effective import effective_pads
from onnxpad.errors import RequestError
from onnxpad.geometry.axis import Axis
from onnxpad.layers.cropping import CROP_BOTH
from onnxpad.layers.words import Given
from onnxpad.moving.manners import Manner
from onnxpad.moving.windows import differs

_PROBES = (7, 8)
Cut = tuple[int, int, int]


def moved_crop(chain: Chain, manner: Manner) -> Chain | Skip:
    """A transposed convolution that gives size*stride cells, cut as the convention cuts it.

    Nothing cut stays so (VALID); the chain itself comes back where nothing changes.
    """
    pads = effective_pads(chain)
    if isinstance(pads, Skip):
        return pads
    extra = chain.output_padding or (0,) * chain.rank
    ends = tuple(end - more for end, more in zip(pads.ends, extra, strict=True))
    if not any(pads.begins) and not any(ends):
        return chain
    totals = tuple(axis.span - axis.stride for axis in chain.axes)
    if any(b + e != total for b, e, total in zip(pads.begins, ends, totals, strict=True)):
        return Skip(
            f"the crop {list(pads.begins + ends)} gives neither size*stride cells nor all",
            ("--plan FILE says what it is to be",),
        )
    cuts = [_cut(axis, manner) for axis in chain.axes]
    known = [cut for cut in cuts if isinstance(cut, tuple)]
    if len(known) < len(cuts):
        return next(cut for cut in cuts if isinstance(cut, Skip))
    result = cropped(chain, known)
    return result if differs(chain, result) else chain


def cropped(chain: Chain, cuts: list[Cut]) -> Chain:
    """The chain with (begin, end, output_padding) for each axis."""
    growth = tuple(more for _, _, more in cuts)
    return replace(
        chain,
        padding=Pads(tuple(b for b, _, _ in cuts), tuple(e for _, e, _ in cuts)),
        output_padding=growth if any(growth) else (),
        output_shape=(),
        ambiguous=False,
    )


def _cut(axis: Axis, manner: Manner) -> Cut | Skip:
    """(begin, end, output_padding) that leave size*stride cells."""
    total = axis.span - axis.stride
    begins = {_begin(axis, manner, size) for size in _PROBES}
    if len(begins) == 1 and None not in begins:
        begin = begins.pop() or 0
        return (begin, max(total - begin, 0), max(begin - total, 0))
    if not manner.numbers:
        return Skip(f"{manner.name} has no transposed convolution that gives size*stride cells")
    pad = max(0, -(-total // 2))
    extra = 2 * pad - total
    if extra and not manner.grows:
        return Skip(f"{manner.name} has no output_padding and cannot give size*stride cells")
    if extra >= max(axis.stride, axis.dilation):
        return Skip(f"{manner.name} would need output_padding={extra}, not below the stride")
    return (pad, pad, extra)


def _begin(axis: Axis, manner: Manner, size: int) -> int | None:
    """Cells that the convention's own mode cuts in front."""
    wanted, sized = size * axis.stride, replace(axis, size=size)
    for mode in manner.modes:
        if mode.cut is None or mode is CROP_BOTH or (mode.undilated and axis.dilation > 1):
            continue
        for given in (Given(), Given(extent=wanted)):
            try:
                crop = mode.cut(sized, size, given)
            except RequestError:
                continue
            if crop.output == wanted:
                return crop.begin
    return None
