"""PyTorch: F.pad (last axis first), then a layer without padding; channels first."""

from __future__ import annotations

from collections.abc import Sequence

from onnxpad.errors import RequestError
from onnxpad.frameworks.steps import Window
from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import Pads
from onnxpad.resolving import Resolution
from onnxpad.show.pasting import call, tuple_of

part = "x[:, :, {}]"
_MODES = {"reflect": "reflect", "edge": "replicate", "wrap": "circular"}


def layout(_found: Resolution | None) -> list[str]:
    """Nothing: channels come first, as in ONNX."""
    return []


def bias(rank: int) -> str:
    """The Add of a bias."""
    return f"x = x if bias is None else x + bias.reshape(1, -1{', 1' * rank})"


def pad(pads: Pads, mode: str, value: float, name: str = "x") -> str:
    """A Pad over the spatial axes."""
    order = [number for pair in reversed(pads.sides) for number in pair]
    how = f'mode="{_MODES[mode]}"' if mode != "constant" else ""
    filled = f'value=float("{value}")' if value and mode == "constant" else ""
    return f"{name} = {call('F.pad', name, str(tuple(order)), how, filled)}"


def _dilation(step: Window) -> str:
    return f"dilation={tuple_of(step.dilations)}" if set(step.dilations) != {1} else ""


def _groups(step: Window) -> str:
    return f"groups={step.group}" if step.group != 1 else ""


def _stride(step: Window) -> str:
    """Left out where it is 1; pools always need it, theirs would be the kernel."""
    stays = set(step.strides) == {1} and step.op.startswith("Conv")
    return "" if stays else f"stride={tuple_of(step.strides)}"


def convolution(step: Window, _axes: Sequence[Axis]) -> list[str]:
    """A Conv."""
    lines, padding = _outside(step.pads, limit=None)
    name = f"F.conv{len(step.kernel)}d"
    words = ("x", "weight", "bias", _stride(step), padding, _dilation(step), _groups(step))
    return [*lines, f"x = {call(name, *words)}"]


def transposed(step: Window, _axes: Sequence[Axis]) -> list[str]:
    """A ConvTranspose; unequal crops are cut off afterwards."""
    begins, ends = step.pads.begins, step.pads.ends
    extra = step.output_padding or (0,) * len(step.kernel)
    grown = tuple(b - e + g for b, e, g in zip(begins, ends, extra, strict=True))
    limits = [max(pair) for pair in zip(step.strides, step.dilations, strict=True)]
    if all(0 <= g < limit for g, limit in zip(grown, limits, strict=True)):
        return [_call_transposed(step, begins, grown)]
    cuts = ", ".join(f"{b}:{-e if e else ''}" for b, e in zip(begins, ends, strict=True))
    return [_call_transposed(step, (0,), extra), f"x = x[:, :, {cuts}]"]


def _call_transposed(step: Window, crops: Sequence[int], grown: Sequence[int]) -> str:
    padding = f"padding={tuple_of(crops)}" if any(crops) else ""
    grows = f"output_padding={tuple_of(grown)}" if any(grown) else ""
    bias = "bias" if step.takes_bias else "None"
    words = (_stride(step), padding, grows, _groups(step), _dilation(step))
    return f"x = {call(f'F.conv_transpose{len(step.kernel)}d', 'x', 'weight', bias, *words)}"


def _outside(
    pads: Pads, *, limit: Sequence[int] | None, value: float = 0.0
) -> tuple[list[str], str]:
    """(an F.pad, '') for unequal pads or pads above the limit, ([], padding=...) for others."""
    if not any(pads.flat):
        return [], ""
    narrow = limit is None or all(pad <= most for pad, most in zip(pads.begins, limit, strict=True))
    if pads.begins == pads.ends and narrow:
        return [], f"padding={tuple_of(pads.begins)}"
    return [pad(pads, "constant", value)], ""


def pool(step: Window, axes: Sequence[Axis]) -> list[str]:
    """A MaxPool or AveragePool."""
    rank = len(step.kernel)
    window = (tuple_of(step.kernel), _stride(step))
    half = [axis.span // 2 for axis in axes]
    if step.op == "MaxPool":
        lines, padding = _outside(step.pads, limit=half, value=float("-inf"))
        name = f"F.max_pool{rank}d"
        return [*lines, f"x = {call(name, 'x', *window, padding, _dilation(step))}"]
    if set(step.dilations) != {1}:
        raise RequestError("PyTorch's average pools have no dilation")
    name = f"F.avg_pool{rank}d"
    ceil = "ceil_mode=True" if step.ceil_mode else ""
    lines, padding = _outside(step.pads, limit=half)
    if not lines or step.count_include_pad:
        if lines and step.ceil_mode:
            raise RequestError("it rounds up over padding of more than half a window")
        excludes = "" if step.count_include_pad or not padding else "count_include_pad=False"
        return [*lines, f"x = {call(name, 'x', *window, padding, ceil, excludes)}"]
    ones = pad(step.pads, "constant", 0.0, "ones")
    return [
        "ones = torch.ones_like(x)",
        *lines,
        ones,
        f"x = {call(name, 'x', *window)} / {call(name, 'ones', *window)}",
    ]
