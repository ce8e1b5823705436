"""Pad max pools with their border cells, by a Pad node in mode edge.

What: the pads attribute becomes zeros, and a Pad node in front repeats the border. Runtimes whose
max pools pad with 0, or which have no Pad with a value, get the maximum right that way. Behind a
DequantizeLinear the Pad goes in front of it, as those of split-pads.

Exact: always; a window that reaches over the border holds the border cell already.

Refuses: windows that may hold padding alone (pads as wide as the kernel), dilations, used Indices,
negative pads, sizes that are not known where pads or ceil_mode hang on them.

Cost: one Pad node and a padded copy of the input for each operator.

Example: MaxPool of kernel 3 with pads=[1, 1, 1, 1] becomes Pad edge [0,0,1,1, 0,0,1,1] and MaxPool
pads=[0, 0, 0, 0].
"""

from __future__ import annotations

from dataclasses import replace

from onnxpad.padding.chain import Chain, NewPad, Pads, PassResult, Skip
from onnxpad.padding.effective_pads import axes_behind, effective_pads, floored, short_axis
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import Form, reaches_kernel
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.steps.pads import full_pads, integers_refusal, pad_refusal

REMOVES = {Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL}
MAY_REMOVE = {Form.AUTO_PAD, Form.CEIL_MODE}
ADDS = {Form.PAD_NODE, Form.EDGE}


def rewrite(chain: Chain) -> PassResult:
    """Repeat the border in a Pad node."""
    if chain.op.kind is not Kind.MAX:
        return Skip("no max pool", moot=True)
    pads = effective_pads(chain)
    if isinstance(pads, Skip):
        return pads
    if isinstance(found := floored(chain, pads), Skip):
        return found
    if not any(found.flat):
        return Skip("it does not pad", moot=True)
    if refusal := _refusal(chain, found) or pad_refusal(chain, found) or short_axis(chain, pads):
        return refusal
    return replace(
        chain.with_padding(Pads.zero(chain.rank)),
        axes=axes_behind(chain, found),
        ceil_mode=False,
        pad=NewPad(full_pads(chain, found), Constant(0), "edge"),
    )


def _refusal(chain: Chain, pads: Pads) -> Skip | None:
    if chain.op.name == "MaxpoolWithMask":
        return Skip("MaxpoolWithMask has an input that depends on its own padding")
    if chain.uses_indices:
        return Skip("its Indices are used, and would be those of the padded cells")
    if any(axis.dilation > 1 for axis in chain.axes):
        return Skip("its windows have gaps, and may reach over the border without its cell")
    if reaches_kernel(chain, pads):
        return Skip("a pad is as wide as the kernel: a window may hold padding alone")
    if any(isinstance(axis.size, int) and axis.size < 1 for axis in chain.axes):
        return Skip("an axis has no cell to repeat")
    if not chain.dtype:
        return Skip("the element type of its input is not known")
    return integers_refusal(chain)
