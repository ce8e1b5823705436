"""Write auto_pad (VALID, SAME_UPPER, SAME_LOWER) as explicit pads.

What: resolves auto_pad by the formula of the ONNX text, with the dilated kernel, and writes
the numbers into `pads`; auto_pad goes, and so does a ceil_mode that SAME makes idle.

Exact: always, for every size that the model allows. A symbolic size is no obstacle where the
pads do not depend on it: stride 1, SAME_UPPER with stride 2 and an even window, SAME_LOWER
with stride 2 and an odd one, or what `--dim 'H%32=0'` settles. It repairs models that
onnxruntime refuses (SAME with dilation) or computes otherwise than the text (pools with
dilation, kernels shorter than the stride).

Refuses: sizes that matter and are not known (use runtime-pads); auto_pad together with pads;
inputs shorter than the window; transposed convolutions. Without a target, pools whose pads would
reach the kernel are left alone too, since onnxruntime does not load them (use split-pads).

Cost: none.

Example: Conv k3 s2 SAME_UPPER on 224x224 becomes pads=[0, 0, 1, 1].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from onnxpad.padding.chain import AutoPad, Chain, PassResult, Skip
from onnxpad.padding.effective_pads import rounds_up, short_axis
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.steps.pads import by_a_pad_node
from onnxpad.rewriting.steps.refusals import known, refuse, require
from onnxpad.rewriting.steps.run_time_pads import pads_or_run_time

REMOVES = {Form.AUTO_PAD}
MAY_REMOVE = {Form.CEIL_MODE}
ADDS = {
    Form.PADS,
    Form.ASYMMETRIC,
    Form.WIDER_THAN_KERNEL,
    Form.COUNTS_PADDING,
    Form.IGNORES_PADDING,
}


def rewrite(chain: Chain) -> Chain:
    """Replace auto_pad by the pads that it stands for."""
    is_used = isinstance(chain.padding, AutoPad) or chain.trouble or chain.conflict_settled
    require(chain.op.has_windows and is_used, "auto_pad is not used", moot=True)
    if chain.op.kind is Kind.TRANSPOSED and not chain.trouble:
        reason = "a transposed convolution crops; its auto_pad is not a matter of this pass"
        refuse(reason, "--pass plain-transpose")
    pads = pads_or_run_time(chain)
    known(short_axis(chain, pads))
    return replace(chain.with_padding(pads), ceil_mode=rounds_up(chain))


def otherwise(chain: Chain) -> Iterator[PassResult]:
    """No other way; what to type for those that onnxruntime refuses."""
    yield Skip("", (by_a_pad_node(chain),))
