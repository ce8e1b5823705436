"""Write output_padding of a transposed convolution as taps of 0 at the end of its kernel.

What: output_padding and the end pad shrink together as far as they can; for what is left the
kernel grows at its back by taps of 0, so that the full output is long enough to be cropped.

Exact: for every size of the input, bias included. 0 times a cell adds nothing, unless the cell
is infinite or not a number.

Refuses: weights that are no constants of the model, or that an input of the model can replace;
output_shape on an input of unknown size.

Cost: the multiply-adds and the bytes of the new taps; no operator.

Example: ConvTranspose k3 s2 pads=[1, 1] output_padding=[1] becomes pads=[1, 0].
"""

from __future__ import annotations

from onnxpad.geometry.windows import TapsAround, taps_behind
from onnxpad.padding.chain import Chain, Pads, PassResult, Skip
from onnxpad.padding.forms import Form
from onnxpad.rewriting.steps.symmetric import grown
from onnxpad.rewriting.steps.transposed import Crop, standard_crop

REMOVES = {Form.OUTPUT_PADDING}
MAY_REMOVE = {Form.AUTO_PAD, Form.OUTPUT_SHAPE}
ADDS = {Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL}


def rewrite(chain: Chain) -> PassResult:
    """Let the kernel reach as far as output_padding did."""
    crop = standard_crop(chain)
    if isinstance(crop, Skip):
        return crop
    if not any(crop.extra):
        return Skip("no output_padding", moot=True)
    found = list(map(taps_behind, chain.axes, crop.pads.ends, crop.extra))
    none = (0,) * chain.rank
    less = Crop(Pads(crop.pads.begins, tuple(end for _, end in found)), none)
    return grown(chain, less, [TapsAround(end, 0, 0, taps) for taps, end in found])
