"""Give a convolution an odd number of taps along each axis, by a tap of 0.

What: an even kernel grows by one tap of 0, or of the zero point of the weight, on the side with the
smaller pad, and that pad by the same cells. The weight becomes a new constant; others that read the
old one keep it. Transposed convolutions alike, whose pads crop.

Exact: for every size of the input. The new tap adds 0 times a cell: nothing, unless the cell is
infinite or not a number.

Refuses: weights and weight zero points that are no constants of the model, or that an input of the
model can replace; pads that are not known or negative; pools; DeformConv.

Cost: the multiply-adds and the bytes of the new taps; no operator.

Example: Conv k2 pads=[0, 1] becomes Conv k3 pads=[1, 1] with the kernel [0, a, b].
"""

from __future__ import annotations

from onnxpad.padding.chain import Chain, Pads, PassResult, Skip
from onnxpad.padding.effective_pads import effective_pads, short_axis
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.steps.symmetric import kernel_refusal, unsaid, weight_refusal, with_taps
from onnxpad.rewriting.steps.transposed import Crop, standard_crop, written

REMOVES: set[Form] = set()
MAY_REMOVE = {Form.ASYMMETRIC, Form.AUTO_PAD, Form.OUTPUT_SHAPE}
ADDS = {Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL}


def rewrite(chain: Chain) -> PassResult:
    """Add a tap along each axis that has an even number of them."""
    if not chain.op.has_windows or all(axis.kernel % 2 for axis in chain.axes):
        return Skip("its kernel is odd", moot=True)
    crop = standard_crop(chain) if chain.op.kind is Kind.TRANSPOSED else None
    if isinstance(crop, Skip):
        return crop
    pads = effective_pads(chain) if crop is None else crop.pads
    if isinstance(pads, Skip):
        return pads
    if refusal := weight_refusal(chain) or (short_axis(chain, pads) if crop is None else None):
        return refusal
    if min(pads.flat) < 0:
        return Skip(f"the pads {list(pads.flat)} are negative")
    fronts, backs = [], []
    for axis, begin, end in chain.sides(pads):
        more = 1 - axis.kernel % 2
        fronts.append(more if begin < end else 0)
        backs.append(more - fronts[-1])
    kernel = [axis.kernel + a + b for axis, a, b in zip(chain.axes, fronts, backs, strict=True)]
    if refusal := kernel_refusal(chain, kernel):
        return refusal
    dilations = [axis.dilation for axis in chain.axes]
    wider = pads + Pads(_cells(fronts, dilations), _cells(backs, dilations))
    if crop is None:
        return with_taps(chain, fronts, backs, {"pads": wider.flat}, removes=unsaid(chain))
    sets, gone = written(chain, Crop(wider, crop.extra))
    return with_taps(chain, fronts, backs, sets, removes=gone)


def _cells(taps: list[int], dilations: list[int]) -> tuple[int, ...]:
    return tuple(count * apart for count, apart in zip(taps, dilations, strict=True))
