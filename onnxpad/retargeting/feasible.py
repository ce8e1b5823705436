"""Why onnxruntime would not run the padding that a plan asks for."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from onnxpad.errors import RequestError
from onnxpad.geometry.size import show
from onnxpad.padding.chain import Around, Chain, Pads, PadStep, Skip
from onnxpad.padding.effective_pads import axes_in_front, effective_pads, output_sizes, short_axis
from onnxpad.padding.fills import Constant, largest
from onnxpad.padding.operators import Since
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.judge import judge
from onnxpad.runtimes.onnxruntime.runtime_check import reference


def refuse_infeasible(before: Chain, after: Chain) -> None:
    """Raise a RequestError where onnxruntime would not run `after`, as far as sizes are known.

    What `before` has in common with it is left to the model: a plan is refused for what it
    brings. The limits: a Pad node leaves batch and channels as they are, reflects less than the
    axis, holds a number of the element type (ONNX Operators, Pad-2 to Pad-25), and the rows of
    the target onnxruntime; every axis keeps room for one window.
    """
    step, present = after.pad, before.pad
    if step != present and not (present and present.unclear):
        none = Pads.zero(after.tensor_rank)
        outer = [after.outer(one.pads if one else none) for one in (step, present)]
        if outer[0] != outer[1]:
            raise RequestError("pad_node pads batch or channels otherwise than the model does")
    if step is not None and step != present:
        _refuse_pad_node(after, step)
    for refusal in (_no_room, _refused):
        reason = refusal(after)
        if reason and reason != refusal(before):
            raise RequestError(reason)


def _refused(chain: Chain) -> str:
    # Fusion is the business of runtime_check.
    verdict = judge(reference(), replace(chain, around=Around(marks=chain.around.marks)))
    refuses = verdict.answer is Answer.REFUSES
    return f"onnxruntime would not run it: {verdict.reason}" if refuses else ""


def _no_room(chain: Chain) -> str:
    """Axes without a cell or a window, and output_padding that reaches the next window."""
    pads = effective_pads(chain)
    if isinstance(pads, Skip):
        return ""
    sizes = [axis.size for axis in chain.axes], output_sizes(chain)
    for what, shape in zip(("input", "output"), sizes, strict=True):
        if any(isinstance(size, int) and size < 1 for size in shape):
            return f"the padding leaves nothing of its {what}: {'x'.join(map(show, shape))} cells"
    if short := short_axis(chain, pads):
        return short.reason
    for axis, more in zip(chain.axes, chain.output_padding, strict=False):
        if more >= max(axis.stride, axis.dilation):
            return f"output_padding {more} is not below the stride or the dilation"
    return ""


def _refuse_pad_node(chain: Chain, step: PadStep) -> None:
    if step.mode == "wrap" and not chain.op.domain and 0 < chain.opset < Since.PAD_WRAP:
        raise RequestError(f"Pad of opset {chain.opset} has no mode wrap")
    spatial = chain.inner(step.pads)
    for axis, sides in zip(axes_in_front(chain, spatial), spatial.sides, strict=True):
        size = axis.size
        left = size + sum(min(0, side) for side in sides) if isinstance(size, int) else math.inf
        if step.mode == "reflect" and max(0, *sides) >= left:
            raise RequestError(f"pad_node reflects {max(sides)} of {left} cells: one must stay")
    value, dtype = step.fill.value if isinstance(step.fill, Constant) else 0, chain.dtype
    if dtype.startswith(("int", "uint")):
        limits = np.iinfo(dtype)
        fits = math.isfinite(value) and value == int(value) and limits.min <= value <= limits.max
    else:
        fits = value == -math.inf or abs(value) <= largest(dtype)
    if not fits:
        raise RequestError(f"pad_node has value {value}, which {dtype} does not hold")
