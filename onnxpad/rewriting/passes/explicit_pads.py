"""Write auto_pad (VALID, SAME_UPPER, SAME_LOWER) as explicit pads.

What: resolves auto_pad by the formula of the ONNX text, with the dilated kernel; a ceil_mode that
SAME makes idle goes as well. runtime-pads writes SAME where a size is not known as a Pad node,
whose pads Shape and a few operators on one number per axis compute; averages that do not count
padding are divided by the average of padded ones. auto-pads goes the other way, for runtimes that
read nothing else (NNAPI, NNPA, TNN): SAME for pads that are those of SAME for every size, VALID for
none, and SAME_UPPER for SAME_LOWER where both give the same.

Exact: always, for every size that the model allows. A symbolic size is no obstacle where the pads
do not depend on it: stride 1, an even window of stride 2 with SAME_UPPER, an odd one with
SAME_LOWER, or what `--dim 'H%32=0'` settles. It repairs models that onnxruntime refuses (SAME with
dilation) or computes otherwise than the text. runtime-pads: averages up to float rounding.

Refuses: sizes that matter and are not known (use runtime-pads); auto_pad together with pads; inputs
shorter than the window; transposed convolutions; without a target, pools whose pads would reach the
kernel (use split-pads). runtime-pads: opsets before 11, used Indices, integer averages that do not
count padding. auto-pads: ceil_mode, and where runtimes disagree about SAME.

Cost: none; of runtime-pads a padded copy of the input and 8 to 11 small operators.

Example: Conv k3 s2 SAME_UPPER on 224x224 becomes pads=[0, 0, 1, 1].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onnxpad.geometry.windows import output_size, same_output, same_pads
from onnxpad.padding.chain import AutoPad, Chain, Pads, PassResult, Skip, is_same
from onnxpad.padding.effective_pads import effective_pads, rounds_up, same_is_disputed, short_axis
from onnxpad.padding.expansion import Read
from onnxpad.padding.fills import Implicit
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import AttributeValue, Kind, Since
from onnxpad.rewriting.passes import Way
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.divisors import counted_share, ones_of_input
from onnxpad.rewriting.steps.refusals import attempted, known, refuse, require
from onnxpad.rewriting.steps.run_time_pads import (
    pads_or_run_time,
    same_pads_of_input,
    value_while_running,
)

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


def _while_running(chain: Chain) -> Sequence[PassResult]:
    """Compute the pads of SAME while the model runs."""
    may_hang = is_same(chain.padding) and chain.op.kind is not Kind.TRANSPOSED
    require(may_hang, "no SAME padding that hangs on a size", moot=True)
    pads = effective_pads(chain)
    if isinstance(pads, Pads):
        reason = "its pads are the same for every size that is possible"
        return [Skip(reason, ("--pass explicit-pads",), moot=True, noted=True)]
    if chain.trouble:
        return [pads]
    # Pads that list their axes stay apart from pools.
    apart: PassResult = Skip("", (f"raise the model's opset to {Since.PAD_AXES} or newer",))
    if chain.opset >= Since.PAD_AXES:
        apart = _computed(chain, range(chain.tensor_rank))
    return [_computed(chain), apart]


def _computed(chain: Chain, axes: Sequence[int] = ()) -> PassResult:
    fill = value_while_running(chain)
    composer = Composer(chain.opset, chain.dtype)
    lower = chain.padding is AutoPad.SAME_LOWER
    pads = same_pads_of_input(composer, chain, lower=lower)
    padded = composer.pad_by(Read(0), pads, fill, axes=axes)
    sets: dict[str, AttributeValue] = {"pads": (0,) * (2 * chain.rank)}
    idle = ("ceil_mode",) if chain.ceil_mode else ()
    result = composer.itself({0: padded}, sets=sets, removes=("auto_pad", *idle))
    if chain.fill is Implicit.NOTHING:
        ones = ones_of_input(composer, chain)
        padded = composer.pad_by(ones, pads, fill, role="share_pad", axes=axes)
        share = counted_share(composer, chain, padded, {})
        result = composer.add("Div", result, share, role="average")
    return composer.finish(result)


def _said(chain: Chain) -> Chain | Skip:
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


WAYS = {
    "runtime-pads": Way(
        "Write SAME padding of an unknown size as a Pad whose pads the model computes.",
        _while_running,
        adds={Form.PAD_NODE, Form.PAD_VALUE, Form.DYNAMIC},
    ),
    "auto-pads": Way(
        "Write pads as auto_pad: SAME_UPPER before SAME_LOWER, VALID where nothing is padded.",
        _said,
        removes={
            Form.PADS,
            Form.ASYMMETRIC,
            Form.WIDER_THAN_KERNEL,
            Form.COUNTS_PADDING,
            Form.IGNORES_PADDING,
        },
        adds={Form.AUTO_PAD},
    ),
}
