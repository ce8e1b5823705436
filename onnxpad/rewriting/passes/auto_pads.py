"""Write pads as auto_pad: SAME_UPPER before SAME_LOWER, VALID where nothing is padded.

What: where SAME gives the same windows for every size that the model allows, auto_pad takes the
place of the pads; where all pads are 0, VALID does. SAME_LOWER becomes SAME_UPPER where both give
the same. Some runtimes (NNAPI, NNPA, TNN) read nothing else, and not all of them have SAME_LOWER.

Exact: always; a symbolic size is no obstacle where SAME does not depend on it.

Refuses: pads that are not those of SAME for every size (split-pads moves them into a Pad node, and
the operator becomes VALID); dilations and kernels shorter than the stride, where runtimes disagree
about SAME; ceil_mode; transposed convolutions, whose pads crop.

Cost: none.

Example: Conv k3 s2 pads=[0, 0, 1, 1] on 224x224 becomes SAME_UPPER.
"""

from __future__ import annotations

from dataclasses import replace

from onnxpad.geometry.windows import output_size, same_output, same_pads
from onnxpad.padding.chain import AutoPad, Chain, Pads, Skip
from onnxpad.padding.effective_pads import effective_pads, same_is_disputed, short_axis
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.steps.refusals import attempted, known, refuse, require

REMOVES = {
    Form.PADS,
    Form.ASYMMETRIC,
    Form.WIDER_THAN_KERNEL,
    Form.COUNTS_PADDING,
    Form.IGNORES_PADDING,
}
MAY_REMOVE = {Form.CEIL_MODE}
ADDS = {Form.AUTO_PAD}


def rewrite(chain: Chain) -> Chain | Skip:
    """Say SAME where the pads are those of SAME, and VALID where there are none."""
    require(chain.op.has_windows, "no padded operator", moot=True)
    written = attempted(_written, chain)
    if isinstance(chain.padding, AutoPad):
        is_lower = chain.padding is AutoPad.SAME_LOWER
        if isinstance(written, Skip) or not is_lower or written.padding is chain.padding:
            refuse("auto_pad says it", moot=True)
    return written


def _written(chain: Chain) -> Chain:
    pads = known(effective_pads(chain))
    pads_nothing = not any(pads.flat)
    if pads_nothing and (chain.op.kind is Kind.TRANSPOSED or not chain.op.auto_pad):
        refuse("it does not pad", moot=True)
    if chain.op.kind is Kind.TRANSPOSED:
        refuse("the pads of a transposed convolution crop its output")
    require(chain.op.auto_pad, f"{chain.op.name} has no auto_pad")
    if chain.ceil_mode and not isinstance(chain.padding, AutoPad):
        refuse("ceil_mode is set, which auto_pad has no use for", "--pass floor-pool")
    if not pads_nothing and same_is_disputed(chain):
        refuse("runtimes disagree about SAME with dilations or a kernel below the stride")
    known(short_axis(chain, pads))
    if pads_nothing:
        return replace(chain.with_padding(AutoPad.VALID), ceil_mode=False)
    for mode in (AutoPad.SAME_UPPER, AutoPad.SAME_LOWER):
        if all(_is_same(chain, pads, index, mode) for index in range(chain.rank)):
            return chain.with_padding(mode)
    return refuse(f"the pads {list(pads.flat)} are not those of SAME for every size")


def _is_same(chain: Chain, pads: Pads, index: int, mode: AutoPad) -> bool:
    """Whether one axis has the begin and the windows of SAME; what lies behind is never read.

    Pads that are those of SAME for every size are so for one of which only a remainder is known.
    """
    axis, begin, end = chain.axes[index], pads.begins[index], pads.ends[index]
    lower = mode is AutoPad.SAME_LOWER
    if same_pads(axis._replace(size=None), lower=lower) == (begin, end):
        return True
    wanted = same_pads(axis, lower=lower)
    if wanted is None or wanted[0] != begin:
        return False
    if wanted[1] == end:
        return True
    if axis.size is None or end < wanted[1]:
        return False
    return output_size(axis, begin, end) == same_output(axis.size, axis.stride)
