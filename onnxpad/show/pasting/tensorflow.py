"""TensorFlow: tf.pad, then a layer with padding="VALID"; channels last."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from onnxpad.errors import RequestError
from onnxpad.frameworks.steps import Window, spatial_pads, value_of_pad, values_of
from onnxpad.padding.chain import Pads
from onnxpad.padding.expansion import Step
from onnxpad.resolving import Resolution
from onnxpad.show.pasting import call, quoted

SAME, VALID = 'padding="SAME"', 'padding="VALID"'
_BIAS = "x = x if bias is None else x + bias"
_MODES = {"reflect": "REFLECT"}


def layout(found: Resolution | None) -> list[str]:
    """That channels come last, also in the weight."""
    has_weight = found is not None and not found.plan.is_pool
    return ["# channels last" + (f"; weight is {_weight(found)}" if found and has_weight else "")]


def layer(found: Resolution) -> list[str]:
    """The ONNX nodes, one by one, as calls of tf and tf.nn; x has its channels last."""
    return [line for step in found.steps for line in _lines(step, found)]


def pad(step: Step) -> str:
    """A Pad node."""
    return _pad(spatial_pads(step), str(dict(step.attributes)["mode"]), value_of_pad(step))


def _weight(found: Resolution) -> str:
    axes = ["height", "width"] if len(found.plan.slides) == 2 else ["axes"]
    channels = ["filters", "channels"] if found.plan.is_transposed else ["channels", "filters"]
    return f"[{', '.join(axes + channels)}]"


def _lines(step: Step, found: Resolution) -> list[str]:
    match step.op_type:
        case "Pad":
            return [pad(step)]
        case "Slice":
            ends = zip(values_of(step, "starts"), values_of(step, "ends"), strict=True)
            parts = ", ".join(f"{first}:{last}" for first, last in ends)
            return [f"x = x[:, {parts}, :]"]
        case "Mul":
            return [f"x = x * {values_of(step, 'factor')[0]!r}"]
        case "Add":
            return [_BIAS]
        case "ConvTranspose":
            return _transposed(Window.of(step), found)
        case "Conv":
            return _convolution(Window.of(step), found)
        case _:
            return _pool(Window.of(step), found)


def _pad(pads: Pads, mode: str, value: float, name: str = "x") -> str:
    pairs = [list(pair) for pair in pads.sides]
    if mode not in {"constant", *_MODES}:
        raise RequestError(f"tf.pad has no mode for {mode}")
    how = f'mode="{_MODES[mode]}"' if mode != "constant" else ""
    filled = f'constant_values=float("{value}")' if value and mode == "constant" else ""
    return f"{name} = {call('tf.pad', name, str([[0, 0], *pairs, [0, 0]]), how, filled)}"


def _is_same(step: Window, found: Resolution) -> bool:
    """Whether TensorFlow's own SAME gives exactly these pads."""
    sizes = _sizes_before_windows(found)
    rows = zip(sizes, step.kernel, step.strides, step.dilations, strict=True)
    totals = []
    for size, kernel, stride, dilation in rows:
        count = -(-size // stride)
        totals.append(max(0, (count - 1) * stride + dilation * (kernel - 1) + 1 - size))
    begins = tuple(total // 2 for total in totals)
    ends = tuple(total - total // 2 for total in totals)
    return any(totals) and step.pads == Pads(begins, ends)


def _sizes_before_windows(found: Resolution) -> list[int]:
    """Sizes of what the convolution or pool reads."""
    sizes = [slide.size for slide in found.plan.slides]
    for earlier in found.steps:
        if earlier.op_type == "Slice":
            ends = zip(values_of(earlier, "starts"), values_of(earlier, "ends"), strict=True)
            sizes = [int(last - first) for first, last in ends]
        elif earlier.op_type == "Pad":
            pads = spatial_pads(earlier)
            sides = zip(sizes, pads.begins, pads.ends, strict=True)
            sizes = [size + begin + end for size, begin, end in sides]
        elif earlier.op_type not in ("Mul", "Add"):
            break
    return sizes


def _padded(step: Window, found: Resolution, value: float = 0.0) -> tuple[list[str], str]:
    if _is_same(step, found):
        return [], SAME
    lines = [_pad(step.pads, "constant", value)] if any(step.pads.flat) else []
    return lines, VALID


def _convolution(step: Window, found: Resolution) -> list[str]:
    """conv2d takes strides together with dilations, convolution does not."""
    dilated = set(step.dilations) != {1}
    rank = len(step.kernel)
    if dilated and rank != 2 and set(step.strides) != {1}:
        raise RequestError("tf.nn.convolution takes no strides together with dilations")
    lines, padding = _padded(step, found)
    more = f"dilations={list(step.dilations)}" if dilated else ""
    name = "tf.nn.conv2d" if rank == 2 else "tf.nn.convolution"
    arguments = f"x, weight, strides={list(step.strides)}"
    lines.append(f"x = {call(name, arguments, padding, more)}")
    if step.takes_bias:
        lines.append(_BIAS)
    return lines


def _transposed(step: Window, found: Resolution) -> list[str]:
    """SAME or VALID where they give this size and crop; else VALID, cut and grown."""
    if step.group != 1:
        raise RequestError("tf.nn has no grouped transposed convolution")
    spans = [d * (k - 1) + 1 for k, d in zip(step.kernel, step.dilations, strict=True)]
    sizes = [slide.size for slide in found.plan.slides]
    full = [(i - 1) * s + span for i, s, span in zip(sizes, step.strides, spans, strict=True)]
    begins, ends = step.pads.begins, step.pads.ends
    grow = step.output_padding or (0,) * len(sizes)
    wanted = [f - b - e + g for f, b, e, g in zip(full, begins, ends, grow, strict=True)]
    if _gives_back(step, sizes, full, wanted):
        lines = [_call_transposed(step, wanted, "SAME")]
    else:
        lines = [_call_transposed(step, full, "VALID")]
        if any(step.pads.flat):
            cuts = ", ".join(f"{b}:{f - e}" for b, e, f in zip(begins, ends, full, strict=True))
            lines.append(f"x = x[:, {cuts}, :]")
        if any(grow):
            lines.append(_pad(Pads((0,) * len(grow), tuple(grow)), "constant", 0.0))
    if step.takes_bias:
        lines.append(_BIAS)
    return lines


def _gives_back(
    step: Window, sizes: Sequence[int], full: Sequence[int], wanted: Sequence[int]
) -> bool:
    """Whether TensorFlow's SAME over an output of this size has this crop."""
    rows = zip(step.pads.begins, sizes, full, wanted, step.strides, strict=True)
    return any(step.pads.flat) and all(
        begin == max(0, all_ - out) // 2 and -(-out // stride) == size
        for begin, size, all_, out, stride in rows
    )


def _call_transposed(step: Window, sizes: Sequence[int], padding: str) -> str:
    shape = f"[batch, {', '.join(map(str, sizes))}, filters]"
    more = f"dilations={list(step.dilations)}" if set(step.dilations) != {1} else ""
    arguments = f"x, weight, {shape}, strides={list(step.strides)}"
    name = f"tf.nn.conv{len(step.kernel)}d_transpose"
    return f"x = {call(name, arguments, f'padding={quoted(padding)}', more)}"


def _pool(step: Window, found: Resolution) -> list[str]:
    """Averages that leave padding out of a divisor are a quotient of two averages."""
    if step.ceil_mode:
        raise RequestError("it rounds up over padding that counts, which TensorFlow never does")
    counts = step.count_include_pad
    if step.op == "MaxPool" or not any(step.pads.flat):
        lines, padding = _padded(step, found, -inf)
        return [*lines, f"x = {_call_pool(step, 'x', padding)}"]
    if _is_same(step, found) and not counts and set(step.dilations) == {1}:
        return [f"x = {_call_pool(step, 'x', SAME)}"]
    lines = [_pad(step.pads, "constant", 0.0)]
    if counts:
        return [*lines, f"x = {_call_pool(step, 'x', VALID)}"]
    return [
        "ones = tf.ones_like(x)",
        *lines,
        _pad(step.pads, "constant", 0.0, "ones"),
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
