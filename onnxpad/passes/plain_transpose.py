"""Write auto_pad and output_shape of a transposed convolution as explicit pads.

What: SAME, VALID and output_shape become the pads that they stand for; cells that output_shape
asks for beyond the full output become output_padding.

Exact: as onnxruntime and shape inference read the ONNX text of opset 11 and newer: SAME_UPPER
crops the smaller half at the begin, everything else the larger; a total below 0 crops nothing.
SAME without output_shape never depends on the size of the input.

Refuses: output_shape on an input of unknown size, and sizes that neither pads nor
output_padding below the stride can give.

Cost: none.

Example: ConvTranspose k3 s2 SAME_UPPER becomes pads=[0, 1].
"""

from __future__ import annotations

from dataclasses import replace

from onnxpad.chain import AutoPad, Chain, Pads, Skip
from onnxpad.effective import effective_pads
from onnxpad.forms import Form
from onnxpad.ops import Kind

REMOVES = {Form.AUTO_PAD, Form.OUTPUT_SHAPE}
ADDS = {Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL, Form.OUTPUT_PADDING}


def rewrite(chain: Chain) -> Chain | Skip:
    """Replace auto_pad and output_shape by pads and output_padding."""
    if chain.op.kind is not Kind.TRANSPOSED or chain.op.pads_input is not None:
        return Skip("no transposed convolution", moot=True)
    if not (isinstance(chain.padding, AutoPad) or chain.output_shape or chain.trouble):
        return Skip("its pads are explicit", moot=True)
    pads = effective_pads(chain)
    if isinstance(pads, Skip):
        return pads
    extra = list(chain.output_padding or (0,) * chain.rank)
    for index, axis in enumerate(chain.axes):
        if pads.ends[index] < 0:
            extra[index] -= pads.ends[index]
        if pads.ends[index] < 0 and extra[index] >= axis.stride:
            return Skip(
                f"output_shape {list(chain.output_shape)} lies {extra[index]} cells beyond the "
                f"full output; output_padding must stay below the stride {axis.stride}"
            )
    return replace(
        chain,
        padding=Pads(pads.begins, tuple(max(0, end) for end in pads.ends)),
        output_shape=(),
        output_padding=tuple(extra) if any(extra) else chain.output_padding,
    )
