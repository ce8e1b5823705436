"""Write Pad nodes of mode constant as Concat, those that write 0 as well.

What: blocks of the value stand beside the input, axis by axis, and the Pad goes. For runtimes that
have no Pad, or not this one.

Exact: always; the value may be a tensor, an infinity or NaN. (Pad with 0 between a subtraction and
an addition of the value would round.) Where sizes are not known, the blocks
take them from Shape and Expand. onnxruntime fuses no Concat into a pool behind it.

Refuses: negative pads and mirrors (write plain-pad before it), pads that are not known, unknown
element types and ranks, sizes that are not known before opset 8 (no Expand).

Cost: a Concat for each axis and a constant block for each side, or Shape, Slice, Concat and
Expand for it.

Example: Pad [0,0,1, 0,0,1] of [1,1,8] becomes Concat of 0, the input and 0.
"""

from __future__ import annotations

from onnxpad.padding.chain import Chain, PassResult, Skip
from onnxpad.padding.expansion import Read
from onnxpad.padding.forms import Form
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.pads import block_refusal, pad_to_join, with_blocks

REMOVES = {Form.PAD_VALUE, Form.OUTER_AXES, Form.PAD_AXES}
ADDS: set[Form] = set()


def rewrite(chain: Chain) -> PassResult:
    """Join blocks of the value to the input."""
    step = pad_to_join(chain)
    if isinstance(step, Skip):
        return step
    composer = Composer(chain.opset, chain.dtype)
    if not any(step.pads.flat):
        return composer.finish(composer.add("Identity", Read(0)))
    if refusal := block_refusal(chain):
        return refusal
    sides = step.pads.sides
    axes = [axis for axis, pads in enumerate(sides) if any(pads)]
    return composer.finish(with_blocks(composer, chain, step, axes, Read(0)))
