"""Write the value of a Pad in front of max pools as 0 where no cell of its data is below 0.

What: the Pad loses its value, and writes 0. Behind a Relu that is what a max pool sees as well,
and runtimes that pad with 0 alone take it.

Exact: up to the sign of 0; every window has a cell of data, which is 0 or more.

Refuses: pads and values that are not known, Pads that something else than a max pool reads, or a
pool with windows that lie in the padding, data that may be below 0, opsets before 11 (plain-value
is for Pads with an input).

Cost: none.

Example: Relu, Pad [0,0,0,0, 0,0,1,1] with -inf, MaxPool of kernel 3 becomes a Pad without a value.
"""

from __future__ import annotations

from onnxpad.padding.chain import Chain, PassResult, Skip
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import PadInput, Since
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.pads import pad_node, pools_refusal

REMOVES = {Form.PAD_VALUE}
ADDS: set[Form] = set()


def rewrite(chain: Chain) -> PassResult:
    """Take the value away."""
    step = pad_node(chain)
    if isinstance(step, Skip):
        return step
    if step.mode != "constant" or step.fill == Constant(0):
        return Skip("it does not write a value other than 0", moot=True)
    if not isinstance(step.fill, Constant) or not step.fill.value < 0:
        return Skip("its value is not known to be below 0")
    if refusal := pools_refusal(chain):
        return refusal
    if chain.around.at_least is None or chain.around.at_least < 0:
        return Skip("its data may be below 0")
    if chain.opset < Since.PAD_INPUTS:
        return Skip("before opset 11 its value is an attribute")
    composer = Composer(chain.opset, chain.dtype)
    return composer.finish(composer.itself({PadInput.VALUE: None}))
