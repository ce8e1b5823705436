"""Write Slices and a Concat that repeat, mirror or wrap what they read as one Pad.

What: a Concat of a tensor and of cells that Slices take of it becomes a Pad of mode edge, reflect
or wrap, and one in front of it on other axes goes into the same Pad. So exporters write circular
padding, and so plain-pad does: this takes it back.

Exact: always; which cells stand where is compared, not how they are cut. Where the axis may be so
short that the Slices take less than they say, it is left.

Refuses: sizes that are not known and may be too short, wrap before opset 19, bool and string before
opset 13, integers before 11.

Cost: none; fewer nodes.

Example: Concat of Slice [-1:], the input and Slice [:1] on axis 2 becomes Pad wrap [0,0,1, 0,0,1].
"""

from __future__ import annotations

from onnxpad.padding.chain import Chain, PassResult, Skip
from onnxpad.padding.expansion import Named
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Since
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.pads import require_numbers
from onnxpad.rewriting.steps.refusals import require

REMOVES = {Form.JOINED}
ADDS = {Form.REFLECT, Form.EDGE, Form.WRAP, Form.OUTER_AXES}


def rewrite(chain: Chain) -> PassResult:
    """A Pad in the place of the Concat."""
    step = chain.pad
    if step is None or not chain.reads or step.mode == "context":
        return Skip("no Concat of cells of what it joins", moot=True)
    if step.unclear:
        return step.unclear.as_skip()
    if step.mode == "wrap" and chain.opset < Since.PAD_WRAP:
        return Skip(f"it wraps, and Pad of opset {chain.opset} has no mode wrap, 19 is its first")
    is_number = chain.dtype not in ("bool", "string", "")
    takes_all = chain.opset >= Since.PAD_ANY_TYPE
    require(is_number or takes_all, f"Pad of opset {chain.opset} takes numbers alone")
    require_numbers(chain)
    composer = Composer(chain.opset, chain.dtype)
    sides = step.pads.begins, step.pads.ends
    return composer.finish(composer.pad(Named(chain.reads[0]), *sides, step.fill, mode=step.mode))
