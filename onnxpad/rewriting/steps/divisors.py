"""Divisors of averages: what ceil_mode and padding do to them."""

from __future__ import annotations

from itertools import product
from math import prod

from onnxpad.geometry.budgets import CONSTANT
from onnxpad.geometry.windows import Axis, cells_within, overhang
from onnxpad.padding.chain import Chain, Pads, is_same
from onnxpad.padding.expansion import Made, Numbers
from onnxpad.padding.forms import reaches_kernel
from onnxpad.padding.operators import AttributeValue
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.refusals import require
from onnxpad.rewriting.steps.run_time_pads import int64s, sizes_of_input

_LARGEST = 1 << 14
_WINDOW = ("kernel_shape", "strides", "dilations")


def beyond_the_end(chain: Chain, pads: Pads) -> Pads:
    """End pads that let ceil_mode go: what its last windows read beyond `pads`."""
    if not chain.ceil_mode or is_same(chain.padding):
        return Pads.zero(chain.rank)
    sides = chain.sides(pads)
    wide = any(end >= axis.span for axis, _, end in sides)
    reason = f"ceil_mode drops windows over the pads {list(pads.flat)}, wider than a window"
    require(not wide, reason)
    return Pads((0,) * chain.rank, tuple(overhang(axis, *pair) for axis, *pair in sides))


def ones_of_input(composer: Composer, chain: Chain) -> Made:
    """A tensor of ones with the node's spatial axes, one channel and one in the batch."""
    axes = range(chain.first_axis, chain.first_axis + chain.rank)
    sizes = sizes_of_input(composer, axes, "share_sizes")
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
    """The part of each window that lies on data, from padded ones; above 0 for padding alone."""
    window = {key: value for key, value in chain.written.attributes if key in _WINDOW}
    share = composer.add("AveragePool", padded, attributes=window | attributes, role="share")
    dilated = any(axis.dilation > 1 for axis in chain.axes)
    if not dilated and (pads is None or not reaches_kernel(chain, pads)):
        return share
    least = 0.5 / prod(axis.kernel for axis in chain.axes)
    return composer.add(
        "Max", share, Numbers("share_least", chain.dtype, (), (least,)), role="share_held"
    )


def corrected(composer: Composer, chain: Chain, average: Made, pads: Pads, counted: Pads) -> Made:
    """An average over whole kernels, multiplied by what makes up for its padding.

    `pads` are those of the windows, of which `counted` belong to the divisor like data; the sizes
    of the spatial axes are known. The factors are one constant like a channel of the output, or
    one for each axis; where that would be too large, it refuses.
    """
    rows = list[tuple[float, ...]]()
    for (axis, *own), divided in zip(chain.sides(pads), counted.sides, strict=True):
        size = axis.size if isinstance(axis.size, int) else 0
        windows = (size + sum(own) - axis.span) // axis.stride + 1
        reason = CONSTANT.reason(f"what makes up for its padding would be {windows:,}")
        require(windows <= CONSTANT.most or tuple(own) == divided, reason)
        rows.append(_row(axis, size, (own[0], own[1]), divided))
    if prod(map(len, rows)) <= _LARGEST:
        factors = {"": ((1, 1, *map(len, rows)), tuple(map(prod, product(*rows))))}
    else:
        factors = {
            f"_{index}": ((len(row),) + (1,) * (chain.rank - 1 - index), row)
            for index, row in enumerate(rows)
            if len(row) > 1
        }
    for role, (dims, values) in factors.items():
        factor = Numbers(f"factor{role}", chain.dtype, dims, values)
        average = composer.add("Mul", average, factor, role=f"average{role}")
    return average


def _row(
    axis: Axis, size: int, pads: tuple[int, int], counted: tuple[int, int]
) -> tuple[float, ...]:
    """The factor of each window along one axis; one number where all are 1, 0 without a cell."""
    if pads == counted:
        return (1.0,)
    starts = range(-pads[0], size + pads[1] - axis.span + 1, axis.stride)
    low, high = -counted[0], size + counted[1]
    inside = cells_within(starts, low, high - axis.span + 1)
    before = starts[: (inside.start - starts.start) // axis.stride]
    behind = starts[len(before) + len(inside) :]
    return (
        *(_factor(axis, start, low, high) for start in before),
        *(1.0,) * len(inside),
        *(_factor(axis, start, low, high) for start in behind),
    )


def _factor(axis: Axis, start: int, low: int, high: int) -> float:
    """The factor of the window from `start` on, of which cells from `low` up to `high` count."""
    count = len(cells_within(range(start, start + axis.span, axis.dilation), low, high))
    return axis.kernel / count if count else 0.0
