"""The ways in which padding is written, of which some runtime refuses each."""

from __future__ import annotations

from enum import StrEnum

from onnxpad.geometry.windows import holds_padding_alone
from onnxpad.padding.chain import AutoPad, Chain, Pads, PadStep, Unclear
from onnxpad.padding.effective_pads import effective_pads, output_sizes
from onnxpad.padding.fills import Constant
from onnxpad.padding.operators import PLAIN_DOMAINS, Kind, PadInput


class Form(StrEnum):
    """One way of writing padding; the value is what tables and `explain` print."""

    AUTO_PAD = "auto_pad"
    PADS = "pads"
    ASYMMETRIC = "asymmetric"
    WIDER_THAN_KERNEL = "wider-than-kernel"
    PAD_NODE = "pad-node"
    CEIL_MODE = "ceil_mode"
    COUNTS_PADDING = "counts-padding"
    IGNORES_PADDING = "ignores-padding"
    OUTPUT_PADDING = "output_padding"
    OUTPUT_SHAPE = "output_shape"
    NEGATIVE = "negative"
    REFLECT = "reflect"
    WIDE_REFLECT = "wide-reflect"
    EDGE = "edge"
    WRAP = "wrap"
    DYNAMIC = "dynamic"
    LP_POOL = "p-norm"
    AVERAGE = "average"
    ONE_AXIS = "one-axis"
    INDICES = "indices"
    PAD_AXES = "pad-axes"
    PAD_VALUE = "pad-value"
    OUTER_AXES = "outer-axes"
    JOINED = "joined"
    CONTEXT = "context"
    BATCHES = "in-batches"


MEANING = {
    Form.AUTO_PAD: "auto_pad is VALID, SAME_UPPER or SAME_LOWER: the pads follow from the size",
    Form.PADS: "the operator itself pads: its pads attribute holds something other than 0",
    Form.ASYMMETRIC: "begin and end pads of one axis differ",
    Form.WIDER_THAN_KERNEL: "a pad is as wide as the kernel or wider; pools of onnxruntime refuse",
    Form.PAD_NODE: "a Pad node stands in front of the operator",
    Form.CEIL_MODE: "ceil_mode=1: the output size is rounded up",
    Form.COUNTS_PADDING: "count_include_pad=1 with padding: the average divides by padded cells",
    Form.IGNORES_PADDING: (
        "count_include_pad=0 with padding: the average divides by the cells of data alone"
    ),
    Form.OUTPUT_PADDING: "output_padding adds cells at the end of a transposed convolution",
    Form.OUTPUT_SHAPE: "output_shape fixes the size, the pads follow from it",
    Form.NEGATIVE: "a pad is negative and crops",
    Form.REFLECT: "a Pad node mirrors the data (mode=reflect)",
    Form.WIDE_REFLECT: "a Pad node mirrors more cells than the axis has beside its border",
    Form.EDGE: "a Pad node repeats the border (mode=edge); TensorFlow's SYMMETRIC is that for pads "
    "of 1",
    Form.WRAP: "a Pad node continues at the other side (mode=wrap)",
    Form.DYNAMIC: "the pads are computed while the model runs",
    Form.LP_POOL: "the operator is LpPool, which few runtimes have",
    Form.AVERAGE: "the operator is an average pool; a convolution can do the same",
    Form.ONE_AXIS: "the operator slides along one axis only: a 1-D convolution or pool",
    Form.INDICES: "the Indices of a max pool are used",
    Form.PAD_AXES: "a Pad node lists the axes that it pads (input axes, opset 18)",
    Form.PAD_VALUE: "a Pad node writes something other than 0",
    Form.OUTER_AXES: "a Pad node pads the batch or the channel axis",
    Form.JOINED: "Slices and a Concat repeat, mirror or wrap what they read, as a Pad does",
    Form.CONTEXT: "an input of the model is the left context of a convolution",
    Form.BATCHES: "a dilated convolution is written as one over batches of every n-th cell",
}

_MODES = {"reflect": Form.REFLECT, "edge": Form.EDGE, "wrap": Form.WRAP}


def forms_of(chain: Chain) -> frozenset[Form]:
    """Every form that the chain is written in."""
    found = _operator_forms(chain) | _pad_forms(chain)
    if chain.ceil_mode:
        found.add(Form.CEIL_MODE)
    if any(chain.output_padding):
        found.add(Form.OUTPUT_PADDING)
    if chain.output_shape:
        found.add(Form.OUTPUT_SHAPE)
    if chain.op.kind is Kind.LP:
        found.add(Form.LP_POOL)
    if chain.op.kind is Kind.AVERAGE:
        found.add(Form.AVERAGE)
    if chain.rank == 1:
        found.add(Form.ONE_AXIS)
    if chain.reads and chain.axes:
        found.add(Form.BATCHES)
    if chain.uses_indices:
        found.add(Form.INDICES)
    return frozenset(found)


