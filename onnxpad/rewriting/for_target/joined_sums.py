"""Concat of a sum behind a convolution or a pool, which a converter to channels last may mistake.

onnx2tf leaves the result of an Add there in ONNX's order of axes, and joins it along the axis that
channels last would have, unless the sizes of the result tell that from the right one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from onnxpad.geometry.size import Size
from onnxpad.model.graph.context import Context, is_stored
from onnxpad.model.graph.nodes import Node
from onnxpad.runtimes.conditions.windows import WINDOWS

_WINDOWS = (*WINDOWS, "LpPool", "GlobalAveragePool", "GlobalMaxPool", "Resize")
_KEEPING = (
    *("Abs", "Cast", "Clip", "Div", "Elu", "Erf", "Exp", "HardSigmoid", "HardSwish", "Identity"),
    *("LeakyRelu", "Log", "Mul", "Neg", "Pad", "PRelu", "Relu", "Sigmoid", "Slice", "Softplus"),
    *("Sqrt", "Sub", "Tanh"),
)
"""Operators that leave the order of axes as it is."""
_FAR = 64


def joins_sum(context: Context, node: Node) -> bool:
    """Whether a Concat reads such a sum, and another axis is as long as the one it joins.

    By 102 models through onnx2tf. Where all axes but the batch are as long, it tries which one is
    right.
    """
    axis = context.attributes(node).get("axis")
    shapes = [context.type_of(name).dims or () for name in node.inputs]
    return (
        isinstance(axis, int)
        and any(_is_as_long(shape, axis) for shape in shapes)
        and any(_is_sum(context, name) for name in node.inputs)
    )


def _is_as_long(shape: Sequence[Size | None], axis: int) -> bool:
    """Whether another axis has the size of this one, and a third has not; the batch is none."""
    sizes, at = shape[1:], axis % len(shape) - 1 if shape else -1
    return (
        at >= 0
        and sizes[at] is not None
        and sizes.count(sizes[at]) > 1
        and any(size != sizes[at] for size in sizes)
    )


def _is_sum(context: Context, name: str) -> bool:
    """Whether a tensor is a sum behind a window, or what keeps its order of axes or joins it."""
    pending, seen = [name], {name}
    for one in islice(pending, _FAR):
        maker = context.scope.producers.get(one)
        if maker is None:
            continue
        if maker.op_type == "Add":
            whole = all(context.type_of(each).dims != () for each in maker.inputs)
            if whole and _behind_window(context, maker):
                return True
            continue
        computed = {each for each in maker.inputs if each and not is_stored(context, each)}
        if maker.op_type == "Concat" or (maker.op_type in _KEEPING and len(computed) == 1):
            pending += sorted(computed - seen)
            seen |= computed
    return False


def _behind_window(context: Context, node: Node) -> bool:
    pending, seen = [node], {node.key}
    for one in pending:
        for name in one.inputs:
            maker = context.scope.producers.get(name)
            if maker is None or maker.key in seen:
                continue
            if maker.op_type in _WINDOWS:
                return True
            seen.add(maker.key)
            pending += [maker] * (maker.op_type in (*_KEEPING, "Add", "Concat"))
    return False
