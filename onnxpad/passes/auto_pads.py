"""Write explicit pads as auto_pad: SAME_UPPER, SAME_LOWER.

What: where SAME gives the same windows for every size that the model allows, auto_pad takes the
place of the pads. Some runtimes (NNAPI, NNPA, TNN) read nothing else.

Exact: always; a symbolic size is no obstacle where SAME does not depend on it.

Refuses: pads that are not those of SAME for every size; dilations and kernels shorter than the
stride, where runtimes disagree about SAME; ceil_mode.

Cost: none.

Example: Conv k3 s2 pads=[0, 0, 1, 1] on 224x224 becomes SAME_UPPER.
"""

from __future__ import annotations

from dataclasses import replace

from onnxpad.chain import AutoPad, Chain, Pads, Skip
from onnxpad.effective import effective_pads, same_is_disputed
from onnxpad.forms import Form
from onnxpad.geometry.axis import output_size
from onnxpad.geometry.same import same_output, same_pads
from onnxpad.ops import Kind

REMOVES = {
    Form.PADS,
    Form.ASYMMETRIC,
    Form.WIDER_THAN_KERNEL,
    Form.COUNTS_PADDING,
    Form.IGNORES_PADDING,
}
ADDS = {Form.AUTO_PAD}


def rewrite(chain: Chain) -> Chain | Skip:
    """Say SAME where the pads are those of SAME."""
    if chain.op.kind in (Kind.PAD, Kind.FOLD, Kind.OTHER) or isinstance(chain.padding, AutoPad):
        return Skip("no explicit pads", moot=True)
    pads = effective_pads(chain)
    if isinstance(pads, Skip):
        return pads
    if not any(pads.flat):
        return Skip("it does not pad", moot=True)
    if refusal := _refusal(chain):
        return refusal
    for mode in (AutoPad.SAME_UPPER, AutoPad.SAME_LOWER):
        if all(_is_same(chain, pads, index, mode) for index in range(chain.rank)):
            return replace(chain, padding=mode)
    return Skip(f"the pads {list(pads.flat)} are not those of SAME for every size")


def _refusal(chain: Chain) -> Skip | None:
    if chain.op.kind is Kind.TRANSPOSED:
        return Skip("the pads of a transposed convolution crop its output")
    if not chain.op.auto_pad:
        return Skip(f"{chain.op.name} has no auto_pad")
    if chain.ceil_mode:
        return Skip("ceil_mode is set, which SAME has no use for", ("--pass floor-pool",))
    if same_is_disputed(chain):
        return Skip("runtimes disagree about SAME with dilations or a kernel below the stride")
    return None


def _is_same(chain: Chain, pads: Pads, index: int, mode: AutoPad) -> bool:
    """Whether one axis has the begin and the windows of SAME; what lies behind is never read."""
    axis, begin, end = chain.axes[index], pads.begins[index], pads.ends[index]
    wanted = same_pads(axis, lower=mode is AutoPad.SAME_LOWER)
    if wanted is None or wanted[0] != begin:
        return False
    if wanted[1] == end:
        return True
    if axis.size is None or end < wanted[1]:
        return False
    return output_size(axis, begin, end) == same_output(axis.size, axis.stride)
