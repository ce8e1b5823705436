"""Attributes that no reading of the ONNX text allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx
from onnx import AttributeProto

from onnxpad.errors import ModelError, counted
from onnxpad.geometry.budgets import AXES, WINDOW
from onnxpad.geometry.windows import Axis
from onnxpad.model.graph.attributes import Value
from onnxpad.model.graph.flat_numbers import LARGEST
from onnxpad.model.graph.nodes import Node
from onnxpad.model.graph.types import Type
from onnxpad.padding.chain import Weight
from onnxpad.padding.operators import Kind, Operator

NEWEST_OPSET = onnx.defs.onnx_opset_version()
LISTS = ("pads", "strides", "dilations", "kernel_shape", "output_padding", "output_shape")


TYPES = dict.fromkeys(LISTS, AttributeProto.INTS) | {
    "auto_pad": AttributeProto.STRING,
    "mode": AttributeProto.STRING,
    "value": AttributeProto.FLOAT,
    "paddings": AttributeProto.INTS,
    **dict.fromkeys(("ceil_mode", "count_include_pad", "channels_last"), AttributeProto.INT),
    **dict.fromkeys(("group", "storage_order"), AttributeProto.INT),
}
SWITCHES = ("ceil_mode", "count_include_pad", "channels_last", "storage_order")


def check_types(node: Node) -> None:
    """ModelError where an attribute about padding has another type than ONNX gives it."""
    seen = set()
    for attribute in node.proto.attribute:
        if attribute.name in seen:
            raise ModelError(
                f"{describe(node)}: the attribute {attribute.name} is written twice; keep one"
            )
        seen.add(attribute.name)
        wanted = TYPES.get(attribute.name)
        if wanted not in (None, attribute.type):
            found = AttributeProto.AttributeType.Name(attribute.type)
            raise ModelError(
                f"{describe(node)}: the attribute {attribute.name} is of type {found}, "
                f"{AttributeProto.AttributeType.Name(wanted)} was expected"
            )


def unknown_to_onnx(attributes: Mapping[str, Value]) -> str | None:
    """Which value of a node ONNX does not have; runtimes make of it what they like.

    onnxruntime 1.31.1 takes count_include_pad=2 for yes, and ceil_mode=2 for no.
    """
    for name in SWITCHES:
        if attributes.get(name, 0) not in (0, 1):
            return f"{name} is {attributes[name]}, the ONNX text knows 0 and 1"
    groups = attributes.get("group", 1)
    if isinstance(groups, int) and groups < 1:
        return f"group is {groups}, the ONNX text knows 1 and more"
    return None


def too_new(opset: int) -> str:
    """Why nothing is known of operators at an opset that the installed onnx has no text for."""
    if opset <= NEWEST_OPSET:
        return ""
    return (
        f"the model uses opset {opset}, and the installed onnx {onnx.__version__} knows up to "
        f"{NEWEST_OPSET}: update onnx, or convert the model to opset {NEWEST_OPSET}"
    )


def check_wires(node: Node, op: Operator) -> None:
    """ModelError where a node writes nothing, or a Pad reads nothing, or is not written so."""
    if not any(node.outputs[:1]):
        raise ModelError(f"{describe(node)}: it has no output; name one, or remove the node")
    if op.kind is Kind.PAD and not any(node.inputs[:1]):
        raise ModelError(f"{describe(node)}: it has no input; name one, or remove the node")
    if op.kind in (Kind.PAD, Kind.FOLD):
        check_types(node)


def missing_input(node: Node, op: Operator) -> str:
    """Which of the inputs that a padded operator needs it lacks, '' where none."""
    if not any(node.inputs[:1]):
        return "input"
    return "weight" if op.weight is not None and not any(node.inputs[op.weight :][:1]) else ""


def why_no_kernel(op: Operator) -> str:
    """What is missing where the kernel is neither written nor known from the weight."""
    of_pool = op.weight is None
    why = "which a pool needs" if of_pool else "and the weight's shape is not known"
    return f"no kernel_shape, {why}"


def check_lengths(node: Node, attributes: Mapping[str, Value], kernel: int, source: Type) -> None:
    """ModelError where list attributes do not fit the number of spatial axes.

    Those are counted in the input where its rank is known, else they are the `kernel` axes.
    """
    dims = source.dims
    rank = len(dims) - 2 if dims is not None and len(dims) > 2 else kernel
    for name in LISTS:
        value = attributes.get(name)
        if value is None or value == ():
            continue
        wanted = 2 * rank if name == "pads" else rank
        allowed = {wanted, rank + 2} if name == "output_shape" else {wanted}
        if not isinstance(value, tuple) or len(value) not in allowed:
            found = list(value) if isinstance(value, tuple) else value
            raise ModelError(
                f"{describe(node)}: {name} is {found}, and {counted(wanted, 'number')} "
                f"{'belongs' if wanted == 1 else 'belong'} there, for "
                f"{counted(rank, 'spatial axis', 'spatial axes')}"
            )
        if name not in ("pads", "output_padding", "output_shape") and min(value) < 1:
            raise ModelError(f"{describe(node)}: {name} is {list(value)}, all must be at least 1")
        if max(map(abs, value)) > LARGEST:
            raise ModelError(f"{describe(node)}: {name} is {list(value)}, beyond any real size")
    if dims is not None and len(dims) != kernel + 2:
        raise ModelError(_other_rank(node, kernel, "input", len(dims)))


def check_weight(node: Node, weight: Weight, kernel: tuple[int, ...] | None) -> None:
    """ModelError where the weight of a convolution has other axes than its kernel asks for."""
    if kernel is None or weight.shape is None or len(weight.shape) == len(kernel) + 2:
        return
    raise ModelError(_other_rank(node, len(kernel), "weight", len(weight.shape)))


def _other_rank(node: Node, kernel: int, tensor: str, axes: int) -> str:
    """That a tensor has another number of axes than the kernel asks for."""
    has = f"its kernel has {counted(kernel, *_AXES)}, its {tensor} {counted(axes, *_AXES)} in all"
    return f"{describe(node)}: {has}; {kernel + 2} were expected"


_AXES = ("axis", "axes")


def too_wide(axes: Sequence[Axis]) -> tuple[str, tuple[str, ...]] | None:
    """Why the windows of an operator are not worked out, and what to look at in the file."""
    if len(axes) + 2 > AXES.most:
        return AXES.reason(f"its input has {len(axes) + 2:,}"), ("fewer axes in the file",)
    for axis in axes:
        if axis.span > WINDOW.most:
            reason = WINDOW.reason(f"its window spans {axis.span:,}")
            return reason, ("a smaller kernel or dilation in the file",)
        if axis.stride > WINDOW.most:
            return WINDOW.reason(f"its stride is {axis.stride:,}"), ("smaller strides in the file",)
    return None


def describe(node: Node) -> str:
    """Operator and name of a node, its first output where it has no name."""
    name = node.name or (node.outputs[0] if node.outputs else "")
    return f"{node.op_type} '{name}'"
