"""Divisors of averages: what ceil_mode and padding do to them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import prod

from onnxpad.geometry.budgets import CONSTANT
from onnxpad.geometry.windows import Axis, cells_within, overhang
from onnxpad.padding.chain import Chain, Pads, Skip, is_same
from onnxpad.padding.effective_pads import effective_pads, short_axis
from onnxpad.padding.expansion import Made, Numbers
from onnxpad.padding.fills import Implicit
from onnxpad.padding.forms import reaches_kernel
from onnxpad.padding.operators import AttributeValue, Kind
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.run_time_pads import int64s, offering_run_time, sizes_of_input

_LARGEST = 1 << 14
_WINDOW = ("kernel_shape", "strides", "dilations")


def uncounted_pads(chain: Chain, refusal: Callable[[Chain], Skip | None]) -> Pads | Skip:
    """The pads of an average that leaves them out, and what ceil_mode reads beyond them.

    `refusal` says what else the pass asks for.
    """
    if chain.op.kind is not Kind.AVERAGE or chain.fill is not Implicit.NOTHING:
        return Skip("no average that leaves out its padding", moot=True)
    pads = effective_pads(chain)
    if isinstance(pads, Skip):
        return offering_run_time(chain, pads)
    if not any(pads.flat):
        return Skip("it does not pad", moot=True)
    if found := refusal(chain) or _unfit(chain, pads) or short_axis(chain, pads):
        return found
    beyond = beyond_the_end(chain, pads)
    return beyond if isinstance(beyond, Skip) else pads + beyond


def _unfit(chain: Chain, pads: Pads) -> Skip | None:
    if not chain.dtype:
        return Skip("the element type of its input is not known")
    if any(pad < 0 for pad in pads.flat):
        return Skip(f"the pads {list(pads.flat)} are negative, onnxruntime and the checker refuse")
    return None


def beyond_the_end(chain: Chain, pads: Pads) -> Pads | Skip:
    """End pads that let ceil_mode go: what its last windows read beyond `pads`."""
    if not chain.ceil_mode or is_same(chain.padding):
        return Pads.zero(chain.rank)
    sides = chain.sides(pads)
    if any(end >= axis.span for axis, _, end in sides):
        return Skip(f"ceil_mode drops windows over the pads {list(pads.flat)}, wider than a window")
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


def corrections(chain: Chain, pads: Pads, counted: Pads, sizes: list[int]) -> list[Numbers] | Skip:
    """What to multiply averages over whole kernels by, for each window.

    `pads` are those of the windows, of which `counted` belong to the divisor like data; `sizes`
    are those of the spatial axes. One constant like a channel of the output, or one for each axis;
    a Skip where that would be too large.
    """
    for index, (axis, size) in enumerate(zip(chain.axes, sizes, strict=True)):
        windows = (size + pads.begins[index] + pads.ends[index] - axis.span) // axis.stride + 1
        if windows > CONSTANT.most and (pads.begins[index], pads.ends[index]) != (
            counted.begins[index],
            counted.ends[index],
        ):
            return Skip(CONSTANT.reason(f"what makes up for its padding would be {windows:,}"))
    sides = zip(pads.begins, pads.ends, counted.begins, counted.ends, strict=True)
    rows = [
        _row(axis, size, (begin, end), (first, last))
        for axis, size, (begin, end, first, last) in zip(chain.axes, sizes, sides, strict=True)
    ]
    if prod(map(len, rows)) <= _LARGEST:
        dims = (1, 1, *map(len, rows))
        return [Numbers("factor", chain.dtype, dims, tuple(map(prod, product(*rows))))]
    return [
        Numbers(f"factor_{index}", chain.dtype, (len(row),) + (1,) * (chain.rank - 1 - index), row)
        for index, row in enumerate(rows)
        if len(row) > 1
    ]


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
