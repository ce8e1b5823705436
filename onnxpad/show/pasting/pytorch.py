"""PyTorch: F.pad (last axis first), then a layer without padding; channels first."""

from __future__ import annotations

from collections.abc import Sequence

from onnxpad.errors import RequestError
from onnxpad.frameworks.steps import Window
from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import Pads
from onnxpad.resolving import Resolution
from onnxpad.show.pasting import call, unless

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
    order = tuple(number for pair in reversed(pads.sides) for number in pair)
    how = f'"{_MODES[mode]}"' if mode != "constant" else ""
    filled = f'float("{value}")' if value and not how else ""
    return f"{name} = {call('F.pad', name, str(order), mode=how, value=filled)}"


def _tuple(numbers: Sequence[int]) -> str:
    """'3' for equal numbers, '(3, 5)' otherwise."""
    return str(numbers[0]) if len(set(numbers)) == 1 else str(tuple(numbers))


def _words(step: Window) -> dict[str, str]:
    """The stride is left out where it is 1; pools always need it, theirs would be the kernel."""
    is_pool = not step.op.startswith("Conv")
    stride = _tuple(step.strides)
    return {"stride": stride if is_pool else unless(step.strides, 1, stride)}


def _dilation(step: Window) -> str:
    return unless(step.dilations, 1, _tuple(step.dilations))


def convolution(step: Window, _axes: Sequence[Axis]) -> list[str]:
    """The lines of a Conv: F.pad where its padding needs it, then F.convNd."""
    lines, padding = _outside(step.pads, limit=None)
    words = {**_words(step), "padding": padding, "dilation": _dilation(step)}
    name, groups = f"F.conv{len(step.kernel)}d", unless([step.group], 1, step.group)
    return [*lines, f"x = {call(name, 'x', 'weight', 'bias', **words, groups=groups)}"]


def transposed(step: Window, _axes: Sequence[Axis]) -> list[str]:
    """A ConvTranspose; unequal crops are cut off afterwards."""
    begins, ends = step.pads.begins, step.pads.ends
    extra = step.output_padding or (0,) * len(step.kernel)
    grown = tuple(b - e + g for b, e, g in zip(begins, ends, extra, strict=True))
    limits = [max(pair) for pair in zip(step.strides, step.dilations, strict=True)]
    cut = not all(0 <= g < limit for g, limit in zip(grown, limits, strict=True))
    crops, more = ((0,), extra) if cut else (begins, grown)
    words = {
        **_words(step),
        "padding": unless(crops, 0, _tuple(crops)),
        "output_padding": unless(more, 0, _tuple(more)),
        "groups": unless([step.group], 1, step.group),
        "dilation": _dilation(step),
    }
    name = f"F.conv_transpose{len(step.kernel)}d"
    line = f"x = {call(name, 'x', 'weight', 'bias' if step.takes_bias else 'None', **words)}"
    cuts = ", ".join(f"{b}:{-e if e else ''}" for b, e in zip(begins, ends, strict=True))
    return [line, f"x = x[:, :, {cuts}]"] if cut else [line]


def _outside(
    pads: Pads, *, limit: Sequence[int] | None, value: float = 0.0
) -> tuple[list[str], str]:
    """(an F.pad, '') for unequal pads or pads above the limit, ([], padding) for others."""
    narrow = limit is None or all(pad <= most for pad, most in zip(pads.begins, limit, strict=True))
    if pads.begins == pads.ends and narrow:
        return [], unless(pads.begins, 0, _tuple(pads.begins))
    return [pad(pads, "constant", value)], ""


def pool(step: Window, axes: Sequence[Axis]) -> list[str]:
    """A MaxPool or AveragePool."""
    rank, kernel, words = len(step.kernel), _tuple(step.kernel), _words(step)
    half = [axis.span // 2 for axis in axes]
    if step.op == "MaxPool":
        lines, words["padding"] = _outside(step.pads, limit=half, value=float("-inf"))
        words["dilation"] = _dilation(step)
        return [*lines, f"x = {call(f'F.max_pool{rank}d', 'x', kernel, **words)}"]
    if set(step.dilations) != {1}:
        raise RequestError("PyTorch's average pools have no dilation")
    name = f"F.avg_pool{rank}d"
    lines, padding = _outside(step.pads, limit=half)
    if not lines or step.count_include_pad:
        if lines and step.ceil_mode:
            raise RequestError("it rounds up over padding of more than half a window")
        words |= {"padding": padding, "ceil_mode": "True" if step.ceil_mode else ""}
        words["count_include_pad"] = "False" if padding and not step.count_include_pad else ""
        return [*lines, f"x = {call(name, 'x', kernel, **words)}"]
    return [
        "ones = torch.ones_like(x)",
        *lines,
        pad(step.pads, "constant", 0.0, "ones"),
        f"x = {call(name, 'x', kernel, **words)} / {call(name, 'ones', kernel, **words)}",
    ]
