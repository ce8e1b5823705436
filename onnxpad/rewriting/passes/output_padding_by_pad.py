"""Write output_padding of a transposed convolution as a Pad node behind it.

What: output_padding, or what negative end pads add, and the end pad shrink together as far as
they can; a Pad behind the convolution adds the cells that are left. They hold the bias too, so
that a bias moves into an Add behind the Pad. Without a bias, for runtimes that fuse a plain Pad
into what reads it, the Pad lists its axes or, before opset 18, pads one cell more that a Slice
drops.

Exact: for every size of the input; bit for bit, if the runtime adds the bias last.

Refuses: begin pads that may crop all but the cells of output_padding (slice-transpose first); a
bias before opset 7 (Add had no broadcasting of this kind); output_shape on an input of unknown
size.

Cost: one or two more operators over the output; with a bias an Unsqueeze of it too.

Example: ConvTranspose k1 s3 output_padding=[2] with a bias becomes ConvTranspose, Pad and Add.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from onnxpad.geometry.size import lower_bound
from onnxpad.geometry.windows import Axis, full_size
from onnxpad.padding.chain import Chain, Pads, PassResult, Skip
from onnxpad.padding.expansion import Made, Numbers, Operand, Read
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import CONV_BIAS, Since
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.transposed import Crop, standard_crop, with_crop, written

REMOVES = {Form.OUTPUT_PADDING}
MAY_REMOVE = {Form.AUTO_PAD, Form.OUTPUT_SHAPE, Form.NEGATIVE}
ADDS = {Form.PAD_AXES, Form.PAD_NODE, Form.ASYMMETRIC, Form.PADS, Form.WIDER_THAN_KERNEL}

_Padding = Callable[[Composer, Chain, Made, Sequence[int]], Made]


def rewrite(chain: Chain) -> PassResult:
    """Let a Pad node add the cells of output_padding."""
    return _rewritten(chain, _padded)


def otherwise(chain: Chain) -> Iterator[PassResult]:
    """The same with a Pad that nothing is fused with."""
    yield _rewritten(chain, _padded_apart)


def _rewritten(chain: Chain, padded: _Padding) -> PassResult:
    crop = standard_crop(chain, by_pad=True)
    if isinstance(crop, Skip):
        return crop
    if not any(crop.extra):
        return Skip("no output_padding", moot=True)
    rests = [max(0, more - end) for end, more in zip(crop.pads.ends, crop.extra, strict=True)]
    ends = tuple(map(lambda end, more: max(0, end - more), crop.pads.ends, crop.extra))
    less = Crop(Pads(crop.pads.begins, ends), (0,) * chain.rank)
    if not any(rests):
        return with_crop(chain, less)
    if any(map(_swallowed, chain.axes, crop.pads.begins, rests)):
        reason = "its begin pads may crop all that it computes, and leave cells of output_padding"
        return Skip(reason, ("--pass slice-transpose",))
    has_bias = chain.inputs[CONV_BIAS : CONV_BIAS + 1] == (True,)
    if has_bias and chain.opset < Since.BROADCASTING:
        return Skip(f"Add of opset {chain.opset} has no broadcasting that a bias needs")
    composer = Composer(chain.opset, chain.dtype)
    sets, gone = written(chain, less)
    whole = composer.itself({CONV_BIAS: None} if has_bias else {}, sets=sets, removes=gone)
    if not has_bias:
        return composer.finish(padded(composer, chain, whole, rests))
    with_cells = _padded(composer, chain, whole, rests)
    bias = composer.unsqueeze(Read(CONV_BIAS), range(1, chain.rank + 1), role="bias")
    return composer.finish(composer.add("Add", with_cells, bias, role="with_bias"))


def _swallowed(axis: Axis, begin: int, rest: int) -> bool:
    """Whether no cell may be left in front of those that a Pad would add."""
    least = 1 if axis.size is None else max(1, lower_bound(axis.size))
    full = full_size(axis._replace(size=least))
    return rest > 0 and isinstance(full, int) and full <= begin


def _padded(composer: Composer, chain: Chain, whole: Made, rests: Sequence[int]) -> Made:
    return composer.pad(whole, (0,) * chain.tensor_rank, (0, 0, *rests), Constant(0))


def _padded_apart(composer: Composer, chain: Chain, whole: Made, rests: Sequence[int]) -> Made:
    axes = [chain.first_axis + index for index, rest in enumerate(rests) if rest]
    few = [rest for rest in rests if rest]
    if chain.opset >= Since.PAD_AXES:
        flat = (*([0] * len(few)), *few)
        inputs: list[Operand | None] = [whole, Numbers("pad_pads", "int64", (len(flat),), flat)]
        inputs += [None, Numbers("pad_axes", "int64", (len(axes),), tuple(axes))]
        return composer.add("Pad", *inputs, attributes={"mode": "constant"})
    more = [rest + bool(rest) for rest in rests]
    return composer.slice(
        _padded(composer, chain, whole, more), axes, [0] * len(axes), [-1] * len(axes)
    )
