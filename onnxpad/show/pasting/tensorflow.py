"""TensorFlow: tf.pad, then a layer with padding="VALID"; channels last."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from onnxpad.errors import RequestError
from onnxpad.frameworks.steps import Window
from onnxpad.geometry.windows import Axis, full_size, same_pads
from onnxpad.padding.chain import Pads
from onnxpad.resolving import Resolution
from onnxpad.show.pasting import call, quoted

part = "x[:, {}, :]"
SAME, VALID = 'padding="SAME"', 'padding="VALID"'
_BIAS = "x = x if bias is None else x + bias"
_MODES = {"reflect": "REFLECT"}


def layout(found: Resolution | None) -> list[str]:
    """That channels come last, also in the weight."""
    has_weight = found is not None and not found.plan.is_pool
    return ["# channels last" + (f"; weight is {_weight(found)}" if found and has_weight else "")]


def _weight(found: Resolution) -> str:
    axes = ["height", "width"] if len(found.plan.slides) == 2 else ["axes"]
    channels = ["filters", "channels"] if found.plan.is_transposed else ["channels", "filters"]
    return f"[{', '.join(axes + channels)}]"


def bias(_rank: int) -> str:
    """The Add of a bias."""
    return _BIAS


def pad(pads: Pads, mode: str, value: float, name: str = "x") -> str:
    """A Pad over the spatial axes."""
    pairs = [list(pair) for pair in pads.sides]
    if mode not in {"constant", *_MODES}:
        raise RequestError(f"tf.pad has no mode for {mode}")
    how = f'mode="{_MODES[mode]}"' if mode != "constant" else ""
    filled = f'constant_values=float("{value}")' if value and mode == "constant" else ""
    return f"{name} = {call('tf.pad', name, str([[0, 0], *pairs, [0, 0]]), how, filled)}"


def _is_same(step: Window, axes: Sequence[Axis]) -> bool:
    """Whether TensorFlow's own SAME gives exactly these pads."""
    same = tuple(same_pads(axis, lower=False) for axis in axes)
    return any(step.pads.flat) and step.pads.sides == same


def _padded(step: Window, axes: Sequence[Axis], value: float = 0.0) -> tuple[list[str], str]:
    if _is_same(step, axes):
        return [], SAME
    lines = [pad(step.pads, "constant", value)] if any(step.pads.flat) else []
    return lines, VALID


def convolution(step: Window, axes: Sequence[Axis]) -> list[str]:
    """A Conv: conv2d takes strides together with dilations, convolution does not."""
    dilated = set(step.dilations) != {1}
    rank = len(step.kernel)
    if dilated and rank != 2 and set(step.strides) != {1}:
        raise RequestError("tf.nn.convolution takes no strides together with dilations")
    lines, padding = _padded(step, axes)
    more = f"dilations={list(step.dilations)}" if dilated else ""
    name = "tf.nn.conv2d" if rank == 2 else "tf.nn.convolution"
    arguments = f"x, weight, strides={list(step.strides)}"
    lines.append(f"x = {call(name, arguments, padding, more)}")
    if step.takes_bias:
        lines.append(_BIAS)
    return lines


def transposed(step: Window, axes: Sequence[Axis]) -> list[str]:
    """A ConvTranspose: SAME where it gives this size and crop; else VALID, cut and grown."""
    if step.group != 1:
        raise RequestError("tf.nn has no grouped transposed convolution")
    full = [size for axis in axes if isinstance(size := full_size(axis), int)]
    begins, ends = step.pads.begins, step.pads.ends
    grow = step.output_padding or (0,) * len(axes)
    wanted = [f - b - e + g for f, b, e, g in zip(full, begins, ends, grow, strict=True)]
    if _gives_back(step, axes, full, wanted):
        lines = [_call_transposed(step, wanted, "SAME")]
    else:
        lines = [_call_transposed(step, full, "VALID")]
        if any(step.pads.flat):
            cuts = ", ".join(f"{b}:{f - e}" for b, e, f in zip(begins, ends, full, strict=True))
            lines.append(f"x = x[:, {cuts}, :]")
        if any(grow):
            lines.append(pad(Pads((0,) * len(grow), tuple(grow)), "constant", 0.0))
    if step.takes_bias:
        lines.append(_BIAS)
    return lines


def _gives_back(
    step: Window, axes: Sequence[Axis], full: Sequence[int], wanted: Sequence[int]
) -> bool:
    """Whether TensorFlow's SAME over an output of this size has this crop."""
    rows = zip(step.pads.begins, axes, full, wanted, strict=True)
    return any(step.pads.flat) and all(
        begin == max(0, all_ - out) // 2 and -(-out // axis.stride) == axis.size
        for begin, axis, all_, out in rows
    )


def _call_transposed(step: Window, sizes: Sequence[int], padding: str) -> str:
    shape = f"[batch, {', '.join(map(str, sizes))}, filters]"
    more = f"dilations={list(step.dilations)}" if set(step.dilations) != {1} else ""
    arguments = f"x, weight, {shape}, strides={list(step.strides)}"
    name = f"tf.nn.conv{len(step.kernel)}d_transpose"
    return f"x = {call(name, arguments, f'padding={quoted(padding)}', more)}"


def pool(step: Window, axes: Sequence[Axis]) -> list[str]:
    """A pool; an average that leaves padding out of its divisor is a quotient of two averages."""
    if step.ceil_mode:
        raise RequestError("it rounds up over padding that counts, which TensorFlow never does")
    counts = step.count_include_pad
    if step.op == "MaxPool" or not any(step.pads.flat):
        lines, padding = _padded(step, axes, -inf)
        return [*lines, f"x = {_call_pool(step, 'x', padding)}"]
    if _is_same(step, axes) and not counts and set(step.dilations) == {1}:
        return [f"x = {_call_pool(step, 'x', SAME)}"]
    lines = [pad(step.pads, "constant", 0.0)]
    if counts:
        return [*lines, f"x = {_call_pool(step, 'x', VALID)}"]
    return [
        "ones = tf.ones_like(x)",
        *lines,
        pad(step.pads, "constant", 0.0, "ones"),
        f"x = {_call_pool(step, 'x', VALID)} / {_call_pool(step, 'ones', VALID)}",
    ]


def _call_pool(step: Window, name: str, padding: str) -> str:
    window, steps = f"{list(step.kernel)}", f"{list(step.strides)}"
    kind = "max" if step.op == "MaxPool" else "avg"
    if set(step.dilations) == {1}:
        return call(f"tf.nn.{kind}_pool{len(step.kernel)}d", name, window, steps, padding)
    if set(step.strides) != {1}:
        raise RequestError("tf.nn.pool takes no strides together with dilations")
    dilations = f"dilations={list(step.dilations)}"
    return call("tf.nn.pool", name, window, quoted(kind.upper()), padding, dilations)
