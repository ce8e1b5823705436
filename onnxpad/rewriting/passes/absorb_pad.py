"""Fold a Pad node into the pads of the operator behind it.

What: the operator reads what the Pad read and pads by itself; the Pad goes when nothing else
reads it, and stays for its other readers otherwise. auto_pad of the operator is resolved
against the padded size first. Between both may stand operators that work cell by cell
(Relu, Clip, Cast, Mul by a constant ...), Transpose, Squeeze, Unsqueeze; and behind a
Pad of 0 QuantizeLinear and DequantizeLinear: the Pad's value is what they make of it. Pads in a row
count as one.

Exact: when the value that arrives is what the operator's own padding stands for: 0 before
convolutions, LpPool and averages that count padding (or have no pads of their own:
count_include_pad is set then), the lowest value before max pools, the zero point before integer
convolutions. A max pool takes any value that no cell is below (0 behind Relu) where each of its
windows holds a cell of data. A transposed convolution crops a stride less for each cell.

Refuses: any other value (Pad(0) before MaxPool changes negative data), reflect, edge and wrap,
padded batch or channel axes, negative pads, pads that are computed or can be overridden by an
input, pools whose pads would reach the kernel, averages that pad without counting, used
Indices of a max pool, ceil_mode where the last window would be dropped, transposed
convolutions that crop less than the Pad adds.

Cost: none; one node less. Operators in between that others read too are copied.

Example: Pad [0,0,0,0, 0,0,1,1] and Conv pads=[0, 0, 0, 0] become Conv pads=[0, 0, 1, 1].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from onnxpad.padding.chain import Chain, Pads, PadStep, PassResult, Skip
from onnxpad.padding.effective_pads import (
    axes_in_front,
    effective_pads,
    rounds_up,
    same_windows_when_padded,
    short_axis,
)
from onnxpad.padding.fills import Constant, Fill, Implicit, TensorValue, lowest
from onnxpad.padding.forms import Form, windows_hold_data
from onnxpad.padding.operators import Kind, Since

REMOVES = {Form.PAD_NODE}
MAY_REMOVE = {Form.AUTO_PAD, Form.PAD_VALUE}
ADDS = {Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL, Form.COUNTS_PADDING}


def rewrite(chain: Chain) -> Chain | Skip:
    """Let the operator do the padding of the Pads in front of it, all in a row where it can."""
    found: Chain | Skip = Skip("no Pad node in front", moot=True)
    for step in reversed(_steps(chain)):
        found = _without(chain, step)
        if not isinstance(found, Skip):
            break
    return found


def otherwise(chain: Chain) -> Iterator[PassResult]:
    """The nearest of several Pads alone."""
    steps = _steps(chain)
    alone = _without(chain, steps[0]) if len(steps) > 1 else None
    if alone is not None and not isinstance(alone, Skip):
        yield alone


def _steps(chain: Chain) -> list[PadStep]:
    """The Pad in front, and what it and others in a row do together."""
    steps = () if chain.op.kind is Kind.PAD else (chain.pad, chain.far_pad)
    return [step for step in steps if step is not None]


def _without(chain: Chain, step: PadStep) -> Chain | Skip:
    if refusal := _pad_refusal(chain, step):
        return refusal
    own = effective_pads(chain)
    if isinstance(own, Skip):
        return own
    if short := short_axis(chain, own):
        return short
    if not any(step.pads.flat):
        return _freed(chain, step)
    spatial = chain.spatial
    folded = Pads(step.pads.begins[spatial], step.pads.ends[spatial])
    refusal = _operator_refusal(chain, step, own) or _window_refusal(chain, step, own, folded)
    if refusal or chain.op.kind is not Kind.TRANSPOSED:
        return refusal or _absorbed(chain, step, own, folded)
    return _cropped_less(chain, step, own, folded)


def _freed(chain: Chain, step: PadStep) -> Chain:
    """The chain without the Pad; one in front of that shows itself when the model is read anew."""
    return replace(chain, pad=None, far_pad=None if step is chain.far_pad else chain.far_pad)


def _pad_refusal(chain: Chain, step: PadStep) -> Skip | None:
    spatial, sides = chain.spatial, (step.pads.begins, step.pads.ends)
    outside = [pad for side in sides for pad in side[: spatial.start] + side[spatial.stop :]]
    spatial_pads = [pad for side in sides for pad in side[spatial]]
    if step.unclear:
        return step.unclear.as_skip()
    if not any(step.pads.flat):
        return None
    if step.mode != "constant":
        return Skip(f"the Pad has mode '{step.mode}', an operator pads with a constant")
    if any(pad < 0 for pad in step.pads.flat):
        return Skip("the Pad has negative pads and crops", ("--pass plain-pad",))
    if any(outside):
        also = "also " if any(spatial_pads) else ""
        hints = () if step.crossed else ("--pass spatial-pads",)
        return Skip(f"the Pad {also}pads the batch or channel axis", hints)
    return None


def _operator_refusal(chain: Chain, step: PadStep, own: Pads) -> Skip | None:
    if chain.op.pads_input is not None:
        return Skip("its pads are an input")
    if chain.op.name in ("DeformConv", "MaxpoolWithMask"):
        return Skip(f"{chain.op.name} has an input that depends on its own padding")
    if chain.uses_indices:
        return Skip("its Indices are used and count the cells of the Pad")
    if any(pad < 0 for pad in own.flat):
        return Skip("the operator has negative pads of its own")
    if chain.fill is Implicit.NOTHING and (refusal := _average_refusal(chain, own)):
        return refusal
    if not (_same_fill(chain, step.fill) or _never_wins(chain, step.fill)):
        behind = f" behind {' and '.join(step.crossed)}" if step.crossed else ""
        return Skip(
            f"the Pad writes {step.fill}{behind}, {chain.op.name} pads with {_wanted(chain)}"
        )
    return None


def _never_wins(chain: Chain, fill: Fill) -> bool:
    """Whether a maximum over data and the Pad's cells is one of the data."""
    if chain.fill is not Implicit.LOWEST or not isinstance(fill, Constant):
        return False
    return chain.around.at_least is not None and fill.value <= chain.around.at_least


