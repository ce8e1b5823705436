"""Write Pad nodes with a value other than 0 as Concat.

What: blocks of the value stand beside the input, axis by axis, and the Pad goes. Pads that write 0
are left.

Exact: always; the value may be a tensor, an infinity or NaN. (Pad with 0 between a subtraction and
an addition of the value would round.) Where sizes are not known, the blocks take them from Shape
and Expand.

Refuses: negative pads (write plain-pad before it), pads that are not known, unknown element types
and ranks, sizes that are not known before opset 8 (no Expand). A Pad with the lowest value in
front of a max pool is better folded by absorb-pad first.

Cost: a Concat for each axis and a constant block for each side, or Shape, Slice, Concat and
Expand for it.

Example: Pad [0,0,1, 0,0,1] with 5 of [1,1,8] becomes Concat of 5, the input and 5.
"""

from __future__ import annotations

from onnxpad.padding.chain import Chain, PassResult, Skip
from onnxpad.padding.expansion import Read
from onnxpad.padding.forms import Form, writes_value
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.pads import block_refusal, with_blocks

REMOVES = {Form.PAD_VALUE}
MAY_REMOVE = {Form.PAD_NODE}
ADDS: set[Form] = set()


def rewrite(chain: Chain) -> PassResult:
    """Join blocks of the value to the input."""
    step = chain.pad
    if chain.op.kind is not Kind.PAD or step is None:
        return Skip("no Pad node", moot=True)
    if step.unclear:
        return step.unclear.as_skip(moot=step.mode != "constant")
    if not writes_value(step):
        return Skip("it does not write a value other than 0", moot=True)
    if any(pad < 0 for pad in step.pads.flat):
        return Skip("it crops", ("--pass plain-pad",))
    if refusal := block_refusal(chain):
        return refusal
    composer = Composer(chain.opset, chain.dtype)
    sides = step.pads.sides
    axes = [axis for axis, pads in enumerate(sides) if any(pads)]
    return composer.finish(with_blocks(composer, chain, step, axes, Read(0)))
