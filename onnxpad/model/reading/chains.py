"""A padded node as a Chain, with its weight, its places and its attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from onnxpad.errors import ModelError
from onnxpad.geometry.size import Size
from onnxpad.geometry.windows import Axis
from onnxpad.model.graph.attributes import Value
from onnxpad.model.graph.context import Context, has_value, is_stored
from onnxpad.model.graph.flat_numbers import constant_integers
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.types import Type
from onnxpad.model.reading import refusals
from onnxpad.model.reading.lowest_cells import lowest_cell
from onnxpad.model.reading.pads import read_pad, value_type
from onnxpad.model.reading.pads_in_front import front_of, leads_to_pool, marks_of, nearest_pad
from onnxpad.model.reading.quantised import between
from onnxpad.model.reading.readers_of_pad import feeds_channels_last, feeds_max_pools
from onnxpad.model.reading.refusals import describe
from onnxpad.model.shapes.unknown_sizes import why_unknown
from onnxpad.padding.chain import (
    NO_WEIGHT,
    Around,
    AutoPad,
    Chain,
    Mark,
    Padding,
    Pads,
    PadStep,
    Preference,
    Preferences,
    Unclear,
    Weight,
)
from onnxpad.padding.fills import Constant, Fill, Implicit, TensorValue
from onnxpad.padding.operators import (
    Attributes,
    AttributeValue,
    Kind,
    Operator,
    PadInput,
)

_WEIGHT_SCALE = 4
_SCALES_AND_ZERO_POINTS = (1, 2, 4, 5, 6, 7)


def weight_of(context: Context, node: Node, op: Operator) -> Weight:
    """What is known of the weight of a convolution."""
    if op.weight is None or len(node.inputs) <= op.weight or not node.inputs[op.weight]:
        return NO_WEIGHT
    name = node.inputs[op.weight]
    found = context.type_of(name)
    stored = is_stored(context, name)
    value = stored or has_value(context, name)
    if op.weight_zero_point is not None:
        zero = node.input(op.weight_zero_point)
        known, whole = not zero or is_stored(context, zero), _whole(context, name, zero)
        counts = _scales(context, node, op), _listed(context, node, op)
        return Weight(found.dims, found.dtype, stored, known, value, *counts, *whole)
    maker = context.scope.producers.get(name)
    if maker is not None and maker.op_type == "DequantizeLinear":
        kind, at = _whole(context, maker.inputs[0], maker.input(2))
        return Weight(found.dims, found.dtype, stored, has_value=value, whole=kind, zero_point=at)
    pad, shared = nearest_pad(context, name, len(found.dims or ()))
    padded = pad is not None and not shared and _writes_zeros(pad)
    return Weight(found.dims, found.dtype, stored, has_value=value, is_padded=padded)


def _writes_zeros(step: PadStep) -> bool:
    """Whether a Pad adds cells of 0, or may."""
    adds = step.mode == "constant" and step.fill == _ZERO and PadInput.AXES not in step.listed
    return adds and min(step.pads.flat, default=0) >= 0


def _whole(context: Context, name: str, zero: str) -> tuple[str, int | None]:
    """The stored type of a quantised weight, and its zero point."""
    value = context.constant(zero) if zero else np.zeros(1)
    if value is None or not value.size or (value != value.flat[0]).any():
        return context.type_of(name).dtype, None
    return context.type_of(name).dtype, int(value.flat[0])


def _scales(context: Context, node: Node, op: Operator) -> Size | None:
    """How many scales the weight of a QLinearConv has."""
    if op.name != "QLinearConv" or len(node.inputs) <= _WEIGHT_SCALE:
        return 1
    dims = context.type_of(node.inputs[_WEIGHT_SCALE]).dims
    return dims[0] if dims else None if dims is None else 1


def _listed(context: Context, node: Node, op: Operator) -> bool | None:
    """Whether a scale or zero point of a QLinearConv is no scalar."""
    if op.name != "QLinearConv":
        return False
    names = [node.inputs[one] for one in _SCALES_AND_ZERO_POINTS if one < len(node.inputs)]
    found = [context.type_of(name).dims for name in names if name]
    return None if None in found and not any(found) else any(found)


def taken_by(context: Context, node: Node) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
    """Which inputs the node has, and which of its outputs something reads."""
    uses = context.scope.uses
    return (
        tuple(map(bool, node.inputs)),
        tuple([bool(name and uses.get(name)) for name in node.outputs]),
    )


def pads_input(context: Context, node: Node, op: Operator, rank: int) -> Padding | None:
    """Pads that come as an input of the operator, which leaves `rank` axes to them."""
    position = op.pads_input
    if position is None or len(node.inputs) <= position or not node.inputs[position]:
        return None
    numbers = constant_integers(context, node.inputs[position])
    if numbers is None:
        found = why_unknown(context, node.inputs[position])
        sizes = f", {found.reason}" if found.reason else ""
        reason = f"its pads are computed while the model runs{sizes}"
        return Unclear(reason, found.hints, roots=found.roots, of_sizes=bool(found.reason))
    if len(numbers) != 2 * rank:
        return Unclear(f"its pads are {list(numbers)} for {rank} axes")
    mode = context.attributes(node).get("auto_pad", "NOTSET")
    if mode not in ("NOTSET", ""):
        return Unclear(f"it has auto_pad={mode} and pads as an input, which contradict each other")
    return Pads(numbers[:rank], numbers[rank:])


def plain_attributes(attributes: Mapping[str, Value]) -> Attributes:
    """Numbers, texts and lists of integers, which steps of an expansion can write again."""
    found: list[tuple[str, AttributeValue]] = []
    for name, value in attributes.items():
        match value:
            case int() | float() | str():
                found.append((name, value))
            case tuple() if all(isinstance(one, int) for one in value):
                found.append((name, tuple([int(one) for one in value])))
    return tuple(found)


_IMAGE_SHAPE, _BLOCK_SHAPE = 1, 2


def read_fold(context: Context, node: Node, op: Operator, source: Type) -> Chain:
    """The chain of a Col2Im (Col2Im-18): `axes` are those of the image, with the block as kernel.

    Sizes of the image are None where image_shape is computed; a computed block_shape is trouble.
    """
    inputs, outputs = taken_by(context, node)
    attributes = context.attributes(node)
    chain = Chain(op, context.scope.opset, (), Pads((), ()), Constant(0), source.dtype)
    chain = replace(chain, shape=source.dims, inputs=inputs, outputs=outputs)
    blocks = constant_integers(context, node.input(_BLOCK_SHAPE))
    if blocks is None:
        return _troubled(chain, "its block_shape is not known")
    rank = len(blocks)
    sizes = constant_integers(context, node.input(_IMAGE_SHAPE)) or (None,) * rank
    strides, dilations = (_ints(attributes, n) or (1,) * rank for n in ("strides", "dilations"))
    pads = _ints(attributes, "pads") or (0,) * 2 * rank
    if {len(sizes), len(strides), len(dilations), len(pads) / 2} != {rank}:
        return _troubled(chain, f"its lists have lengths that do not fit {rank} image axes")
    return replace(
        chain,
        axes=tuple(Axis(*facts) for facts in zip(sizes, blocks, strides, dilations, strict=True)),
        padding=Pads(pads[:rank], pads[rank:]),
        attributes=plain_attributes(attributes),
    )


_ZERO = Constant(0)


class ChainReader:
    """Reads padded nodes; nodes that compute the same share one Chain object."""

    def __init__(self, prefer: Preferences) -> None:
        self._prefer = prefer
        self._known: dict[tuple[object, ...], Chain] = {}

    def read(self, context: Context, node: Node, op: Operator) -> Chain:
        """The chain of a padded node, seen from `context`.

        Raises ModelError where attributes have lengths or values that cannot be meant.
        """
        refusals.check_wires(node, op)
        source = context.type_of(node.inputs[0]) if node.inputs else Type()
        if reason := refusals.too_new(context.scope.opset):
            return _unread(context, op, source, Unclear(reason, too_new=True))
        if op.kind is Kind.PAD:
            return _pad_chain(context, node, op, source)
        if op.kind is Kind.FOLD:
            return read_fold(context, node, op, source)
        refusals.check_types(node)
        attributes = context.attributes(node)
        first = _first_axis(op, attributes)
        kernel = _ints(attributes, "kernel_shape") or _kernel_of_weight(context, node, op)
        fill = _fill(context, node, op, attributes)
        rank = len(kernel or ())
        front = front_of(context, node, op, rank, first)
        dynamic = pads_input(context, node, op, rank)
        opset = context.scope.opset
        weight, taken = weight_of(context, node, op), taken_by(context, node)
        facts = (source, fill, front, dynamic, weight, taken)
        key = (id(op), opset, tuple(attributes.items()), kernel, facts)
        chain = self._known.get(key)
        if chain is None:
            bare = Chain(op, opset, (), Pads((), ()), fill, source.dtype)
            chain = self._chain(node, bare, attributes, kernel, source)
            refusals.check_weight(node, weight, kernel)
            if op.kind is Kind.OTHER:
                chain = replace(chain, attributes=plain_attributes(attributes))
            elif not chain.trouble or chain.axes:
                chain = replace(
                    chain,
                    shape=source.dims,
                    weight=weight,
                    attributes=plain_attributes(attributes),
                    inputs=taken[0],
                    outputs=taken[1],
                    **front._asdict(),
                    padding=dynamic or chain.padding,
                )
            self._known[key] = chain
        return chain

    def _chain(
        self,
        node: Node,
        chain: Chain,
        attributes: Mapping[str, Value],
        kernel: tuple[int, ...] | None,
        source: Type,
    ) -> Chain:
        if what := refusals.missing_input(node, chain.op):
            return _troubled(chain, f"it has no {what}")
        if chain.op.why_left_alone:
            return _troubled(chain, chain.op.why_left_alone)
        if kernel is None:
            return _troubled(chain, refusals.why_no_kernel(chain.op))
        refusals.check_lengths(node, attributes, len(kernel), source)
        first = _first_axis(chain.op, attributes)
        axes = _axes(kernel, attributes, source, first)
        if wide := refusals.too_wide(axes):
            return _troubled(chain, *wide)
        padding, trouble = _padding(chain.op, attributes, len(kernel), self._prefer.ambiguous)
        if lacking := refusals.unknown_to_onnx(attributes):
            padding = trouble = Unclear(lacking, illegal=True)
        return replace(
            chain,
            axes=axes,
            padding=padding,
            ceil_mode=attributes.get("ceil_mode") == 1,
            output_padding=_ints(attributes, "output_padding"),
            output_shape=_ints(attributes, "output_shape")[-len(kernel) :],
            read_as=self._reading(chain.op, attributes, is_clear=trouble is None),
            trouble=trouble,
        )

    def _reading(
        self, op: Operator, attributes: Mapping[str, Value], *, is_clear: bool
    ) -> Preferences:
        """What of the preferences a node with these attributes is read by."""
        written = attributes.get("auto_pad", "NOTSET")
        says_both = written not in ("NOTSET", "") and "pads" in attributes
        settled = self._prefer.ambiguous if op.auto_pad else "pads"
        legacy_split = self._prefer.legacy_split and op.kind is Kind.TRANSPOSED
        return Preferences(settled if says_both and is_clear else None, legacy_split)


def _first_axis(op: Operator, attributes: Mapping[str, Value]) -> int:
    return 1 if op.channels_last or attributes.get("channels_last") == 1 else 2


def _pad_chain(context: Context, node: Node, op: Operator, source: Type) -> Chain:
    """A Pad node, with what reads it."""
    step = read_pad(context, node, None if source.dims is None else len(source.dims))
    inputs, outputs = taken_by(context, node)
    read, pooled = node.inputs[0], feeds_max_pools(context, node, step)
    more = (
        (Mark.FEEDS_MAX_POOLS, pooled),
        (Mark.POOLS_READ_PAD, leads_to_pool(context, node.outputs[0])),
    )
    marks = marks_of(context, read, op) | {mark for mark, holds in more if holds}
    return Chain(
        *(op, context.scope.opset, (), Pads((), ()), step.fill),
        source.dtype or value_type(context, node),
        pad=step,
        trouble=step.unclear if step.unclear and step.unclear.illegal else None,
        shape=source.dims,
        around=Around(
            nearest_pad(context, read, len(step.pads.begins)).pad,
            at_least=lowest_cell(context, read) if pooled else None,
            feeds_channels_last=feeds_channels_last(context, node),
            between=between(context, node, step) if context.document.quantises else None,
            marks=marks,
        ),
        attributes=plain_attributes(context.attributes(node)),
        inputs=inputs,
        outputs=outputs,
    )


def _unread(context: Context, op: Operator, source: Type, why: Unclear) -> Chain:
    """An operator of which nothing is read but that it is there."""
    step = PadStep(Pads((), ()), _ZERO, unclear=why) if op.kind is Kind.PAD else None
    bare = Chain(op, context.scope.opset, (), why, _ZERO, source.dtype)
    return replace(bare, pad=step, trouble=why, shape=source.dims)


def out_of_reach(context: Context, op: Operator, reason: str) -> Chain:
    """An operator in a function that stays as it is, for this reason."""
    said = f"it stands in a local function that is not written out where it is called: {reason}"
    return _unread(context, op, Type(), Unclear(said, out_of_reach=True))


def _troubled(chain: Chain, reason: str, hints: tuple[str, ...] = ()) -> Chain:
    trouble = Unclear(reason, hints)
    return replace(chain, padding=trouble, trouble=trouble)


def _ints(attributes: Mapping[str, Value], name: str) -> tuple[int, ...]:
    value = attributes.get(name)
    return tuple(int(v) for v in value) if isinstance(value, tuple) else ()


def _kernel_of_weight(context: Context, node: Node, op: Operator) -> tuple[int, ...] | None:
    if op.weight is None or op.channels_last or len(node.inputs) <= op.weight:
        return None
    dims = context.type_of(node.inputs[op.weight]).dims
    if dims is None or not all(isinstance(size, int) for size in dims[2:]) or len(dims) < 3:
        return None
    if any(isinstance(size, int) and size < 1 for size in dims[2:]):
        raise ModelError(f"{describe(node)}: its weight has the shape {list(dims)}: no kernel")
    return tuple(size for size in dims[2:] if isinstance(size, int))


def _axes(
    kernel: tuple[int, ...], attributes: Mapping[str, Value], source: Type, first: int
) -> tuple[Axis, ...]:
    rank = len(kernel)
    ones = (1,) * rank
    strides = _ints(attributes, "strides") or ones
    dilations = _ints(attributes, "dilations") or ones
    sizes: tuple[Size | None, ...] = (None,) * rank
    if source.dims is not None:
        sizes = source.dims[first : first + rank]
    return tuple(Axis(*facts) for facts in zip(sizes, kernel, strides, dilations, strict=True))


def _padding(
    op: Operator, attributes: Mapping[str, Value], rank: int, prefer: Preference
) -> tuple[Padding, Unclear | None]:
    pads = _ints(attributes, "pads")
    explicit = Pads(pads[:rank], pads[rank:]) if pads else Pads.zero(rank)
    written = attributes.get("auto_pad", "NOTSET")
    if not op.auto_pad or written in ("NOTSET", ""):
        return explicit, None
    if written not in AutoPad.__members__:
        known = "SAME_UPPER, SAME_LOWER, VALID or NOTSET"
        wrong = Unclear(f"auto_pad is '{written}', which ONNX does not have: {known}", illegal=True)
        return wrong, wrong
    mode = AutoPad(str(written))
    if "pads" not in attributes or prefer == "auto_pad":
        return mode, None
    if prefer == "pads":
        return explicit, None
    return mode, Unclear(
        f"auto_pad={mode} and pads={list(pads)} contradict each other, runtimes differ in which "
        "one wins",
        ("--ambiguous auto_pad", "--ambiguous pads"),
    )


def _fill(context: Context, node: Node, op: Operator, attributes: Mapping[str, Value]) -> Fill:
    if op.kind is Kind.MAX:
        return Implicit.LOWEST
    if op.kind is Kind.AVERAGE and attributes.get("count_include_pad") != 1:
        return Implicit.NOTHING
    if op.zero_point is None or len(node.inputs) <= op.zero_point:
        return _ZERO
    name = node.inputs[op.zero_point]
    if not name:
        return _ZERO
    value = context.constant(name)
    dims = context.type_of(name).dims
    if value is None:
        return TensorValue(name) if dims in (None, (), (1,)) else Implicit.PER_CHANNEL
    if value.size != 1:
        return Implicit.PER_CHANNEL
    return TensorValue(name, value.reshape(-1)[0].item())
