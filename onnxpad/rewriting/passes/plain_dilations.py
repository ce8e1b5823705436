"""Write the dilations of a convolution as taps of 0 between those of its kernel.

What: dilations become 1, and the kernel spans as many cells as before; the taps between its own are
0, or the zero point of the weight. The weight becomes a new constant; others that read the old one
keep it. Transposed convolutions alike.

Exact: for every size of the input. The new taps add 0 times a cell: nothing, unless the cell is
infinite or not a number.

Refuses: weights and weight zero points that are no constants of the model, or that an input of the
model can replace; output_padding that only the dilation allows; inputs shorter than the window;
pools; DeformConv.

Cost: the multiply-adds and the bytes of the new taps; no operator.

Example: Conv k3 d2 pads=[2, 2] becomes Conv k5 pads=[2, 2] with the kernel [a, 0, b, 0, c].
"""

from __future__ import annotations

from dataclasses import replace

from onnxpad.padding.chain import Chain, PassResult, Skip
from onnxpad.padding.effective_pads import effective_pads, short_axis
from onnxpad.padding.forms import Form
from onnxpad.rewriting.steps.symmetric import kernel_refusal, weight_refusal, with_taps

REMOVES: set[Form] = set()
ADDS = {Form.WIDER_THAN_KERNEL}


def rewrite(chain: Chain) -> PassResult:
    """Spread the kernel."""
    dilations = tuple(axis.dilation for axis in chain.axes)
    if not chain.op.has_windows or all(one == 1 for one in dilations):
        return Skip("it has no dilation above 1", moot=True)
    if chain.trouble:
        return chain.trouble.as_skip()
    if refusal := weight_refusal(chain):
        return refusal
    pads = effective_pads(chain)
    if not isinstance(pads, Skip) and (short := short_axis(chain, pads)):
        return short
    pairs = zip(chain.output_padding, chain.axes, strict=False)
    if any(extra >= axis.stride for extra, axis in pairs):
        return Skip("its output_padding reaches the stride, which the dilation alone allows")
    plain = replace(chain, axes=tuple(axis._replace(dilation=1) for axis in chain.axes))
    if refusal := kernel_refusal(plain, [axis.span for axis in chain.axes]):
        return refusal
    none = (0,) * chain.rank
    return with_taps(chain, none, none, {"dilations": (1,) * chain.rank}, steps=dilations)
