"""Write pads that the model computes as constants, where they are known.

What: the arithmetic of exporters (ConstantOfShape, Concat, Reshape, Slice, Transpose and Cast of
TorchScript; sums, quotients and remainders of sizes from Shape, as runtime-pads writes them too)
is evaluated, pads, value and axes of the Pad become constants over all axes, and what computed
them goes when nothing else reads it. A fact such as --dim 'H%32=0' is enough where the pads are
the same for all such sizes. ConvTransposeWithDynamicPads becomes ConvTranspose with an attribute.

Exact: always, for the sizes that the model and `--dim` state.

Refuses: pads that hang on sizes that are not known, an initializer that an input of the model can
replace; ConvTransposeWithDynamicPads with auto_pad, negative pads, or pads that leave nothing.

Cost: none; fewer nodes.

Example: Pad whose pads are Concat of [0,0,1] and [0,0,1] becomes Pad with [0,0,1, 0,0,1].
"""

from __future__ import annotations

from onnxpad.padding.chain import Chain, PadStep, PassResult, Skip
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind, PadInput
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.pads import pad_itself
from onnxpad.rewriting.steps.transposed import as_standard, explicit_crop

REMOVES = {Form.DYNAMIC, Form.PADS_INPUT}
ADDS = {Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL}


def rewrite(chain: Chain) -> PassResult:
    """Write known numbers in place of what computes them."""
    step = chain.pad
    if chain.op.kind is Kind.PAD and step is not None:
        return _static_pad(chain, step)
    if chain.op.pads_input is not None and chain.inputs[chain.op.pads_input :]:
        crop = explicit_crop(chain)
        return crop if isinstance(crop, Skip) else as_standard(chain, crop)
    return Skip("its pads are no input", moot=True)


def _static_pad(chain: Chain, step: PadStep) -> PassResult:
    if step.unclear:
        return step.unclear.as_skip()
    if not step.computed:
        return Skip("its pads are constant", moot=True)
    writes = PadInput.VALUE in step.computed
    if writes and not chain.dtype:
        return Skip("the element type of its input is not known")
    composer = Composer(chain.opset, chain.dtype)
    return composer.finish(pad_itself(composer, chain, step.pads, value=writes))
