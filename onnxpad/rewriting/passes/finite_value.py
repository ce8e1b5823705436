"""Write the -inf of a Pad that only max pools read as the lowest finite number.

What: constant_value becomes the lowest finite number of the element type. Some runtimes cannot
read an infinity.

Exact: where no window holds -inf and padding alone, which then give the lowest finite number.

Refuses: pads and element types that are not known, Pads that something else than a max pool reads,
or a pool with windows that lie in the padding; float64 before opset 11, whose Pads hold a float32.

Cost: none.

Example: Pad [0,0,1,1, 0,0,1,1] with -inf in front of MaxPool of kernel 3 gets -3.4e38.
"""

from __future__ import annotations

import math

from onnxpad.padding.chain import Chain, PassResult, Skip
from onnxpad.padding.expansion import Numbers
from onnxpad.padding.fills import Constant, lowest
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import PadInput, Since
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.pads import pad_node, pools_refusal

REMOVES: set[Form] = set()
ADDS: set[Form] = set()


def rewrite(chain: Chain) -> PassResult:
    """Give the Pad another value."""
    step = pad_node(chain)
    if isinstance(step, Skip):
        return step
    if step.mode != "constant" or step.fill != Constant(-math.inf):
        return Skip("it does not write -inf", moot=True)
    if refusal := pools_refusal(chain):
        return refusal
    finite = lowest(chain.dtype)
    if not finite:
        return Skip("the element type of its input is not known")
    number = float(finite[-1])
    composer = Composer(chain.opset, chain.dtype)
    if chain.opset < Since.PAD_INPUTS:
        if chain.dtype == "float64":
            return Skip("before opset 11 the value is a float32, and the lowest float64 is none")
        return composer.finish(composer.itself(sets={"value": number}))
    value = Numbers("value", chain.dtype, (), (number,))
    return composer.finish(composer.itself({PadInput.VALUE: value}))
