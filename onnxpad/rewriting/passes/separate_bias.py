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

from onnxpad.padding.chain import Chain, PassResult
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import CONV_BIAS, Kind
from onnxpad.rewriting.steps.bias import with_bias_behind
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.refusals import refuse, require, require_windows
from onnxpad.rewriting.steps.transposed import require_axes

REMOVES: set[Form] = set()
ADDS: set[Form] = set()


def rewrite(chain: Chain) -> PassResult:
    """Add the bias behind."""
    op = chain.op
    if op.kind not in (Kind.CONVOLUTION, Kind.TRANSPOSED) or op.weight != 1 or op.quantised:
        refuse("no convolution", moot=True)
    if chain.inputs[CONV_BIAS : CONV_BIAS + 1] != (True,) or op.name == "DeformConv":
        refuse("it has no bias", moot=True)
    require(not op.domain, "it computes more behind the bias", moot=True)
    require(chain.axes and not chain.trouble, "its padding cannot be read")
    composer = Composer(chain.opset, chain.dtype)
    result = with_bias_behind(composer, chain, composer.itself({CONV_BIAS: None}))
    require_windows(chain)
    require_axes(chain)
    return result
