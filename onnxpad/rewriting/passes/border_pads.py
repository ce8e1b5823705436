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

from onnxpad.padding.chain import Chain, NewPad, Pads, PassResult
from onnxpad.padding.effective_pads import axes_behind, effective_pads, floored, short_axis
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import Form, reaches_kernel
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.steps.pads import full_pads, require_numbers, require_pad
from onnxpad.rewriting.steps.refusals import known, refuse, require, require_type

REMOVES = {Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL}
MAY_REMOVE = {Form.AUTO_PAD, Form.CEIL_MODE}
ADDS = {Form.PAD_NODE, Form.EDGE}


def rewrite(chain: Chain) -> PassResult:
    """Repeat the border in a Pad node."""
    require(chain.op.kind is Kind.MAX, "no max pool", moot=True)
    own = known(effective_pads(chain))
    pads = known(floored(chain, own))
    require(any(pads.flat), "it does not pad", moot=True)
    _require_border(chain, pads)
    require_pad(chain, pads)
    known(short_axis(chain, own))
    return replace(
        chain.with_padding(Pads.zero(chain.rank)),
        axes=axes_behind(chain, pads),
        ceil_mode=False,
        pad=NewPad(full_pads(chain, pads), Constant(0), "edge"),
    )


def _require_border(chain: Chain, pads: Pads) -> None:
    """Leave alone pools of which a window may hold no cell of the border, or another number."""
    if chain.op.name == "MaxpoolWithMask":
        refuse("MaxpoolWithMask has an input that depends on its own padding")
    require(not chain.uses_indices, "its Indices are used, and would be those of the padded cells")
    if any(axis.dilation > 1 for axis in chain.axes):
        refuse("its windows have gaps, and may reach over the border without its cell")
    if reaches_kernel(chain, pads):
        refuse("a pad is as wide as the kernel: a window may hold padding alone")
    if any(isinstance(axis.size, int) and axis.size < 1 for axis in chain.axes):
        refuse("an axis has no cell to repeat")
    require_type(chain)
    require_numbers(chain)
