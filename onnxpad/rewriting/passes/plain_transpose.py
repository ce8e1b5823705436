"""Write auto_pad and output_shape of a transposed convolution as explicit pads.

What: SAME, VALID and output_shape become the pads that they stand for; cells that output_shape
or a negative end pad (as tf2onnx writes it) asks for beyond the full output become output_padding.
ConvTransposeWithDynamicPads whose pads are constant becomes ConvTranspose.

Exact: as onnxruntime and shape inference read the ONNX text of opset 11 and newer: SAME_UPPER
crops the smaller half at the begin, everything else the larger; a total below 0 crops nothing.
SAME without output_shape never depends on the size of the input. The text of opsets 1 to 10 has
the halves the other way round: --legacy-split reads models so.

Refuses: output_shape on an input of unknown size, and sizes that neither pads nor
output_padding below the stride can give; negative begin pads; pads that are computed while the
model runs.

Cost: none.

Example: ConvTranspose k3 s2 SAME_UPPER becomes pads=[0, 1].
"""

from __future__ import annotations

from onnxpad.padding.chain import Chain, PassResult
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.steps.refusals import require
from onnxpad.rewriting.steps.transposed import as_standard, explicit_crop, needs_words, with_crop

REMOVES = {Form.AUTO_PAD, Form.OUTPUT_SHAPE, Form.NEGATIVE}
ADDS = {Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL, Form.OUTPUT_PADDING}


def rewrite(chain: Chain) -> PassResult:
    """Replace auto_pad, output_shape and an input of pads by pads and output_padding."""
    require(chain.op.kind is Kind.TRANSPOSED, "no transposed convolution", moot=True)
    dynamic = chain.op.pads_input is not None
    needs = dynamic or needs_words(chain) or chain.trouble
    require(needs, "its pads are explicit", moot=True)
    crop = explicit_crop(chain)
    return as_standard(chain, crop) if dynamic else with_crop(chain, crop)
