"""Write zero padding as two depthwise convolutions, each with a half of the pads.

What: a Pad node of zeros becomes two Convs with a group and one weight of 1 for each channel. Their
pads are equal; where begin and end differ, a longer kernel shifts the window. For accelerators
with a limit on pads.

Exact: for finite inputs; a weight of 0 times infinity is no number. In front of max pools a value
below 0 becomes 0 where no cell of the data is below 0.

Refuses: other values and modes, padded batches and channels, crops, other types than float32,
unknown numbers of channels or axes, more than 262144 weights. A Pad of single cells stays.

Cost: two multiply-adds for each cell of the output, times the longer kernel.

Example: Pad [0,0,5,5, 0,0,5,5] becomes Conv k1 pads=[3, 3, 3, 3], Conv k1 pads=[2, 2, 2, 2].
"""

from __future__ import annotations

from onnxpad.padding.chain import Chain, PassResult
from onnxpad.padding.forms import Form
from onnxpad.rewriting.steps.copies import pad_by_copies

REMOVES = {Form.PAD_NODE}
ADDS = {Form.PADS}


def rewrite(chain: Chain) -> PassResult:
    """Copy the input by two convolutions that pad."""
    return pad_by_copies(chain, 2)
