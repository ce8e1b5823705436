"""A padded node as a Chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from onnxpad.chain import AutoPad, Chain, Padding, Pads, Unclear
from onnxpad.errors import ModelError
from onnxpad.fills import Constant, Fill, Implicit, TensorValue
from onnxpad.geometry.axis import Axis
from onnxpad.geometry.size import Size
from onnxpad.graph.reading import checking
from onnxpad.graph.reading.attributes import Unbound, Value
from onnxpad.graph.reading.behind import channels_behind, feeds_alone, invites_fusion
from onnxpad.graph.reading.checking import describe
from onnxpad.graph.reading.context import Context
from onnxpad.graph.reading.fusing import weight_is_padded
from onnxpad.graph.reading.images import read_fold
from onnxpad.graph.reading.model_inputs import is_model_input
from onnxpad.graph.reading.neighbours import front_of
from onnxpad.graph.reading.ordering import Node
from onnxpad.graph.reading.pads import read_pad, value_type
from onnxpad.graph.reading.particulars import pads_input, places_of, plain_attributes, weight_of
from onnxpad.graph.reading.types import Type
from onnxpad.ops import Kind, Operator

Preference: TypeAlias = Literal["auto_pad", "pads"] | None


@dataclass(frozen=True, slots=True)
class Preferences:
    """How nodes are read that can be read in two ways.

    `ambiguous` settles auto_pad together with pads. `legacy_split` lets transposed convolutions
    crop their odd cell at the side that the text of ConvTranspose-1 names.
    """

    ambiguous: Preference = None
    legacy_split: bool = False


NO_PREFERENCE = Preferences()

_ZERO = Constant(0)


class ChainReader:
    """Reads padded nodes; nodes that compute the same share one Chain object."""

    def __init__(self, prefer: Preferences) -> None:
        self._prefer = prefer
        self._known: dict[tuple[object, ...], Chain] = {}
        self._written: dict[tuple[tuple[bytes, ...], int], dict[str, Value]] = {}

    def read(self, context: Context, node: Node, op: Operator) -> Chain:
        """The chain of a padded node, seen from `context`.

        Raises ModelError where attributes have lengths or values that cannot be meant.
        """
        checking.check_places(node, op)
        source = context.type_of(node.inputs[0]) if node.inputs else Type()
        if op.kind is Kind.PAD:
            return _pad_chain(context, node, op, source)
        if op.kind is Kind.FOLD:
            return read_fold(context, node, op, source)
        attributes = self._attributes(context, node)
        kernel = _kernel(context, node, op, attributes)
        fill = _fill(context, node, op, attributes)
        front = front_of(context, node, op, len(kernel or ()), _first_axis(op, attributes))
        dynamic = pads_input(context, node, op, len(kernel or ()))
        padded = weight_is_padded(context, node, op)
        opset = context.scope.opset
        weight, places = weight_of(context, node, op), places_of(context, node)
        facts = (source, fill, front, dynamic, padded, weight, places)
        key = (id(op), opset, id(attributes), kernel, facts)
        chain = self._known.get(key)
        if chain is None:
            bare = Chain(op, opset, (), Pads((), ()), fill, source.dtype)
            chain = self._known[key] = self._chain(node, bare, attributes, kernel, source)
            checking.check_weight(node, weight, kernel)
            if not chain.trouble or chain.axes:
                chain = self._known[key] = replace(
                    chain,
                    uses_indices=places[1][1:2] == (True,),
                    shape=source.dims,
                    weight=weight,
                    attributes=plain_attributes(attributes),
                    inputs=places[0],
                    outputs=places[1],
                    weight_is_padded=padded,
                    **front._asdict(),
                    padding=dynamic or chain.padding,
                )
        return chain

    def _attributes(self, context: Context, node: Node) -> dict[str, Value]:
        """Attributes of the node; nodes that write the same share one dictionary."""
        written = tuple([attribute.SerializeToString() for attribute in node.proto.attribute])
        key = (written, id(context.bindings))
        found = self._written.get(key)
        if found is None:
            checking.check_types(node)
            found = self._written[key] = context.attributes(node)
        return found

    def _chain(
        self,
        node: Node,
        chain: Chain,
        attributes: Mapping[str, Value],
        kernel: tuple[int, ...] | None,
        source: Type,
    ) -> Chain:
        unbound = [value.name for value in attributes.values() if isinstance(value, Unbound)]
        if what := checking.missing_input(node, chain.op):
            return _troubled(chain, f"it has no {what}")
        if chain.op.why_left_alone:
            return _troubled(chain, chain.op.why_left_alone)
        if unbound:
            return _troubled(chain, f"the function's attributes {unbound} are not given by a call")
        if kernel is None:
            return _troubled(chain, checking.why_no_kernel(chain.op))
        if odd := checking.odd_switch(attributes):
            return _troubled(chain, odd)
        checking.check_lengths(node, attributes, len(kernel), source)
        first = _first_axis(chain.op, attributes)
        padding, trouble = _padding(chain.op, attributes, len(kernel), self._prefer.ambiguous)
        return replace(
            chain,
            axes=_axes(kernel, attributes, source, first),
            padding=padding,
            first_axis=first,
            ceil_mode=attributes.get("ceil_mode") == 1,
            counts_padding=attributes.get("count_include_pad") == 1,
            output_padding=_ints(attributes, "output_padding"),
            output_shape=_ints(attributes, "output_shape")[-len(kernel) :],
            legacy_split=self._prefer.legacy_split and chain.op.kind is Kind.TRANSPOSED,
            ambiguous=_says_both(attributes) and trouble is None,
            trouble=trouble,
        )


def _first_axis(op: Operator, attributes: Mapping[str, Value]) -> int:
    return 1 if op.channels_last or attributes.get("channels_last") == 1 else 2


def _pad_chain(context: Context, node: Node, op: Operator, source: Type) -> Chain:
    rank = None if source.dims is None else len(source.dims)
    step = read_pad(context, node, rank)
    first = channels_behind(context, node)
    step = replace(step, invites_fusion=invites_fusion(context, node, step))
    dtype = source.dtype or value_type(context, node)
    bare = Chain(op, context.scope.opset, (), Pads((), ()), step.fill, dtype, first)
    inputs, outputs = places_of(context, node)
    written = plain_attributes(context.attributes(node))
    return replace(
        bare,
        pad=step,
        shape=source.dims,
        reads_input=is_model_input(context, node.inputs[0]),
        feeds_alone=feeds_alone(context, node, step),
        attributes=written,
        inputs=inputs,
        outputs=outputs,
    )


def _troubled(chain: Chain, reason: str) -> Chain:
    return replace(chain, padding=Unclear(reason), trouble=Unclear(reason))


def _ints(attributes: Mapping[str, Value], name: str) -> tuple[int, ...]:
    value = attributes.get(name)
    return tuple(int(v) for v in value) if isinstance(value, tuple) else ()


def _kernel(
    context: Context, node: Node, op: Operator, attributes: Mapping[str, Value]
) -> tuple[int, ...] | None:
    if "kernel_shape" in attributes and (kernel := _ints(attributes, "kernel_shape")):
        return kernel
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
        reason = f"auto_pad is '{written}', which the ONNX text does not know"
        return Unclear(reason), Unclear(reason)
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


def _says_both(attributes: Mapping[str, Value]) -> bool:
    return attributes.get("auto_pad", "NOTSET") not in ("NOTSET", "") and "pads" in attributes


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
