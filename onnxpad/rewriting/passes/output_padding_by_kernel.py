"""Write output_padding of a transposed convolution as taps of 0 at the end of its kernel.

What: output_padding, or what negative end pads add, and the end pad shrink together as far as they
can. For what is left the kernel grows at its back by taps of 0, so that the full output is long
enough to be cropped. separate-bias moves the bias of any convolution into an Add behind it, for
runtimes that compute it wrongly.

Exact: for every size of the input. 0 times a cell adds nothing, unless the cell is infinite or not
a number. separate-bias bit for bit, if the runtime adds the bias last.

Refuses: output_shape on an input of unknown size; weights that are no constants of the model.
separate-bias: before opset 7, quantised convolutions and those of com.microsoft.

Cost: the multiply-adds and the bytes of the new taps, or one operator over the output.

Example: ConvTranspose k3 s2 pads=[1, 1] output_padding=[1] becomes pads=[1, 0].
"""

from __future__ import annotations

from onnxpad.geometry.windows import Taps, taps_behind
from onnxpad.padding.chain import Chain, Pads, PassResult
from onnxpad.padding.expansion import Read
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import CONV_BIAS, Kind, Since
from onnxpad.rewriting.passes import Way
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.refusals import refuse, require, require_windows
from onnxpad.rewriting.steps.transposed import (
    Crop,
    grown,
    require_axes,
    standard_crop,
)

REMOVES = {Form.OUTPUT_PADDING}
MAY_REMOVE = {Form.AUTO_PAD, Form.OUTPUT_SHAPE, Form.NEGATIVE}
ADDS = {Form.ASYMMETRIC, Form.PADS, Form.WIDER_THAN_KERNEL}


def rewrite(chain: Chain) -> PassResult:
    """Let the kernel reach as far as output_padding did."""
    crop = standard_crop(chain, grows=True)
    require(any(crop.extra), "no output_padding", moot=True)
    behind = list(map(taps_behind, chain.axes, crop.pads.ends, crop.extra))
    less = Crop(Pads(crop.pads.begins, tuple(end for _, end in behind)), (0,) * chain.rank)
    return grown(chain, less, [Taps(end, back=taps) for taps, end in behind])


def _apart(chain: Chain) -> PassResult:
    """Add the bias behind."""
    op = chain.op
    if op.kind not in (Kind.CONVOLUTION, Kind.TRANSPOSED) or op.weight != 1 or op.quantised:
        refuse("no convolution", moot=True)
    if chain.written.inputs[CONV_BIAS : CONV_BIAS + 1] != (True,) or op.name == "DeformConv":
        refuse("it has no bias", moot=True)
    require(not op.domain, "it computes more behind the bias", moot=True)
    require(chain.axes and not chain.trouble, "its padding cannot be read")
    require_windows(chain)
    require_axes(chain)
    reason = f"Add of opset {chain.opset} has no broadcasting that a bias needs"
    require(chain.opset >= Since.BROADCASTING, reason)
    composer = Composer(chain.opset, chain.dtype)
    data = composer.itself({CONV_BIAS: None})
    bias = composer.unsqueeze(Read(CONV_BIAS), range(1, chain.rank + 1), role="bias")
    return composer.finish(composer.add("Add", data, bias, role="with_bias"))


WAYS = {
    "separate-bias": Way(
        "Write the bias of a convolution as an Add behind it.",
        _apart,
        removes=set(),
        adds=set(),
    ),
}
