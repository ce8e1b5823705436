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

from onnxpad.padding.chain import Chain, Pads, PassResult
from onnxpad.padding.effective_pads import effective_pads, short_axis
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.steps.kernels import require_kernel, require_weight, unsaid, with_taps
from onnxpad.rewriting.steps.refusals import known, require
from onnxpad.rewriting.steps.transposed import Crop, standard_crop, written

REMOVES: set[Form] = set()
MAY_REMOVE = {Form.ASYMMETRIC, Form.AUTO_PAD, Form.OUTPUT_SHAPE}
ADDS = {Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL}


def rewrite(chain: Chain) -> PassResult:
    """Add a tap along each axis that has an even number of them."""
    is_even = chain.op.has_windows and any(axis.kernel % 2 == 0 for axis in chain.axes)
    require(is_even, "its kernel is odd", moot=True)
    crop = standard_crop(chain) if chain.op.kind is Kind.TRANSPOSED else None
    pads = known(effective_pads(chain)) if crop is None else crop.pads
    require_weight(chain)
    if crop is None:
        known(short_axis(chain, pads))
    require(min(pads.flat) >= 0, f"the pads {list(pads.flat)} are negative")
    taps = Pads.of(
        [
            (0, 0) if axis.kernel % 2 else (1, 0) if begin < end else (0, 1)
            for axis, begin, end in chain.sides(pads)
        ]
    )
    require_kernel(chain, taps.begins, taps.ends)
    cells = [
        (front * axis.dilation, back * axis.dilation) for axis, front, back in chain.sides(taps)
    ]
    wider = pads + Pads.of(cells)
    if crop is None:
        own = {"pads": wider.flat}
        return with_taps(chain, taps.begins, taps.ends, own, removes=unsaid(chain))
    sets, gone = written(chain, Crop(wider, crop.extra))
    return with_taps(chain, taps.begins, taps.ends, sets, removes=gone)
