"""Divisors of averages: what ceil_mode and padding do to them."""

from __future__ import annotations

from math import prod

from onnxpad.chain import AutoPad, Chain, Pads, Skip
from onnxpad.composing import Composer
from onnxpad.expansion import AttributeValue, Made, Numbers
from onnxpad.forms import reaches_kernel
from onnxpad.geometry.rounding import overhang
from onnxpad.sizing import int64s, sizes_of_input

_WINDOW = ("kernel_shape", "strides", "dilations")

COUNTS: dict[str, AttributeValue] = {"count_include_pad": 1}
"""Says nothing without pads, but onnxruntime 1.20 forgets it when it fuses a Pad(0) into a pool."""


def beyond_the_end(chain: Chain, pads: Pads) -> Pads | Skip:
    """End pads that let ceil_mode go: what its last windows read beyond `pads`."""
    if not chain.ceil_mode or chain.padding in (AutoPad.SAME_UPPER, AutoPad.SAME_LOWER):
        return Pads.zero(chain.rank)
    sides = list(zip(chain.axes, pads.begins, pads.ends, strict=True))
    if any(end >= axis.span for axis, _, end in sides):
        return Skip(f"ceil_mode drops windows over the pads {list(pads.flat)}, wider than a window")
    return Pads((0,) * chain.rank, tuple(overhang(axis, *pair) for axis, *pair in sides))


def ones_of_input(composer: Composer, chain: Chain) -> Made:
    """A tensor of ones with the node's spatial axes, one channel and one in the batch."""
    places = range(chain.first_axis, chain.first_axis + chain.rank)
    sizes = sizes_of_input(composer, places, "share_sizes")
    ahead = int64s("share_ahead", (1, 1))
    shape = composer.add("Concat", ahead, sizes, attributes={"axis": 0}, role="share_shape")
    one = Numbers("share_one", chain.dtype, (), (1.0,))
    return composer.add("Expand", one, shape, role="share_ones")


def counted_share(
    composer: Composer,
    chain: Chain,
    padded: Made,
    attributes: dict[str, AttributeValue],
    pads: Pads | None = None,
) -> Made:
    """Which part of each window of an average lies on data, from padded ones.

    A window of padding alone has some part too, so that its sum of 0 can be divided.
    """
    window = {key: value for key, value in chain.attributes if key in _WINDOW}
    share = composer.add("AveragePool", padded, attributes=window | attributes, role="share")
    dilated = any(axis.dilation > 1 for axis in chain.axes)
    if not dilated and (pads is None or not reaches_kernel(chain, pads)):
        return share
    least = 0.5 / prod(axis.kernel for axis in chain.axes)
    return composer.add(
        "Max", share, Numbers("share_least", chain.dtype, (), (least,)), role="share_held"
    )
