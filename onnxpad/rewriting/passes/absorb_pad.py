"""Fold a Pad node into the pads of the operator behind it.

What: the operator reads what the Pad read and pads by itself; the Pad stays for its other readers.
Between both may stand operators that keep its 0 (Relu, Clip, Cast, Mul by a constant ...),
Transpose, Squeeze, Unsqueeze; and behind a Pad of 0 QuantizeLinear and DequantizeLinear. Of Pads in
a row the nearest goes first.

Exact: when the value that arrives is what the operator's own padding stands for: 0 before
convolutions, LpPool and averages that count padding (or have no pads of their own:
count_include_pad is set then), the lowest value before max pools, the zero point before integer
convolutions. A max pool takes any value that no cell is below (0 behind Relu) where each of its
windows holds a cell of data. A transposed convolution crops a stride less for each cell.

Refuses: any other value (Pad(0) before MaxPool changes negative data), reflect, edge and wrap,
padded batch or channel axes, negative pads, pads that are computed, pools whose pads would reach
the kernel, averages that pad without counting, used Indices, ceil_mode where the last window would
be dropped, transposed convolutions that crop less than the Pad adds.

Cost: none; one node less. Operators in between that others read too are copied.

Example: Pad [0,0,0,0, 0,0,1,1] and Conv pads=[0, 0, 0, 0] become Conv pads=[0, 0, 1, 1].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onnxpad.padding.chain import Chain, Pads, PadStep, Skip
from onnxpad.padding.effective_pads import (
    axes_in_front,
    rounds_up,
    same_windows_when_padded,
)
from onnxpad.padding.fills import Constant, Implicit, TensorValue, lowest, number_of
from onnxpad.padding.forms import Form, windows_hold_data
from onnxpad.padding.operators import Kind, Since
from onnxpad.rewriting.steps.refusals import Refused, attempted, own_pads, refuse, require

REMOVES = {Form.PAD_NODE}
MAY_REMOVE = {Form.AUTO_PAD, Form.PAD_VALUE}
ADDS = {Form.PADS, Form.ASYMMETRIC, Form.WIDER_THAN_KERNEL, Form.COUNTS_PADDING}


def rewrite(chain: Chain) -> Sequence[Chain | Skip]:
    """Let the operator do the padding of the Pad in front."""
    step = chain.pad or chain.around.far_pad
    if step is None or chain.op.kind is Kind.PAD:
        return [Skip("no Pad node in front", moot=True)]
    return [attempted(_absorbed, chain, step)]


def _absorbed(chain: Chain, step: PadStep) -> Chain:
    _require_pad(chain, step)
    own = own_pads(chain)
    # A Pad in front of that shows itself when the model is read anew.
    freed = replace(chain, pad=None, around=replace(chain.around, far_pad=None))
    if not any(step.pads.flat):
        return freed
    folded = chain.inner(step.pads)
    _require_operator(chain, step, own)
    if rounds_up(chain):
        source = replace(chain, axes=axes_in_front(chain, folded))
        same = same_windows_when_padded(source, folded, own)
        require(same, "ceil_mode would drop the last window, which the Pad keeps")
    alone = chain.op.kind is Kind.MAX and not _same_fill(chain, step)
    if alone and not windows_hold_data(chain, own + folded):
        refuse(
            f"the Pad writes {step.fill}, and a window may hold padding alone: the pads together "
            "reach the kernel, or it is dilated"
        )
    axes = axes_in_front(chain, folded)
    if chain.op.kind is Kind.TRANSPOSED:
        # Each cell of the Pad is a stride of the output that the crop takes away.
        strides = [axis.stride for axis in chain.axes]
        rows = zip(own.sides, folded.sides, strides, strict=True)
        less = Pads.of([(b - n * stride, e - m * stride) for (b, e), (n, m), stride in rows])
        if min(less.flat) < 0:
            refuse(f"the Pad adds more cells than its pads {list(own.flat)} crop")
        return replace(freed.with_padding(less), axes=axes, output_shape=())
    fill = Constant(0) if chain.fill is Implicit.NOTHING else chain.fill
    whole = freed.with_padding(own + folded)
    return replace(whole, axes=axes, ceil_mode=rounds_up(chain), fill=fill)


def _require_pad(chain: Chain, step: PadStep) -> None:
    """Leave alone a Pad that does more than pad spatial axes with a constant."""
    if step.unclear:
        raise Refused(step.unclear.as_skip())
    if not any(step.pads.flat):
        return
    if step.mode != "constant":
        refuse(f"the Pad has mode '{step.mode}', an operator pads with a constant")
    if min(step.pads.flat) < 0:
        refuse("the Pad has negative pads and crops", "--pass plain-pad")
    if any(map(any, chain.outer(step.pads))):
        also = "also " if any(chain.inner(step.pads).flat) else ""
        hints = () if step.crossed else ("--pass concat-pads",)
        refuse(f"the Pad {also}pads the batch or channel axis", *hints)


def _require_operator(chain: Chain, step: PadStep, own: Pads) -> None:
    """Leave alone an operator whose padding would be another than that of the Pad."""
    if chain.op.name == "DeformConv":
        refuse("DeformConv has an input that depends on its own padding")
    require(not chain.uses_indices, "its Indices are used and count the cells of the Pad")
    require(min(own.flat, default=0) >= 0, "the operator has negative pads of its own")
    if chain.fill is Implicit.NOTHING:
        if chain.op.quantised:
            refuse("the average does not count padded cells, and 0 need not be its zero point")
        if any(own.flat):
            refuse("the average counts the cells of the Pad, but not its own padding")
        reason = f"AveragePool of opset {chain.opset} has no count_include_pad"
        require(chain.opset >= Since.COUNT_INCLUDE_PAD, reason)
    if not (_same_fill(chain, step) or _never_wins(chain, step)):
        behind = f" behind {' and '.join(step.crossed)}" if step.crossed else ""
        wanted = "0" if chain.fill is Implicit.NOTHING else str(chain.fill)
        refuse(f"the Pad writes {step.fill}{behind}, {chain.op.name} pads with {wanted}")


def _never_wins(chain: Chain, step: PadStep) -> bool:
    """Whether a maximum over data and the Pad's cells is one of the data."""
    if chain.fill is not Implicit.LOWEST or not isinstance(step.fill, Constant):
        return False
    return chain.around.never_negative and step.fill.value <= 0


def _same_fill(chain: Chain, step: PadStep) -> bool:
    """Whether the Pad writes what the operator's own padding stands for."""
    value = number_of(step.fill)
    match chain.fill:
        case Implicit.LOWEST:
            return value is not None and value in lowest(chain.dtype)
        case Implicit.NOTHING:
            return value == 0
        case TensorValue(tensor, number):
            same = isinstance(step.fill, TensorValue) and step.fill.tensor == tensor
            return same or (value is not None and value == number)
        case Constant(wanted):
            return value is not None and value == wanted
        case _:
            return False
