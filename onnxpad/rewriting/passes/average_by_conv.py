"""Write average pools as depthwise convolutions.

What: a Conv with a group for each channel, whose weights are all 1 over the cells of the kernel.
Where the padding is not counted, or ceil_mode reads beyond it, a Mul behind makes up for the cells
that the divisor leaves out. lp-pool writes LpPool as an average of powers: Abs and Pow in front,
AveragePool with count_include_pad, Mul by the number of cells of the window and the root behind.

Exact: up to float rounding.

Refuses: integer averages; a number of channels that is not known; sizes that are not known where
the divisors or the pads depend on them; kernels with more than 262144 weights in all. lp-pool:
half precision, dilations before opset 19, opsets before 7, pads that reach the kernel, a p below 1.

Cost: as many multiply-adds as the average had additions, a constant with the weights, and where
windows differ one Mul over the output; of lp-pool 2 to 4 more operators.

Example: AveragePool k3 s2 pads=[1, 1] count_include_pad=1 on 8 channels becomes Conv k3 s2
pads=[1, 1] group=8 with the weight 1/3 [8, 1, 3].
"""

from __future__ import annotations

from math import prod

from onnxpad.padding.chain import Chain, Pads, PassResult, Skip
from onnxpad.padding.effective_pads import effective_pads, floored, same_is_disputed, short_axis
from onnxpad.padding.expansion import Made, Numbers, Operand, Read
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import OPERATORS, AttributeValue, Kind, Since
from onnxpad.rewriting.passes import Way
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


def _powers(chain: Chain) -> PassResult:
    """Average the powers and take the root."""
    require(chain.op.kind is Kind.LP, "no LpPool", moot=True)
    pads = effective_pads(chain)
    if isinstance(pads, Skip):
        if chain.trouble or same_is_disputed(chain):
            return pads
        return _averaged(chain, _power(chain), {"auto_pad": str(chain.padding)})
    power = _power(chain)
    known(short_axis(chain, pads))
    wider = known(floored(chain, pads))
    return _averaged(chain, power, {"pads": wider.flat} if any(wider.flat) else {})


def _power(chain: Chain) -> int:
    """The p, where an average can take its place."""
    opset = chain.opset
    reason = f"AveragePool of opset {opset} has no count_include_pad"
    require(opset >= Since.COUNT_INCLUDE_PAD, reason)
    dilated = any(axis.dilation > 1 for axis in chain.axes)
    if dilated and opset < OPERATORS["", "AveragePool"].dilations:
        refuse(f"AveragePool of opset {opset} has no dilations")
    is_wide = chain.dtype in ("float32", "float64")
    require(is_wide, "powers of its element type may overflow, or that is not known")
    power = chain.attribute("p", 2)
    if not isinstance(power, int) or power < 1:
        refuse(f"its p is {power}, and a root needs a whole number from 1 on")
    return power


def _averaged(chain: Chain, power: int, padding: dict[str, AttributeValue]) -> PassResult:
    composer = Composer(chain.opset, chain.dtype)
    data: Operand = Read(0)
    if power == 2:
        data = composer.add("Mul", data, data, role="square")
    else:
        data = composer.add("Abs", data)
        if power > 1:
            data = _to_the(composer, data, "power", float(power))
    attributes = window_attributes(chain.axes) | padding | {"count_include_pad": 1}
    averaged = composer.add("AveragePool", data, attributes=attributes)
    cells = Numbers("cells", composer.dtype, (), (float(prod(a.kernel for a in chain.axes)),))
    result = composer.add("Mul", averaged, cells, role="sum")
    if power == 2:
        result = composer.add("Sqrt", result, role="root")
    elif power > 1:
        result = _to_the(composer, result, "root", 1 / power)
    return composer.finish(result)


def _to_the(composer: Composer, data: Operand, role: str, exponent: float) -> Made:
    number = Numbers(f"{role}_exponent", composer.dtype, (), (exponent,))
    return composer.add("Pow", data, number, role=role)


WAYS = {
    "lp-pool": Way(
        "Write LpPool as an average pool of powers.",
        _powers,
        removes={Form.LP_POOL},
        may_remove={Form.AUTO_PAD, Form.CEIL_MODE},
        adds={Form.AVERAGE, Form.COUNTS_PADDING, Form.PADS, Form.ASYMMETRIC},
    ),
}
