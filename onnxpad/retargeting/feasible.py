"""Why onnxruntime would not run the padding that a plan asks for."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from onnxpad.geometry.size import show
from onnxpad.padding.chain import NOTHING, Chain, Pads, PadStep, Skip
from onnxpad.padding.effective_pads import axes_in_front, effective_pads, output_sizes, short_axis
from onnxpad.padding.fills import Constant, largest
from onnxpad.padding.operators import Since
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.judge import judge
from onnxpad.runtimes.onnxruntime.runtime_check import reference


def infeasible(before: Chain, after: Chain) -> str:
    """Why onnxruntime would not run `after`, or '' where it would, or where sizes are not known.

    What `before` has in common with it is left to the model: a plan is refused for what it
    brings. The limits: a Pad node leaves batch and channels as they are, reflects less than the
    axis, holds a number of the element type (ONNX Operators, Pad-2 to Pad-25), and the rows of
    the target onnxruntime; every axis keeps room for one window.
    """
    if after == before:
        return ""
    if after.pad != before.pad and (reason := _pad_node(before, after)):
        return reason
    pairs = ((check(after), check(before)) for check in (_size, _refused))
    return next((reason for reason, known in pairs if reason != known), "")


def _refused(chain: Chain) -> str:
    # Fusion is the business of runtime_check.
    found = judge(reference(), replace(chain, around=NOTHING))
    refuses = found.answer is Answer.REFUSES
    return f"onnxruntime would not run it: {found.reason}" if refuses else ""


def _size(chain: Chain) -> str:
    """Axes without room for one window, before or behind the Pad node."""
    pads = effective_pads(chain)
    if isinstance(pads, Skip):
        return ""
    for index, axis in enumerate(chain.axes):
        if isinstance(axis.size, int) and axis.size < 1:
            return f"pad_node crops all of axis {chain.first_axis + index} (size {axis.size})"
    if short := short_axis(chain, pads):
        return short.reason
    sizes = output_sizes(chain)
    if any(isinstance(size, int) and size < 1 for size in sizes):
        shown = "x".join(show(size) for size in sizes)
        return f"its output would be {shown}: the pads {list(pads.flat)} leave nothing of it"
    for axis, more in zip(chain.axes, chain.output_padding, strict=False):
        if more >= max(axis.stride, axis.dilation):
            return (
                f"output_padding {more} is not below stride {axis.stride} or dilation "
                f"{axis.dilation}, which onnxruntime asks for"
            )
    return ""


def _pad_node(before: Chain, after: Chain) -> str:
    step, known, none = after.pad, before.pad, Pads.zero(before.tensor_rank)
    if known is None or not known.unclear:
        spatial = range(before.tensor_rank)[before.spatial]
        sides = ((one.pads if one else none).sides for one in (step, known))
        for axis, (new, old) in enumerate(zip(*sides, strict=True)):
            if axis not in spatial and new != old:
                return (
                    f"pad_node has pads {new[0]},{new[1]} at axis {axis}, which is no spatial "
                    f"axis: keep the model's {old[0]},{old[1]} there"
                )
    return "" if step is None else _mode(after, step) or _value(after, step)


def _mode(chain: Chain, step: PadStep) -> str:
    if step.mode == "wrap" and not chain.op.domain and 0 < chain.opset < Since.PAD_WRAP:
        return f"Pad of opset {chain.opset} has no mode wrap, which came with {Since.PAD_WRAP}"
    spatial = chain.inner(step.pads)
    axes = axes_in_front(chain, spatial) if step.mode == "reflect" else ()
    for index, (axis, sides) in enumerate(zip(axes, spatial.sides, strict=False)):
        size = axis.size
        left = size + sum(min(0, side) for side in sides) if isinstance(size, int) else math.inf
        if max(sides) > 0 and max(sides) >= left:
            return (
                f"pad_node reflects {max(sides)} of axis {chain.first_axis + index}, which has "
                f"size {left}: the widest reflection is {left - 1}"
            )
    return ""


def _value(chain: Chain, step: PadStep) -> str:
    if not isinstance(step.fill, Constant):
        return ""
    value, dtype = step.fill.value, chain.dtype
    if dtype.startswith(("int", "uint")):
        limits = np.iinfo(dtype)
        fits = math.isfinite(value) and value == int(value) and limits.min <= value <= limits.max
    else:
        fits = value == -math.inf or abs(value) <= largest(dtype)
    return "" if fits else f"pad_node has value {value}, which {dtype} does not hold"
