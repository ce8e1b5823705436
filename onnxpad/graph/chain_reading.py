"""A padded node as a Chain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from onnxpad.chain import (
    AutoPad,
    Chain,
    Constant,
    Fill,
    Implicit,
    Padding,
    Pads,
    PadStep,
    TensorValue,
    Unclear,
)
from onnxpad.errors import ModelError
from onnxpad.geometry.axis import Axis
from onnxpad.geometry.size import Size
from onnxpad.graph.attributes import Unbound, Value
from onnxpad.graph.context import Context
from onnxpad.graph.document import Node
from onnxpad.graph.pad_reading import constant_integers, read_pad
from onnxpad.graph.types import Type
from onnxpad.ops import Kind, Operator, operator

Preference: TypeAlias = Literal["auto_pad", "pads"] | None
_LISTS = ("pads", "strides", "dilations", "kernel_shape", "output_padding", "output_shape")


def read_chain(context: Context, node: Node, op: Operator, prefer: Preference = None) -> Chain:
    """The chain of a padded node, seen from `context`.

    `prefer` settles auto_pad together with pads. Raises ModelError where attributes have
    lengths or values that cannot be meant.
    """
    source = context.type_of(node.inputs[0]) if node.inputs else Type()
    if op.kind is Kind.PAD:
        return _pad_chain(context, node, op, source)
    attributes = context.attributes(node)
    opset = context.scope.opset
    first_axis = 1 if op.channels_last or attributes.get("channels_last") == 1 else 2
    unbound = [v.name for k, v in attributes.items() if isinstance(v, Unbound) and k != "group"]
    kernel = _kernel(context, node, op, attributes, source)
    fixed = Chain(op, opset, (), Pads((), ()), Constant(0), source.dtype, first_axis)
    if op.why_left_alone:
        return _troubled(fixed, op.why_left_alone)
    if unbound:
        return _troubled(fixed, f"the function's attributes {unbound} are not given by its call")
    if kernel is None:
        return _troubled(fixed, "no kernel_shape, and the weight's shape is not known")
    check_lengths(node, attributes, len(kernel), source)
    axes = _axes(kernel, attributes, source, first_axis)
    padding, trouble = _padding(context, node, op, attributes, len(axes), prefer)
    return Chain(
        op=op,
        opset=opset,
        axes=axes,
        padding=padding,
        fill=_fill(context, node, op, attributes),
        dtype=source.dtype,
        first_axis=first_axis,
        ceil_mode=attributes.get("ceil_mode") == 1,
        counts_padding=attributes.get("count_include_pad") == 1,
        uses_indices=len(node.outputs) > 1 and bool(context.scope.uses.get(node.outputs[1])),
        output_padding=_ints(attributes, "output_padding"),
        output_shape=_ints(attributes, "output_shape")[-len(axes) :],
        pad=_pad_in_front(context, node, len(axes) + 2),
        ambiguous=_says_both(attributes) and trouble is None,
        trouble=trouble,
    )


def check_lengths(
    node: Node, attributes: Mapping[str, Value], rank: int, source: Type
) -> None:
    """ModelError where list attributes do not fit the number of spatial axes."""
    for name in _LISTS:
        value = attributes.get(name)
        if value is None or value == ():
            continue
        wanted = 2 * rank if name == "pads" else rank
        allowed = {wanted, rank + 2} if name == "output_shape" else {wanted}
        if not isinstance(value, tuple) or len(value) not in allowed:
            found = list(value) if isinstance(value, tuple) else value
            raise ModelError(
                f"{describe(node)}: {name} is {found}, {wanted} numbers were expected "
                f"for {rank} spatial axes"
            )
        if name not in ("pads", "output_padding", "output_shape") and min(value) < 1:
            raise ModelError(f"{describe(node)}: {name} is {list(value)}, all must be at least 1")
    if source.dims is not None and len(source.dims) != rank + 2:
        raise ModelError(
            f"{describe(node)}: its kernel has {rank} axes, its input {len(source.dims)} axes "
            f"in all; {rank + 2} were expected"
        )


def describe(node: Node) -> str:
    """Operator and name of a node, its first output where it has no name."""
    name = node.name or (node.outputs[0] if node.outputs else "")
    return f"{node.op_type} '{name}'"


def _pad_chain(context: Context, node: Node, op: Operator, source: Type) -> Chain:
    rank = None if source.dims is None else len(source.dims)
    step = read_pad(context, node, rank)
    return Chain(op, context.scope.opset, (), Pads((), ()), step.fill, source.dtype, pad=step)


def _troubled(chain: Chain, reason: str) -> Chain:
    return Chain(
        chain.op,
        chain.opset,
        (),
        Unclear(reason),
        chain.fill,
        chain.dtype,
        chain.first_axis,
        trouble=Unclear(reason),
    )


def _ints(attributes: Mapping[str, Value], name: str) -> tuple[int, ...]:
    value = attributes.get(name)
    return tuple(int(v) for v in value) if isinstance(value, tuple) else ()


def _kernel(
    context: Context, node: Node, op: Operator, attributes: Mapping[str, Value], source: Type
) -> tuple[int, ...] | None:
    if kernel := _ints(attributes, "kernel_shape"):
        return kernel
    if op.weight is None or op.channels_last or len(node.inputs) <= op.weight:
        return None
    dims = context.type_of(node.inputs[op.weight]).dims
    if dims is None or not all(isinstance(size, int) for size in dims[2:]) or len(dims) < 3:
        return None
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
    return tuple(
        Axis(*facts) for facts in zip(sizes, kernel, strides, dilations, strict=True)
    )


def _padding(
    context: Context,
    node: Node,
    op: Operator,
    attributes: Mapping[str, Value],
    rank: int,
    prefer: Preference,
) -> tuple[Padding, Unclear | None]:
    pads = _ints(attributes, "pads")
    explicit = Pads(pads[:rank], pads[rank:]) if pads else Pads.zero(rank)
    if op.pads_input is not None:
        numbers = None
        if len(node.inputs) > op.pads_input:
            numbers = constant_integers(context, node.inputs[op.pads_input])
        if numbers is None:
            return Unclear("its pads are computed while the model runs"), None
        explicit = Pads(numbers[:rank], numbers[rank:])
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
        return Constant(0)
    name = node.inputs[op.zero_point]
    if not name:
        return Constant(0)
    value = context.constant(name)
    if value is None or value.size != 1:
        return TensorValue(name)
    return TensorValue(name, value.reshape(-1)[0].item())


def _pad_in_front(context: Context, node: Node, rank: int) -> PadStep | None:
    if not node.inputs:
        return None
    scope, name = context.scope, node.inputs[0]
    maker = scope.producers.get(name)
    if maker is None:
        owner = scope.owner(name)
        maker = owner.producers.get(name) if owner is not None else None
        if maker is None or not _is_pad(maker):
            return None
        reason = f"the Pad '{maker.name or name}' stands in an enclosing graph"
        return PadStep(Pads.zero(rank), Constant(0), unclear=reason)
    return read_pad(context, maker, rank) if _is_pad(maker) else None


def _is_pad(node: Node) -> bool:
    op = operator(node.domain, node.op_type)
    return op is not None and op.kind is Kind.PAD
