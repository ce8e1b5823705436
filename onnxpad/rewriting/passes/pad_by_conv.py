"""Write zero padding as a depthwise convolution that copies its input.

What: a Pad node of zeros becomes a Conv with a group and one weight of 1 for each channel. Its pads
are equal; where begin and end differ, a longer kernel shifts the window. For accelerators
without Pad, Slice and Concat.

Exact: for finite inputs; a weight of 0 times infinity is no number. In front of max pools a value
below 0 becomes 0 where no cell of the data is below 0.

Refuses: other values and modes, padded batches and channels, crops, other types than float32,
unknown numbers of channels or axes, more than 262144 weights.

Cost: a multiply-add for each cell of the output, times the longer kernel.

Example: Pad [0,0,0,0, 0,0,1,1] on 3 channels becomes Conv k2 pads=[1, 1, 1, 1] group=3.
"""

from __future__ import annotations

from onnxpad.padding.chain import Chain, PassResult
from onnxpad.padding.forms import Form
from onnxpad.rewriting.steps.copies import pad_by_copies

REMOVES = {Form.PAD_NODE}
ADDS = {Form.PADS}


def rewrite(chain: Chain) -> PassResult:
    """Copy the input by a convolution that pads."""
    return pad_by_copies(chain, 1)