def _average_refusal(chain: Chain, own: Pads) -> Skip | None:
    if chain.op.quantised:
        return Skip("the average does not count padded cells, and 0 need not be its zero point")
    if any(own.flat):
        return Skip("the average counts the cells of the Pad, but not its own padding")
    if chain.opset < Since.COUNT_INCLUDE_PAD:
        return Skip(f"AveragePool of opset {chain.opset} has no count_include_pad")
    return None


def _same_fill(chain: Chain, fill: Fill) -> bool:
    value = fill.value if isinstance(fill, Constant | TensorValue) else None
    match chain.fill:
        case Implicit.LOWEST:
            return value is not None and value in lowest(chain.dtype)
        case Implicit.NOTHING:
            return value == 0
        case TensorValue(tensor, known):
            same = isinstance(fill, TensorValue) and fill.tensor == tensor
            return same or (value is not None and value == known)
        case Constant(wanted):
            return value is not None and value == wanted
        case _:
            return False


def _wanted(chain: Chain) -> str:
    return "0" if chain.fill is Implicit.NOTHING else str(chain.fill)


def _window_refusal(chain: Chain, step: PadStep, own: Pads, folded: Pads) -> Skip | None:
    alone = chain.op.kind is Kind.MAX and not _same_fill(chain, step.fill)
    if alone and not windows_hold_data(chain, own + folded):
        return Skip(
            f"the Pad writes {step.fill}, and a window may hold padding alone: the pads together "
            "reach the kernel, or it is dilated"
        )
    if rounds_up(chain):
        source = replace(chain, axes=axes_in_front(chain, folded))
        if not same_windows_when_padded(source, folded, own):
            return Skip("ceil_mode would drop the last window, which the Pad keeps")
    return None


def _absorbed(chain: Chain, step: PadStep, own: Pads, folded: Pads) -> Chain:
    counts = chain.fill is Implicit.NOTHING
    return replace(
        _freed(chain, step).with_padding(own + folded),
        axes=axes_in_front(chain, folded),
        ceil_mode=rounds_up(chain),
        fill=Constant(0) if counts else chain.fill,
    )


def _cropped_less(chain: Chain, step: PadStep, own: Pads, folded: Pads) -> Chain | Skip:
    """Each cell of the Pad is a stride of the output that the crop takes away."""
    strides = [axis.stride for axis in chain.axes]
    begins, ends = (
        tuple(crop - cells * stride for crop, cells, stride in zip(*sides, strides, strict=True))
        for sides in ((own.begins, folded.begins), (own.ends, folded.ends))
    )
    if min(begins + ends) < 0:
        return Skip(f"the Pad adds more cells than its pads {list(own.flat)} crop")
    return replace(
        _freed(chain, step).with_padding(Pads(begins, ends)),
        axes=axes_in_front(chain, folded),
        output_shape=(),
    )
