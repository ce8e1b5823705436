"""Write average pools as depthwise convolutions.

What: a Conv with a group for each channel, whose weights are all 1 over the cells of the kernel.
Where the padding is not counted, or ceil_mode reads beyond it, a Mul behind makes up for the cells
that the divisor leaves out.

Exact: up to float rounding (the weights are rounded, and the Mul is one more product).

Refuses: integer averages; a number of channels that is not known; sizes that are not known where
the divisors or the pads depend on them; kernels with more than 262144 weights in all.

Cost: as many multiply-adds as the average had additions, a constant with the weights, and where
windows differ one Mul over the output with a constant as large as one channel.

Example: AveragePool k3 s2 pads=[1, 1] count_include_pad=1 on 8 channels becomes Conv k3 s2
pads=[1, 1] group=8 with the weight 1/3 [8, 1, 3].
"""

from __future__ import annotations

from math import prod

from onnxpad.padding.chain import Chain, Pads, PassResult
from onnxpad.padding.effective_pads import short_axis
from onnxpad.padding.expansion import Numbers, Read
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import AttributeValue, Kind, Since
from onnxpad.rewriting.steps.composer import Composer, window_attributes
from onnxpad.rewriting.steps.divisors import beyond_the_end, corrected
from onnxpad.rewriting.steps.refusals import known, refuse, require, require_type
from onnxpad.rewriting.steps.run_time_pads import pads_or_run_time

REMOVES = {
    Form.AVERAGE,
    Form.AUTO_PAD,
    Form.CEIL_MODE,
    Form.COUNTS_PADDING,
    Form.IGNORES_PADDING,
}
ADDS = {Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL}

_LARGEST = 1 << 18


def rewrite(chain: Chain) -> PassResult:
    """Average with weights that are all the same."""
    require(chain.op.kind is Kind.AVERAGE, "no average pool", moot=True)
    own = pads_or_run_time(chain)
    channels = _channels(chain)
    known(short_axis(chain, own))
    pads = own + beyond_the_end(chain, own)
    counted = own if chain.counts_padding else Pads.zero(chain.rank)
    if pads != counted:
        if not chain.has_fixed_sizes:
            refuse(
                "its divisors depend on sizes that are not known",
                "--pass floor-pool --pass counted-padding --pass uncounted-padding",
            )
        opset = chain.opset
        require(opset >= Since.BROADCASTING, f"Mul of opset {opset} does not broadcast shapes")
    composer = Composer(chain.opset, chain.dtype)
    attributes: dict[str, AttributeValue] = {"group": channels} | window_attributes(chain.axes)
    if any(pads.flat):
        attributes["pads"] = pads.flat
    kernel = tuple(axis.kernel for axis in chain.axes)
    weights = (1 / prod(kernel),) * (channels * prod(kernel))
    weight = Numbers("weight", chain.dtype, (channels, 1, *kernel), weights)
    average = composer.add("Conv", Read(0), weight, attributes=attributes)
    if pads != counted:
        average = corrected(composer, chain, average, pads, counted)
    return composer.finish(average)


def _channels(chain: Chain) -> int:
    """The number of channels, where there is such a convolution."""
    if chain.op.quantised:
        refuse("an integer average is no convolution: its sums are not rounded like one")
    require(chain.opset, "no version of the ONNX operators is imported, so it can have no Conv")
    require_type(chain)
    channels = chain.shape[1] if chain.shape else None
    if not isinstance(channels, int):
        refuse("the number of its channels is not known")
    require(channels > 0, "it has no channels, and a convolution needs one")
    weights = channels * prod(axis.kernel for axis in chain.axes)
    require(weights <= _LARGEST, f"it would need {weights} weights, more than {_LARGEST}")
    return channels
