"""Write the bias of a convolution as an Add behind it.

What: the convolution, transposed or not, loses its bias, and an Add behind it brings it back, with
axes of size 1 for what it is the same for. For runtimes that compute the bias of some form wrongly.

Exact: bit for bit, if the runtime adds the bias last; otherwise up to float rounding.

Refuses: opsets before 7 (Add had no broadcasting of this kind), quantised convolutions and those of
com.microsoft, which compute more behind the bias; an output_shape below the input's size, behind
which onnxruntime takes no node.

Cost: an Add over the output and an Unsqueeze of the bias, which is a constant most often.

Example: ConvTranspose of x, W and B becomes ConvTranspose of x and W, Unsqueeze of B and Add.
"""

from __future__ import annotations

from onnxpad.padding.chain import Chain, PassResult, Skip
from onnxpad.padding.effective_pads import effective_pads, short_axis
from onnxpad.padding.expansion import Read
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import CONV_BIAS, Kind, Since
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.transposed import loses_axes

REMOVES: set[Form] = set()
ADDS: set[Form] = set()


def rewrite(chain: Chain) -> PassResult:
    """Add the bias behind."""
    op = chain.op
    if op.kind not in (Kind.CONVOLUTION, Kind.TRANSPOSED) or op.weight != 1 or op.quantised:
        return Skip("no convolution", moot=True)
    if chain.inputs[CONV_BIAS : CONV_BIAS + 1] != (True,) or op.name == "DeformConv":
        return Skip("it has no bias", moot=True)
    if op.domain:
        return Skip("it computes more behind the bias", moot=True)
    if chain.trouble or not chain.axes:
        return Skip("its padding cannot be read")
    if chain.opset < Since.BROADCASTING:
        return Skip(f"Add of opset {chain.opset} has no broadcasting that a bias needs")
    pads = effective_pads(chain)
    short = None if isinstance(pads, Skip) else short_axis(chain, pads)
    if refusal := short or loses_axes(chain):
        return refusal
    composer = Composer(chain.opset, chain.dtype)
    bare = composer.itself({CONV_BIAS: None})
    bias = composer.unsqueeze(Read(CONV_BIAS), range(1, chain.rank + 1), role="bias")
    return composer.finish(composer.add("Add", bare, bias, role="with_bias"))
