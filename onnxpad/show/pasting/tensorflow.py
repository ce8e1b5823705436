"""TensorFlow: tf.pad, then a layer with padding="VALID"; channels last."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from onnxpad.errors import RequestError
from onnxpad.frameworks.steps import Window
from onnxpad.geometry.windows import Axis, full_size, same_pads
from onnxpad.padding.chain import Pads
from onnxpad.resolving import Resolution
from onnxpad.show.pasting import call, unless

part = "x[:, {}, :]"
_SAME, _VALID = '"SAME"', '"VALID"'
_BIAS = "x = x if bias is None else x + bias"
_MODES = {"reflect": '"REFLECT"', "constant": ""}


def layout(found: Resolution | None) -> list[str]:
    """That channels come last, also in the weight."""
    if found is None or found.plan.is_pool:
        return ["# channels last"]
    axes = "height, width" if len(found.plan.slides) == 2 else "axes"
    channels = "filters, channels" if found.plan.is_transposed else "channels, filters"
    return [f"# channels last; weight is [{axes}, {channels}]"]


def bias(_rank: int) -> str:
    """The Add of a bias."""
    return _BIAS


def pad(pads: Pads, mode: str, value: float, name: str = "x") -> str:
    """A Pad over the spatial axes."""
    if mode not in _MODES:
        raise RequestError(f"tf.pad has no mode for {mode}")
    pairs = [[0, 0], *map(list, pads.sides), [0, 0]]
    filled = f'float("{value}")' if value and mode == "constant" else ""
    words = {"mode": _MODES[mode], "constant_values": filled}
    return f"{name} = {call('tf.pad', name, str(pairs), **words)}"


def _is_same(step: Window, axes: Sequence[Axis]) -> bool:
    """Whether TensorFlow's own SAME gives exactly these pads."""
    same = tuple(same_pads(axis, lower=False) for axis in axes)
    return any(step.pads.flat) and step.pads.sides == same


def _padded(step: Window, axes: Sequence[Axis], value: float = 0.0) -> tuple[list[str], str]:
    if _is_same(step, axes):
        return [], _SAME
    return [pad(step.pads, "constant", value)] if any(step.pads.flat) else [], _VALID


def _dilations(step: Window) -> str:
    return unless(step.dilations, 1, list(step.dilations))


def convolution(step: Window, axes: Sequence[Axis]) -> list[str]:
    """A Conv: conv2d takes strides together with dilations, convolution does not."""
    is_flat = len(step.kernel) == 2
    if _dilations(step) and not is_flat and set(step.strides) != {1}:
        raise RequestError("tf.nn.convolution takes no strides together with dilations")
    lines, padding = _padded(step, axes)
    name = "tf.nn.conv2d" if is_flat else "tf.nn.convolution"
    words = {"strides": str(list(step.strides)), "padding": padding, "dilations": _dilations(step)}
    return [*lines, f"x = {call(name, 'x', 'weight', **words)}", *[_BIAS] * step.takes_bias]


def transposed(step: Window, axes: Sequence[Axis]) -> list[str]:
    """A ConvTranspose: VALID, cut and grown."""
    if step.group != 1:
        raise RequestError("tf.nn has no grouped transposed convolution")
    full = [size for axis in axes if isinstance(size := full_size(axis), int)]
    shape = f"[batch, {', '.join(map(str, full))}, filters]"
    words = {"strides": str(list(step.strides)), "padding": _VALID, "dilations": _dilations(step)}
    name = f"tf.nn.conv{len(step.kernel)}d_transpose"
    lines = [f"x = {call(name, 'x', 'weight', shape, **words)}"]
    if any(step.pads.flat):
        sides = zip(step.pads.begins, step.pads.ends, full, strict=True)
        cuts = ", ".join(f"{begin}:{size - end}" for begin, end, size in sides)
        lines.append(f"x = x[:, {cuts}, :]")
    if any(grow := step.output_padding or ()):
        lines.append(pad(Pads((0,) * len(grow), tuple(grow)), "constant", 0.0))
    return [*lines, *[_BIAS] * step.takes_bias]


def pool(step: Window, axes: Sequence[Axis]) -> list[str]:
    """A pool; an average that leaves padding out of its divisor is a quotient of two averages."""
    if step.ceil_mode:
        raise RequestError("it rounds up over padding that counts, which TensorFlow never does")
    counts, plain = step.count_include_pad, not any(step.pads.flat)
    if step.op == "MaxPool" or plain:
        lines, padding = _padded(step, axes, -inf)
        return [*lines, f"x = {_call_pool(step, 'x', padding)}"]
    if _is_same(step, axes) and not counts and not _dilations(step):
        return [f"x = {_call_pool(step, 'x', _SAME)}"]
    line = pad(step.pads, "constant", 0.0)
    if counts:
        return [line, f"x = {_call_pool(step, 'x', _VALID)}"]
    return [
        "ones = tf.ones_like(x)",
        line,
        pad(step.pads, "constant", 0.0, "ones"),
        f"x = {_call_pool(step, 'x', _VALID)} / {_call_pool(step, 'ones', _VALID)}",
    ]


def _call_pool(step: Window, name: str, padding: str) -> str:
    window, steps = str(list(step.kernel)), str(list(step.strides))
    kind = "max" if step.op == "MaxPool" else "avg"
    if not _dilations(step):
        rank = len(step.kernel)
        return call(f"tf.nn.{kind}_pool{rank}d", name, window, steps, padding=padding)
    if set(step.strides) != {1}:
        raise RequestError("tf.nn.pool takes no strides together with dilations")
    words = {"padding": padding, "dilations": _dilations(step)}
    return call("tf.nn.pool", name, window, f'"{kind.upper()}"', **words)
