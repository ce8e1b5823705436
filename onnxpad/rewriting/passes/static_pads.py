"""Write pads that the model computes as constants, where they are known.

What: the arithmetic of exporters (ConstantOfShape, Concat, Reshape, Slice, Transpose and Cast of
TorchScript; sums, quotients and remainders of sizes from Shape, as runtime-pads writes them too)
is evaluated, pads, value and axes of the Pad become constants over all axes, and what computed
them goes when nothing else reads it. A fact such as --dim 'H%32=0' is enough where the pads are
the same for all such sizes. ConvTransposeWithDynamicPads becomes ConvTranspose with an attribute.

all-axes does this for pads that are listed for some axes, with 0 for the rest.

Exact: always, for the sizes that the model and `--dim` state.

Refuses: pads that hang on sizes that are not known, an initializer that an input of the model can
replace; ConvTransposeWithDynamicPads with auto_pad, negative pads, or pads that leave nothing.

Cost: none; fewer nodes.

Example: Pad whose pads are Concat of [0,0,1] and [0,0,1] becomes Pad with [0,0,1, 0,0,1].
"""

from __future__ import annotations

from collections.abc import Sequence

from onnxpad.padding.chain import Chain, PadStep, PassResult
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind, PadInput
from onnxpad.rewriting.passes import Way
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.pads import pad_itself, pad_node
from onnxpad.rewriting.steps.refusals import refuse, require, require_type
from onnxpad.rewriting.steps.transposed import as_standard, explicit_crop

REMOVES = {Form.DYNAMIC, Form.PADS_INPUT}
ADDS = {Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL}


def rewrite(chain: Chain) -> PassResult:
    """Write known numbers in place of what computes them."""
    if chain.op.kind is Kind.PAD and chain.pad is not None:
        step = pad_node(chain)
        require(step.computed, "its pads are constant", moot=True)
        writes = PadInput.VALUE in step.computed
        if writes:
            require_type(chain)
        return _numbers(chain, step, value=writes)
    if chain.op.pads_input is None or not chain.inputs[chain.op.pads_input :]:
        refuse("its pads are no input", moot=True)
    return as_standard(chain, explicit_crop(chain))


def _all_axes(chain: Chain) -> Sequence[PassResult]:
    lists_axes = chain.op.kind is Kind.PAD and chain.inputs[3:4] == (True,)
    require(lists_axes and chain.pad, "no Pad node that lists axes", moot=True)
    return [_numbers(chain, pad_node(chain), value=False)]


def _numbers(chain: Chain, step: PadStep, *, value: bool) -> PassResult:
    composer = Composer(chain.opset, chain.dtype)
    return composer.finish(pad_itself(composer, chain, step.pads, value=value))


WAYS = {
    "all-axes": Way.of(
        "Write the pads of a Pad node over all axes, without the input axes.",
        _all_axes,
        {Form.PAD_AXES},
    )
}
