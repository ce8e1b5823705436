"""Single layers as chains, and what they compute, by loops over their definition."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.geometry.size import Size
from onnxpad.geometry.windows import Axis, output_size, same_pads
from onnxpad.padding.chain import AutoPad, Chain, Pads, PadStep
from onnxpad.padding.fills import Constant, Fill, Implicit
from onnxpad.padding.operators import operator

Array = NDArray[Any]
FILLS: dict[str, Fill] = {"MaxPool": Implicit.LOWEST, "AveragePool": Implicit.NOTHING}


def layer(
    op: str,
    size: Size | None,
    kernel: int,
    stride: int = 1,
    pads: tuple[int, int] | str = (0, 0),
    *,
    dilation: int = 1,
    rank: int = 2,
    front: tuple[int, int, str, float] | None = None,
    **more: Any,
) -> Chain:
    """The same on each axis. `size` is that of the source; `front` is a Pad: begin, end, mode,
    value.
    """
    padding = AutoPad(pads) if isinstance(pads, str) else Pads((pads[0],) * rank, (pads[1],) * rank)
    fill = FILLS.get(op, Constant(0))
    if more.pop("counts_padding", False):
        fill = Constant(0)
    grown, step = size, None
    if front is not None:
        begin, end, mode, value = front
        assert isinstance(size, int)
        grown = size + begin + end
        flat = Pads((0, 0, *(begin,) * rank), (0, 0, *(end,) * rank))
        step = PadStep(flat, Constant(value), mode)
    axes = (Axis(grown, kernel, stride, dilation),) * rank
    found = operator("", op)
    assert found is not None
    return Chain(found, more.pop("opset", 22), axes, padding, fill, "float32", pad=step, **more)


def computed(chain: Chain, x: Array, weight: Array) -> Array | None:
    """What a layer of rank 1 gives for a vector; None where no window fits."""
    axis = chain.axes[0]
    data = x if chain.pad is None else _padded(chain.pad, x)
    if data is None:
        return None
    own = _own(chain, Axis(len(data), axis.kernel, axis.stride, axis.dilation))
    sized = Axis(len(data), axis.kernel, axis.stride, axis.dilation)
    same = isinstance(chain.padding, AutoPad) and chain.padding is not AutoPad.VALID
    count = output_size(sized, *own, ceil_mode=chain.ceil_mode and not same)
    assert isinstance(count, int)
    if count < 1 or len(data) + sum(own) < axis.span:
        return None
    return np.array(
        [
            _window(chain, data, own, weight, number * axis.stride - own[0])
            for number in range(count)
        ]
    )


def _padded(step: PadStep, x: Array) -> Array | None:
    begin, end = step.pads.begins[2], step.pads.ends[2]
    if step.mode == "reflect" and max(begin, end) >= len(x):
        return None
    if step.mode == "constant":
        assert isinstance(step.fill, Constant)
        return np.pad(x, (begin, end), constant_values=step.fill.value)
    return np.pad(x, (begin, end), mode=step.mode)  # type: ignore[call-overload, no-any-return]


def _own(chain: Chain, axis: Axis) -> tuple[int, int]:
    match chain.padding:
        case Pads(begins, ends):
            return begins[0], ends[0]
        case AutoPad.VALID:
            return 0, 0
        case mode:
            found = same_pads(axis, lower=mode is AutoPad.SAME_LOWER)
            assert found is not None
            return found


def _window(chain: Chain, data: Array, own: tuple[int, int], weight: Array, start: int) -> float:
    axis = chain.axes[0]
    cells = range(start, start + axis.span, axis.dilation)
    real = [data[cell] for cell in cells if 0 <= cell < len(data)]
    match chain.op.name:
        case "MaxPool":
            return float(max(real, default=-np.inf))
        case "AveragePool":
            divisor = len(real)
            if chain.counts_padding:
                divisor = sum(-own[0] <= cell < len(data) + own[1] for cell in cells)
            return float(sum(real) / divisor) if divisor else np.nan
        case _:
            values = [data[cell] if 0 <= cell < len(data) else 0.0 for cell in cells]
            return float(np.dot(values, weight[: axis.kernel]))
