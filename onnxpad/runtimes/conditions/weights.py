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


_PLAIN_3X3 = ((3, 1), (3, 1))


def _is_plain(chain: Chain) -> bool:
    """Whether it is 3x3 with strides of 1, for which OpenCV has a kernel of its own."""
    return tuple((axis.kernel, axis.stride) for axis in chain.axes) == _PLAIN_3X3


DEPTHWISE_PADDED_BELOW = Condition(
    "it is depthwise, 3x3 with strides 1, and its first end pad is above 1 and above the begin pad",
    lambda c: _is_depthwise(c) and _is_plain(c) and _pads_below(c),
)


def _has_multiplier(chain: Chain) -> bool:
    sizes, channels = chain.weight.shape, chain.shape[1] if chain.shape else None
    return _is_depthwise(chain) and sizes is not None and channels not in (1, sizes[0])


SEVERAL_PER_CHANNEL = Condition(
    "it is depthwise, with several outputs for each channel", _has_multiplier
)
