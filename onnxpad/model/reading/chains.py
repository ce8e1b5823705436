"""A padded node as a Chain, with its weight, its places and its attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from onnxpad.errors import ModelError
from onnxpad.geometry.size import Size
from onnxpad.geometry.windows import Axis
from onnxpad.model.graph.attributes import Value, integers
from onnxpad.model.graph.context import Context, has_value, is_stored
from onnxpad.model.graph.nodes import Node
from onnxpad.model.reading import refusals
from onnxpad.model.reading.pads import feeds_channels_last, read_pad
from onnxpad.model.reading.pads_in_front import front_of, marks_of, nearest_pad, pools_read
from onnxpad.model.reading.quantised import between, zero_fill
from onnxpad.padding.chain import (
    NO_WEIGHT,
    Around,
    AutoPad,
    Chain,
    Mark,
    Padding,
    Pads,
    PadStep,
    Preferences,
    Unclear,
    Weight,
    Written,
)
from onnxpad.padding.fills import Constant, Fill, Implicit, TensorValue
from onnxpad.padding.operators import (
    OPTIMISED,
    Attributes,
    AttributeValue,
    Kind,
    Operator,
    PadInput,
)

_ZERO = Constant(0)
_WEIGHT_SCALE = 4
_SCALES_AND_ZERO_POINTS = (1, 2, 4, 5, 6, 7)


def _weight_of(context: Context, node: Node, op: Operator) -> Weight:
    """What is known of the weight of a convolution."""
    name = "" if op.weight is None else node.input(op.weight)
    if not name:
        return NO_WEIGHT
    shape, stored = context.type_of(name), is_stored(context, name)
    known = stored or has_value(context, name)
    weight = Weight(shape.dims, shape.dtype, stored, has_value=known)
    maker = context.scope.producers.get(name)
    if op.weight_zero_point is not None:
        zero = node.input(op.weight_zero_point)
        return weight._replace(
            zero_point_is_constant=not zero or is_stored(context, zero),
            scales=_scales(context, node, op),
            listed=_listed(context, node, op),
            whole=shape.dtype,
            zero_point=_zero_point(context, zero),
        )
    if maker is not None and maker.op_type == "DequantizeLinear":
        zero_point = _zero_point(context, maker.input(2))
        return weight._replace(whole=context.type_of(maker.inputs[0]).dtype, zero_point=zero_point)
    pad, shared = nearest_pad(context, name, len(shape.dims or ()))
    return weight._replace(is_padded=pad is not None and not shared and _writes_zeros(pad))


def _writes_zeros(step: PadStep) -> bool:
    """Whether a Pad adds cells of 0, or may."""
    adds = step.mode == "constant" and step.fill == _ZERO and PadInput.AXES not in step.listed
    return adds and min(step.pads.flat, default=0) >= 0


def _zero_point(context: Context, name: str) -> int | None:
    """A zero point that is one number."""
    fill = zero_fill(context, name)
    return int(fill.value) if isinstance(fill, Constant) else None


def _scales(context: Context, node: Node, op: Operator) -> Size | None:
    """How many scales the weight of a QLinearConv has."""
    if op.name != "QLinearConv" or len(node.inputs) <= _WEIGHT_SCALE:
        return 1
    dims = context.type_of(node.inputs[_WEIGHT_SCALE]).dims
    return None if dims is None else (*dims, 1)[0]


def _listed(context: Context, node: Node, op: Operator) -> bool | None:
    """Whether a scale or zero point of a QLinearConv is no scalar."""
    if op.name != "QLinearConv":
        return False
    names = filter(None, map(node.input, _SCALES_AND_ZERO_POINTS))
    found = [context.type_of(name).dims for name in names]
    return None if None in found and not any(found) else any(found)


def _plain_attributes(attributes: Mapping[str, Value]) -> Attributes:
    """Numbers, texts and lists of integers, which steps of an expansion can write again."""
    found: list[tuple[str, AttributeValue]] = []
    for name, value in attributes.items():
        if not isinstance(value, tuple):
            found.append((name, value))
        elif all(isinstance(one, int) for one in value):
            found.append((name, integers(attributes, name)))
    return tuple(found)


def _bare(context: Context, node: Node, op: Operator) -> Chain:
    """The chain of a node before its windows are known."""
    source = context.type_of(node.input(0))
    return Chain(op, context.scope.opset, (), Pads((), ()), _ZERO, source.dtype, shape=source.dims)


class ChainReader:
    """Reads padded nodes; nodes that compute the same share one Chain object."""

    def __init__(self, prefer: Preferences) -> None:
        self._prefer = prefer
        self._shared: dict[Chain, Chain] = {}

    def read(self, context: Context, node: Node, op: Operator) -> Chain:
        """The chain of a padded node, seen from `context`.

        Raises ModelError where attributes have lengths or values that cannot be meant.
        """
        attributes = context.attributes(node)
        bare = _bare(context, node, op)
        if reason := refusals.too_new(context.scope.opset):
            return _unread(bare, Unclear(reason, unread=True))
        refusals.check_node(node, op)
        outputs = tuple(bool(name and context.scope.uses.get(name)) for name in node.outputs)
        written = Written(_plain_attributes(attributes), tuple(map(bool, node.inputs)), outputs)
        bare = replace(bare, written=written)
        if op.kind is Kind.PAD:
            return _pad_chain(context, node, bare)
        if attributes.get("channels_last") == 1:
            return _unread(bare, Unclear(OPTIMISED, unread=True))
        chain = self._windows(context, node, bare)
        return self._shared.setdefault(chain, chain)

    def _windows(self, context: Context, node: Node, bare: Chain) -> Chain:
        op, attributes = bare.op, context.attributes(node)
        kernel = integers(attributes, "kernel_shape") or _kernel_of_weight(context, node, op)
        rank = len(kernel)
        pad, around = front_of(context, node, op, rank)
        chain = replace(bare, fill=_fill(context, node, op, attributes))
        if why := refusals.untouchable(node, op, kernel):
            return _troubled(chain, why)
        weight = _weight_of(context, node, op)
        refusals.check_lengths(
            node, attributes, rank, {"input": chain.shape, "weight": weight.shape}
        )
        axes = _axes(kernel, attributes, chain)
        if wide := refusals.too_wide(axes):
            return _troubled(chain, *wide)
        padding = _padding(op, attributes, rank, self._prefer)
        if lacking := refusals.unknown_to_onnx(attributes):
            padding = Unclear(lacking, illegal=True)
        is_clear = not isinstance(padding, Unclear)
        says_both = _auto_pad(attributes) and "pads" in attributes and is_clear
        settled = self._prefer.ambiguous if op.auto_pad else "pads"
        marks = set(around.marks)
        if settled and says_both:
            marks.add(Mark.CONFLICT_SETTLED)
        if self._prefer.legacy_split and op.kind is Kind.TRANSPOSED:
            marks.add(Mark.LEGACY_SPLIT)
        return replace(
            chain,
            pad=pad,
            around=replace(around, marks=frozenset(marks)),
            weight=weight,
            padding=padding,
            axes=axes,
            ceil_mode=attributes.get("ceil_mode") == 1,
            output_padding=integers(attributes, "output_padding"),
            output_shape=integers(attributes, "output_shape")[-rank:],
        )


def _pad_chain(context: Context, node: Node, bare: Chain) -> Chain:
    """A Pad node, with what reads it."""
    step = read_pad(context, node, None if bare.shape is None else len(bare.shape))
    read, marks = node.inputs[0], marks_of(context, node.inputs[0], bare.op)
    if pools_read(context, node.outputs[0]):
        marks |= {Mark.POOLS_READ_PAD}
    return replace(
        bare,
        fill=step.fill,
        dtype=bare.dtype or context.type_of(node.input(PadInput.VALUE)).dtype,
        pad=step,
        padding=step.unclear if step.unclear and step.unclear.illegal else bare.padding,
        around=Around(
            nearest_pad(context, read, len(step.pads.begins))[0],
            feeds_channels_last=feeds_channels_last(context, node),
            between=between(context, node, step),
            marks=marks,
        ),
    )


def _unread(bare: Chain, why: Unclear) -> Chain:
    """An operator of which nothing is read but that it is there."""
    step = PadStep(Pads((), ()), _ZERO, unclear=why) if bare.op.kind is Kind.PAD else None
    return replace(bare, padding=why, pad=step)


def out_of_reach(context: Context, op: Operator, reason: str) -> Chain:
    """An operator in a function that stays as it is, for this reason."""
    why = f"it stands in a local function that is not written out where it is called: {reason}"
    bare = Chain(op, context.scope.opset, (), Pads((), ()), _ZERO)
    return _unread(bare, Unclear(why, unread=True))


def _troubled(chain: Chain, reason: str, hints: tuple[str, ...] = ()) -> Chain:
    """A chain of which no more is known than that it is there."""
    attributes = chain.written.attributes if chain.op.kind is Kind.OTHER else ()
    bare = replace(chain, written=Written(attributes), shape=None)
    return replace(bare, padding=Unclear(reason, hints))


def _kernel_of_weight(context: Context, node: Node, op: Operator) -> tuple[int, ...]:
    if op.weight is None:
        return ()
    dims = (context.type_of(node.input(op.weight)).dims or ())[2:]
    kernel = tuple(size for size in dims if isinstance(size, int))
    if min(kernel, default=1) < 1:
        raise ModelError(f"{refusals.describe(node)}: its weight has a kernel of {list(kernel)}")
    return kernel if len(kernel) == len(dims) else ()


def _axes(
    kernel: tuple[int, ...], attributes: Mapping[str, Value], chain: Chain
) -> tuple[Axis, ...]:
    rank = len(kernel)
    strides = integers(attributes, "strides") or (1,) * rank
    dilations = integers(attributes, "dilations") or (1,) * rank
    sizes: tuple[Size | None, ...] = (None,) * rank
    if chain.shape is not None:
        sizes = chain.shape[2 : 2 + rank]
    return tuple(Axis(*facts) for facts in zip(sizes, kernel, strides, dilations, strict=True))


def _auto_pad(attributes: Mapping[str, Value]) -> str:
    """What auto_pad says, '' where that is nothing."""
    written = attributes.get("auto_pad", "NOTSET")
    return "" if written == "NOTSET" else str(written)


def _padding(
    op: Operator, attributes: Mapping[str, Value], rank: int, prefer: Preferences
) -> Padding:
    pads = integers(attributes, "pads")
    explicit = Pads(pads[:rank], pads[rank:]) if pads else Pads.zero(rank)
    written = _auto_pad(attributes)
    if not op.auto_pad or not written:
        return explicit
    if written not in AutoPad.__members__:
        known = "SAME_UPPER, SAME_LOWER, VALID or NOTSET"
        reason = f"auto_pad is '{written}', which ONNX does not have: {known}"
        return Unclear(reason, illegal=True)
    mode = AutoPad(written)
    if "pads" not in attributes or prefer.ambiguous == "auto_pad":
        return mode
    if prefer.ambiguous == "pads":
        return explicit
    return Unclear(
        f"auto_pad={mode} and pads={list(pads)} contradict each other, runtimes differ in which "
        "one wins",
        ("--ambiguous auto_pad", "--ambiguous pads"),
    )


def _fill(context: Context, node: Node, op: Operator, attributes: Mapping[str, Value]) -> Fill:
    if op.kind is Kind.MAX:
        return Implicit.LOWEST
    if op.kind is Kind.AVERAGE and attributes.get("count_include_pad") != 1:
        return Implicit.NOTHING
    name = "" if op.zero_point is None else node.input(op.zero_point)
    value = context.constant(name) if name else None
    if value is not None and value.size == 1:
        return TensorValue(name, value.reshape(-1)[0].item())
    is_scalar = value is None and context.type_of(name).dims in (None, (), (1,))
    return (TensorValue(name) if is_scalar else Implicit.PER_CHANNEL) if name else _ZERO