def _operator_forms(chain: Chain) -> set[Form]:
    match chain.padding:
        case AutoPad():
            return {Form.AUTO_PAD}
        case Unclear():
            return set()
        case Pads():
            return _attribute_forms(chain, chain.padding)


def _attribute_forms(chain: Chain, pads: Pads) -> set[Form]:
    found = set()
    if any(pads.flat):
        found.add(Form.PADS)
        if chain.op.kind is Kind.AVERAGE:
            counts = chain.counts_padding
            found.add(Form.COUNTS_PADDING if counts else Form.IGNORES_PADDING)
    if pads.begins != pads.ends:
        found.add(Form.ASYMMETRIC)
    if any(pad < 0 for pad in pads.flat):
        found.add(Form.NEGATIVE)
    if reaches_kernel(chain, pads):
        found.add(Form.WIDER_THAN_KERNEL)
    return found


def _pad_forms(chain: Chain) -> set[Form]:
    step = chain.pad
    if step is None:
        return set()
    if chain.reads:
        return {Form.CONTEXT} if step.mode == "context" else {Form.JOINED, _MODES[step.mode]}
    found = {Form.PAD_NODE}
    if step.mode in _MODES:
        found.add(_MODES[step.mode])
    if mirrors_beyond(chain):
        found.add(Form.WIDE_REFLECT)
    if step.unclear or step.computed:
        found.add(Form.DYNAMIC)
    if PadInput.AXES in step.listed:
        found.add(Form.PAD_AXES)
    if any(pad < 0 for pad in step.pads.flat):
        found.add(Form.NEGATIVE)
    if writes_value(step):
        found.add(Form.PAD_VALUE)
    if outer_axes(chain, step.pads):
        found.add(Form.OUTER_AXES)
    return found


def mirrors_beyond(chain: Chain) -> bool:
    """Whether a Pad by itself mirrors more cells than an axis of known size has beside its border.

    Newer texts of ONNX forbid it; numpy and onnx's reference evaluator go back and forth.
    """
    step = chain.pad
    if chain.op.kind is not Kind.PAD or step is None or step.mode != "reflect" or step.unclear:
        return False
    sides = zip(chain.shape or (), step.pads.begins, step.pads.ends, strict=False)
    return any(
        isinstance(size, int) and max(begin, end) >= size + min(begin, end, 0)
        for size, begin, end in sides
    )


def pools_padding_alone(chain: Chain) -> tuple[int, ...]:
    """Axes on which a pool is known to have a window of padding alone; () if padding counts."""
    if chain.op.kind not in (Kind.MAX, Kind.AVERAGE):
        return ()
    pads, windows = effective_pads(chain), output_sizes(chain)
    if not isinstance(pads, Pads) or (chain.op.kind is Kind.AVERAGE and chain.counts_padding):
        return ()
    sides = zip(chain.axes, pads.begins, windows, strict=True)
    return tuple(
        chain.first_axis + place
        for place, (axis, begin, count) in enumerate(sides)
        if isinstance(count, int) and holds_padding_alone(axis, begin, count)
    )


def writes_value(step: PadStep) -> bool:
    """Whether a Pad node writes something that is not known to be 0."""
    return step.mode == "constant" and step.fill != Constant(0) and any(step.pads.flat)


def outer_axes(chain: Chain, pads: Pads) -> tuple[int, ...]:
    """Batch and channel axes that a Pad node pads or crops.

    Of a Pad node by itself, axis 0 and the axis of the channels: 1, or the last where what reads
    it has its channels there. Tensors of fewer than three axes have no such axes.
    """
    rank = len(pads.begins)
    spatial = chain.spatial if chain.axes else slice(chain.first_axis, chain.first_axis + rank - 2)
    inner = range(rank)[spatial] if rank > 2 else range(rank)
    return tuple(a for a in range(rank) if a not in inner and (pads.begins[a] or pads.ends[a]))


def reaches_kernel(chain: Chain, pads: Pads) -> bool:
    """Whether a pad is not smaller than the kernel (undilated, as onnxruntime's pools test it)."""
    return any(begin >= axis.kernel or end >= axis.kernel for axis, begin, end in chain.sides(pads))


def windows_hold_data(chain: Chain, pads: Pads) -> bool:
    """Whether each window of a pool with `pads` holds a cell of data, whatever the size."""
    return all(axis.dilation == 1 for axis in chain.axes) and not reaches_kernel(chain, pads)


def mixed_types(chain: Chain) -> str | None:
    """The sentence for data and weight of two types; None for quantised or unknown types."""
    data, weight = chain.dtype, chain.weight.dtype
    if chain.op.quantised or chain.op.kind not in (Kind.CONVOLUTION, Kind.TRANSPOSED):
        return None
    if not (data and weight) or chain.op.domain not in PLAIN_DOMAINS or data == weight:
        return None
    return f"its data is {data} and its weight {weight}, where ONNX has one type for both"
