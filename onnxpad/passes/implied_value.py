"""Leave out the value of Pad nodes that write 0.

What: constant_value goes where it is 0, which it means anyway; the value of a Pad of mode reflect,
edge or wrap, which nothing reads, goes too. Some runtimes read the value wrongly.

Exact: always.

Refuses: values that are not known.

Cost: none.

Example: Pad with the inputs data, pads and 0 becomes Pad with the inputs data and pads.
"""

from __future__ import annotations

from onnxpad.chain import Chain, Skip, Verdict
from onnxpad.composing import Composer
from onnxpad.fills import Constant
from onnxpad.forms import Form
from onnxpad.ops import Kind

REMOVES: set[Form] = set()
ADDS: set[Form] = set()
_VALUE = 2


def rewrite(chain: Chain) -> Verdict:
    """Take the value away."""
    step = chain.pad
    if chain.op.kind is not Kind.PAD or step is None or chain.inputs[_VALUE:][:1] != (True,):
        return Skip("no Pad node with a value", moot=True)
    if step.mode == "constant" and step.fill != Constant(0):
        return Skip("its value is not known to be 0", moot=isinstance(step.fill, Constant))
    composer = Composer(chain.opset, chain.dtype)
    return composer.finish(composer.itself({_VALUE: None}))
