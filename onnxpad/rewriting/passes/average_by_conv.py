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

from onnxpad.padding.chain import Chain, Pads, PassResult, Skip
from onnxpad.padding.effective_pads import effective_pads, short_axis
from onnxpad.padding.expansion import Made, Numbers, Read
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import AttributeValue, Kind, Since
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.divisors import beyond_the_end, corrections
from onnxpad.rewriting.steps.run_time_pads import offering_run_time

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
    if chain.op.kind is not Kind.AVERAGE:
        return Skip("no average pool", moot=True)
    pads = effective_pads(chain)
    if isinstance(pads, Skip):
        return offering_run_time(chain, pads)
    channels = _channels(chain)
    if isinstance(channels, Skip):
        return channels
    if short := short_axis(chain, pads):
        return short
    beyond = beyond_the_end(chain, pads)
    if isinstance(beyond, Skip):
        return beyond
    counted = pads if chain.counts_padding else Pads.zero(chain.rank)
    all_known = chain.has_fixed_sizes
    if pads + beyond != counted and not all_known:
        return Skip(
            "its divisors depend on sizes that are not known", (_without_sizes(chain, pads),)
        )
    return _convolved(chain, channels, pads + beyond, counted)


def _without_sizes(chain: Chain, pads: Pads) -> str:
    """The passes that divide while the model runs; those that write ceil_mode as pads before."""
    if not any(pads.flat):
        return "--pass floor-pool --pass uncounted-padding"
    before = "--pass counted-padding " if chain.counts_padding else ""
    return f"{before}--pass uncounted-padding"


def _channels(chain: Chain) -> int | Skip:
    if chain.op.quantised:
        return Skip("an integer average is no convolution: its sums are not rounded like one")
    if not chain.opset:
        return Skip("no version of the ONNX operators is imported, so it can have no Conv")
    if not chain.dtype:
        return Skip("the element type of its input is not known")
    channels = chain.shape[1] if chain.shape else None
    if not isinstance(channels, int):
        return Skip("the number of its channels is not known")
    if channels < 1:
        return Skip("it has no channels, and a convolution needs one")
    weights = channels * prod(axis.kernel for axis in chain.axes)
    if weights > _LARGEST:
        return Skip(f"it would need {weights} weights, more than {_LARGEST}")
    return channels


def _convolved(chain: Chain, channels: int, pads: Pads, counted: Pads) -> PassResult:
    composer = Composer(chain.opset, chain.dtype)
    if pads == counted:
        return composer.finish(_conv(composer, chain, channels, pads))
    if chain.opset < Since.BROADCASTING:
        return Skip(f"Mul of opset {chain.opset} does not broadcast shapes")
    result = _conv(composer, chain, channels, pads)
    sizes = [axis.size for axis in chain.axes if isinstance(axis.size, int)]
    factors = corrections(chain, pads, counted, sizes)
    if isinstance(factors, Skip):
        return factors
    for factor in factors:
        result = composer.add("Mul", result, factor, role=factor.role.replace("factor", "average"))
    return composer.finish(result)


def _conv(composer: Composer, chain: Chain, channels: int, pads: Pads) -> Made:
    kernel = tuple(axis.kernel for axis in chain.axes)
    cells = prod(kernel)
    attributes: dict[str, AttributeValue] = {
        "group": channels,
        "kernel_shape": kernel,
        "strides": tuple(axis.stride for axis in chain.axes),
    }
    if any(axis.dilation > 1 for axis in chain.axes):
        attributes["dilations"] = tuple(axis.dilation for axis in chain.axes)
    if any(pads.flat):
        attributes["pads"] = pads.flat
    weights = (1 / cells,) * (channels * cells)
    weight = Numbers("weight", chain.dtype, (channels, 1, *kernel), weights)
    return composer.add("Conv", Read(0), weight, attributes=attributes)
