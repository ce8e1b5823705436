"""Questions about the weights of convolutions."""

from __future__ import annotations

from onnxpad.padding.chain import Chain
from onnxpad.runtimes.conditions.rows import Condition
from onnxpad.runtimes.conditions.windows import possible_pads


def _is_depthwise(chain: Chain) -> bool:
    sizes = chain.weight.shape
    return sizes is not None and len(sizes) > 1 and sizes[1] == 1 and sizes[0] != 1


def _pads_below(chain: Chain) -> bool:
    """Whether the first axis has two or more cells at its end, and more than at its begin."""
    return any(max(2, pads.begins[0] + 1) <= pads.ends[0] for pads in possible_pads(chain))


DEPTHWISE_PADDED_BELOW = Condition(
    "it is depthwise, and its first end pad is above 1 and above the begin pad",
    lambda c: _is_depthwise(c) and _pads_below(c),
)


def _has_multiplier(chain: Chain) -> bool:
    sizes, channels = chain.weight.shape, chain.shape[1] if chain.shape else None
    return _is_depthwise(chain) and sizes is not None and channels not in (1, sizes[0])


SEVERAL_PER_CHANNEL = Condition(
    "it is depthwise, with several outputs for each channel", _has_multiplier
)


def _one_to_one(chain: Chain) -> bool | None:
    sizes, group = chain.weight.shape, chain.attribute("group", 1)
    if group == 1:
        return False
    return None if sizes is None else len(sizes) > 1 and (sizes[0], sizes[1]) == (group, 1)


ONE_TO_ONE = Condition(
    "it is depthwise, with one output for each channel: group is the number of both", _one_to_one
)
_BIAS_OF_QUANTISED = 8


def _scaled_with_bias(chain: Chain) -> bool | None:
    if chain.inputs[_BIAS_OF_QUANTISED:][:1] != (True,):
        return False
    scales = chain.weight.scales
    return scales != 1 if isinstance(scales, int) else None


LISTED_SCALES = Condition(
    "a scale or zero point is a list, be it of one element",
    lambda c: c.weight.listed,
    "all scales and zero points are scalars",
    "quantise per tensor, and write scales and zero points as scalars (shape [])",
)
SCALED_WITH_BIAS = Condition(
    "its weight has a scale for each channel, and it has a bias", _scaled_with_bias
)
