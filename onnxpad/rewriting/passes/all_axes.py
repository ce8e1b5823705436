"""Write the pads of a Pad node over all axes, without the input axes.

What: pads that are written for some axes (opset 18 and newer) become pads over all of them, with 0
for the rest, and the input axes goes.

Exact: always.

Refuses: axes or pads that are not known, inputs of unknown rank.

Cost: none.

Example: Pad [1,1] over axes [2] of three becomes Pad [0,0,1, 0,0,1].
"""

from __future__ import annotations

from onnxpad.padding.chain import Chain, PassResult, Skip
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.pads import pad_itself

REMOVES = {Form.PAD_AXES}
ADDS: set[Form] = set()


def rewrite(chain: Chain) -> PassResult:
    """List every axis."""
    step = chain.pad
    lists_axes = chain.inputs[3:4] == (True,)
    if chain.op.kind is not Kind.PAD or step is None or not lists_axes:
        return Skip("no Pad node that lists axes", moot=True)
    if step.unclear:
        return step.unclear.as_skip()
    composer = Composer(chain.opset, chain.dtype)
    return composer.finish(pad_itself(composer, chain, step.pads))
