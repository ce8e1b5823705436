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
from onnxpad.padding.chain import Shape
from onnxpad.padding.operators import Kind, Operator

NEWEST_OPSET = onnx.defs.onnx_opset_version()
_COUNTS = ("strides", "dilations", "kernel_shape")
_LISTS = ("pads", *_COUNTS, "output_padding", "output_shape")
_SWITCHES = ("ceil_mode", "count_include_pad", "channels_last", "storage_order")
TYPES = {
    **dict.fromkeys((*_LISTS, "paddings"), AttributeProto.INTS),
    **dict.fromkeys(("auto_pad", "mode"), AttributeProto.STRING),
    **dict.fromkeys((*_SWITCHES, "group"), AttributeProto.INT),
    "value": AttributeProto.FLOAT,
}


def check_node(node: Node, op: Operator) -> None:
    """ModelError where a node writes nothing, a Pad reads nothing, or an attribute is misspelt.

    An attribute about padding has the type that ONNX gives it, and stands there once.
    """
    lacking = {"output": not any(node.outputs[:1])}
    lacking["input"] = op.kind is Kind.PAD and not node.input(0)
    for what in (name for name, is_missing in lacking.items() if is_missing):
        raise ModelError(f"{describe(node)}: it has no {what}; name one, or remove the node")
    seen = set()
    for attribute in node.proto.attribute:
        name, wanted = attribute.name, TYPES.get(attribute.name)
        if name in seen:
            raise ModelError(f"{describe(node)}: the attribute {name} is written twice; keep one")
        seen.add(name)
        if wanted not in (None, attribute.type):
            found, right = map(AttributeProto.AttributeType.Name, (attribute.type, wanted))
            raise ModelError(
                f"{describe(node)}: the attribute {name} is of type {found}, {right} was expected"
            )


def unknown_to_onnx(attributes: Mapping[str, Value]) -> str:
    """Which value of a node ONNX does not have; runtimes make of it what they like.

    onnxruntime 1.31.1 takes count_include_pad=2 for yes, and ceil_mode=2 for no.
    """
    for name in _SWITCHES:
        if attributes.get(name, 0) not in (0, 1):
            return f"{name} is {attributes[name]}, the ONNX text knows 0 and 1"
    groups = attributes.get("group", 1)
    is_group = not isinstance(groups, int) or groups > 0
    return "" if is_group else f"group is {groups}, the ONNX text knows 1 and more"


def too_new(opset: int) -> str:
    """Why nothing is known of operators at an opset that the installed onnx has no text for."""
    if opset <= NEWEST_OPSET:
        return ""
    return (
        f"the model uses opset {opset}, and the installed onnx {onnx.__version__} knows up to "
        f"{NEWEST_OPSET}: update onnx, or convert the model to opset {NEWEST_OPSET}"
    )


def untouchable(node: Node, op: Operator, kernel: tuple[int, ...]) -> str:
    """Why the windows of an operator are not known, or its padding is left alone; '' elsewhere."""
    if not node.input(0) or (op.weight is not None and not node.input(op.weight)):
        return f"it has no {'weight' if node.input(0) else 'input'}"
    if op.why_left_alone or kernel:
        return op.why_left_alone
    why = "which a pool needs" if op.weight is None else "and the weight's shape is not known"
    return f"no kernel_shape, {why}"


def check_lengths(
    node: Node, attributes: Mapping[str, Value], kernel: int, shapes: Mapping[str, Shape]
) -> None:
    """ModelError where lists or tensors do not fit the number of spatial axes.

    shapes: those of the input and of the weight, by what they are called; the axes are counted in
    the input where its rank is known, else they are the `kernel` axes.
    """
    dims = shapes["input"]
    rank = len(dims) - 2 if dims is not None and len(dims) > 2 else kernel
    for name in _LISTS:
        value = attributes.get(name) or ()
        numbers = value if isinstance(value, tuple) else (value,)
        wanted = 2 * rank if name == "pads" else rank
        allowed = (0, wanted, rank + 2) if name == "output_shape" else (0, wanted)
        if len(numbers) not in allowed:
            raise ModelError(
                f"{describe(node)}: {name} is {list(numbers)}, {counted(wanted, 'number')} "
                f"expected for {counted(rank, 'spatial axis', 'spatial axes')}"
            )
        least = 1 if name in _COUNTS else -LARGEST
        if any(isinstance(n, str) or not least <= n <= LARGEST for n in numbers):
            bound = "all must be at least 1" if least == 1 else "beyond any real size"
            raise ModelError(f"{describe(node)}: {name} is {list(numbers)}, {bound}")
    for tensor, shape in shapes.items():
        if shape is not None and len(shape) != kernel + 2:
            one, other = (counted(n, "axis", "axes") for n in (kernel, len(shape)))
            raise ModelError(
                f"{describe(node)}: its kernel has {one}, its {tensor} {other} in all; "
                f"{kernel + 2} were expected"
            )


def too_wide(axes: Sequence[Axis]) -> tuple[str, tuple[str, ...]] | None:
    """Why the windows of an operator are not worked out, and what to look at in the file."""
    if len(axes) + 2 > AXES.most:
        return AXES.reason(f"its input has {len(axes) + 2:,}"), ("fewer axes in the file",)
    for axis in axes:
        if max(axis.span, axis.stride) > WINDOW.most:
            what = "window spans" if axis.span > WINDOW.most else "stride is"
            reason = WINDOW.reason(f"its {what} {max(axis.span, axis.stride):,}")
            return reason, ("smaller kernels, strides or dilations in the file",)
    return None


def describe(node: Node) -> str:
    """Operator and name of a node, its first output where it has no name."""
    return f"{node.op_type} '{node.name or next(iter(node.outputs), '')}'"
