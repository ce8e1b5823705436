"""Crop a transposed convolution with a Slice instead of pads.

What: the pads become 0, auto_pad and output_shape go, and a Slice behind crops the full output.
output_padding goes as well where the crop at the end is as large. Asymmetric pads of transposed
convolutions are refused or miscomputed by many runtimes, onnxruntime's CUDA provider among them.

Exact: always, and bit for bit, for every size of the input: the Slice counts from both ends.

Refuses: output_shape on an input of unknown size, and sizes that neither pads nor
output_padding below the stride can give; pads that leave nothing.

Cost: a Slice, and the cells that it drops are computed.

Example: ConvTranspose k3 s2 pads=[4, 0] becomes pads=[0, 0] and a Slice from 4 to the end.
"""

from __future__ import annotations

from onnxpad.geometry.windows import inner_extra
from onnxpad.padding.chain import Chain, Pads, PassResult
from onnxpad.padding.forms import Form
from onnxpad.rewriting.steps.refusals import require
from onnxpad.rewriting.steps.transposed import Crop, cropped, standard_crop

REMOVES = {Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL, Form.OUTPUT_SHAPE}
MAY_REMOVE = {Form.AUTO_PAD, Form.OUTPUT_PADDING}
ADDS = {Form.OUTPUT_PADDING}


def rewrite(chain: Chain) -> PassResult:
    """Compute the full output and cut it."""
    crop = standard_crop(chain)
    require(any(crop.pads.flat) or chain.output_shape, "it crops nothing", moot=True)
    none = Pads.zero(chain.rank)
    extra = tuple(map(inner_extra, crop.pads.ends, crop.extra, none.ends))
    return cropped(chain, Crop(none, extra), crop)
