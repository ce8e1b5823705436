"""Write SAME padding of an unknown size as a Pad whose pads are computed while the model runs.

What: for auto_pad=SAME_UPPER or SAME_LOWER where explicit-pads lacks a size: Shape and a few
operators on one number per axis compute the pads, a Pad node writes them, and the operator is
left without padding. Axes whose pads do not depend on the size (stride 1, SAME_LOWER with stride
2 and an odd window ...) are plain numbers in the same Pad. Averages that do not count padding are
divided by the average of padded ones. An idle ceil_mode goes.

Exact: always, with the formula of the ONNX text (dilated kernel, clamped at 0); averages that do
not count padding up to float rounding. It repairs models that onnxruntime refuses (SAME with
dilation) or computes otherwise than the text.

Refuses: nodes whose pads explicit-pads can write as numbers; opsets before 11 (the pads of a Pad
are attributes); auto_pad together with pads; max pools whose Indices are used; integer averages
that do not count padding; a zero point for each channel; unknown element types; pools that
need a Pad with axes before opset 18, which has them. bfloat16 is written, though onnxruntime's CPU
has no Pad for it, nor such convolutions and pools.

Cost: a padded copy of the input for each operator; 8 to 11 small operators.

Example: Conv k3 s2 SAME_UPPER on [n, 3, h, w] becomes Shape, Sub 1, Mod 2, Sub from 2, Div 2, Sub,
Concat, Pad and Conv pads=[0, 0, 0, 0].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnxpad.padding.chain import AutoPad, Chain, Pads, PassResult, Skip, is_same
from onnxpad.padding.effective_pads import effective_pads
from onnxpad.padding.expansion import Read
from onnxpad.padding.fills import Implicit
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import AttributeValue, Kind, Since
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.divisors import counted_share, ones_of_input
from onnxpad.rewriting.steps.refusals import require
from onnxpad.rewriting.steps.run_time_pads import same_pads_of_input, value_while_running

REMOVES = {Form.AUTO_PAD}
MAY_REMOVE = {Form.CEIL_MODE}
ADDS = {Form.PAD_NODE, Form.PAD_VALUE, Form.DYNAMIC}


def rewrite(chain: Chain) -> PassResult:
    """Compute the pads of SAME while the model runs."""
    may_hang = is_same(chain.padding) and chain.op.kind is not Kind.TRANSPOSED
    require(may_hang, "no SAME padding that hangs on a size", moot=True)
    pads = effective_pads(chain)
    if isinstance(pads, Pads):
        reason = "its pads are the same for every size that is possible"
        return Skip(reason, ("--pass explicit-pads",), moot=True, noted=True)
    return pads if chain.trouble else _computed(chain)


def otherwise(chain: Chain) -> Iterator[PassResult]:
    """The same with Pads that list their axes, which keeps them apart from pools."""
    if chain.opset >= Since.PAD_AXES:
        yield _computed(chain, range(chain.tensor_rank))
    else:
        yield Skip("", (f"raise the model's opset to {Since.PAD_AXES} or newer",))


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
