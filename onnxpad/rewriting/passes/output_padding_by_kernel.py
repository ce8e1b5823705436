"""Write output_padding of a transposed convolution as taps of 0 at the end of its kernel.

What: output_padding, or what negative end pads add, and the end pad shrink together as far as they
can. For what is left the kernel grows at its back by taps of 0, so that the full output is long
enough to be cropped. output-padding-by-pad adds the cells in a Pad behind instead, and a bias in an
Add behind that. separate-bias moves the bias of any convolution into an Add, for runtimes that
compute it wrongly.

Exact: for every size of the input. 0 times a cell adds nothing, unless the cell is infinite or not
a number. output-padding-by-pad bit for bit, if the runtime adds the bias last.

Refuses: output_shape on an input of unknown size; weights that are no constants of the model.
output-padding-by-pad: begin pads that may crop all but the cells of output_padding (slice-transpose
first); a bias before opset 7, and of quantised convolutions or those of com.microsoft.

Cost: the multiply-adds and the bytes of the new taps, or one or two operators over the output.

Example: ConvTranspose k3 s2 pads=[1, 1] output_padding=[1] becomes pads=[1, 0].
"""

from __future__ import annotations

from collections.abc import Sequence

from onnxpad.geometry.size import lower_bound
from onnxpad.geometry.windows import Axis, TapsAround, full_size, taps_behind
from onnxpad.padding.chain import Chain, Pads, PassResult
from onnxpad.padding.expansion import Expansion, Made, Numbers, Operand, Read
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import CONV_BIAS, Kind, Since
from onnxpad.rewriting.passes import Way
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.refusals import refuse, require, require_windows
from onnxpad.rewriting.steps.transposed import (
    Crop,
    grown,
    require_axes,
    standard_crop,
    with_crop,
    written,
)

REMOVES = {Form.OUTPUT_PADDING}
MAY_REMOVE = {Form.AUTO_PAD, Form.OUTPUT_SHAPE, Form.NEGATIVE}
ADDS = {Form.PAD_AXES, Form.PAD_NODE, Form.ASYMMETRIC, Form.PADS, Form.WIDER_THAN_KERNEL}


def rewrite(chain: Chain) -> PassResult:
    """Let the kernel reach as far as output_padding did."""
    crop = standard_crop(chain)
    require(any(crop.extra), "no output_padding", moot=True)
    behind = list(map(taps_behind, chain.axes, crop.pads.ends, crop.extra))
    less = Crop(Pads(crop.pads.begins, tuple(end for _, end in behind)), (0,) * chain.rank)
    return grown(chain, less, [TapsAround(end, 0, 0, taps) for taps, end in behind])


def _by_pad(chain: Chain) -> PassResult:
    crop = standard_crop(chain, by_pad=True)
    require(any(crop.extra), "no output_padding", moot=True)
    rests = [max(0, -cells) for cells in crop.beyond]
    less = Crop(
        Pads(crop.pads.begins, tuple(max(0, cells) for cells in crop.beyond)), (0,) * chain.rank
    )
    if not any(rests):
        return with_crop(chain, less)
    if any(map(_swallowed, chain.axes, crop.pads.begins, rests)):
        reason = "its begin pads may crop all that it computes, and leave cells of output_padding"
        refuse(reason, "--pass slice-transpose")
    composer = Composer(chain.opset, chain.dtype)
    sets, gone = written(chain, less)
    if chain.inputs[CONV_BIAS : CONV_BIAS + 1] != (True,):
        whole = composer.itself(sets=sets, removes=gone)
        return composer.finish(_padded_apart(composer, chain, whole, rests))
    whole = composer.itself({CONV_BIAS: None}, sets=sets, removes=gone)
    # The cells of the Pad hold the bias too.
    return with_bias_behind(composer, chain, _padded(composer, chain, whole, rests))


def _swallowed(axis: Axis, begin: int, rest: int) -> bool:
    """Whether no cell may be left in front of those that a Pad would add."""
    least = 1 if axis.size is None else max(1, lower_bound(axis.size))
    full = full_size(axis._replace(size=least))
    return rest > 0 and isinstance(full, int) and full <= begin


def _padded(composer: Composer, chain: Chain, whole: Made, rests: Sequence[int]) -> Made:
    return composer.pad(whole, (0,) * chain.tensor_rank, (0, 0, *rests), Constant(0))


def _padded_apart(composer: Composer, chain: Chain, whole: Made, rests: Sequence[int]) -> Made:
    """With a Pad that nothing is fused with."""
    axes = [chain.first_axis + index for index, rest in enumerate(rests) if rest]
    few = [rest for rest in rests if rest]
    if chain.opset >= Since.PAD_AXES:
        flat = (*([0] * len(few)), *few)
        inputs: list[Operand | None] = [whole, Numbers("pad_pads", "int64", (len(flat),), flat)]
        inputs += [None, Numbers("pad_axes", "int64", (len(axes),), tuple(axes))]
        return composer.add("Pad", *inputs, attributes={"mode": "constant"})
    more = [rest + bool(rest) for rest in rests]
    wide = _padded(composer, chain, whole, more)
    return composer.slice(wide, axes, [0] * len(axes), [-1] * len(axes))


def _apart(chain: Chain) -> PassResult:
    """Add the bias behind."""
    op = chain.op
    if op.kind not in (Kind.CONVOLUTION, Kind.TRANSPOSED) or op.weight != 1 or op.quantised:
        refuse("no convolution", moot=True)
    if chain.inputs[CONV_BIAS : CONV_BIAS + 1] != (True,) or op.name == "DeformConv":
        refuse("it has no bias", moot=True)
    require(not op.domain, "it computes more behind the bias", moot=True)
    require(chain.axes and not chain.trouble, "its padding cannot be read")
    composer = Composer(chain.opset, chain.dtype)
    result = with_bias_behind(composer, chain, composer.itself({CONV_BIAS: None}))
    require_windows(chain)
    require_axes(chain)
    return result


def with_bias_behind(composer: Composer, chain: Chain, data: Made) -> Expansion:
    """`data` with the bias of the convolution, which refuses before Add broadcasts."""
    reason = f"Add of opset {chain.opset} has no broadcasting that a bias needs"
    require(chain.opset >= Since.BROADCASTING, reason)
    bias = composer.unsqueeze(Read(CONV_BIAS), range(1, chain.rank + 1), role="bias")
    return composer.finish(composer.add("Add", data, bias, role="with_bias"))


WAYS = {
    "output-padding-by-pad": Way(
        "Write output_padding of a transposed convolution as a Pad node behind it.", _by_pad
    ),
    "separate-bias": Way(
        "Write the bias of a convolution as an Add behind it.",
        _apart,
        removes=set(),
        adds=set(),
    ),
}
