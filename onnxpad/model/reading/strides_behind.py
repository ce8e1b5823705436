"""The strides that an optimiser can move in front of a convolution with a kernel of 1.

OpenVINO's StridesOptimization (strides_optimization.cpp of its common transformations) takes
strides to the front from one operator to the next, as far as these work on single cells or are
convolutions, and all that reads a tensor asks for the same strides.
"""

from __future__ import annotations

from math import prod

from onnxpad.model.graph.context import Context, is_stored
from onnxpad.model.graph.nodes import Node
from onnxpad.model.reading.crossing import data_position, hands_on
from onnxpad.padding.operators import PLAIN_DOMAINS

_FAR = 8
_FOLDED = frozenset({"Mul", "Div", "Neg"})
"""By a constant for each channel they become part of the weight of the convolution behind."""
_ADDS_BIAS = frozenset({"Conv", "ConvTranspose"})
_OF_CELLS = frozenset(
    {
        *("Abs", "Acos", "Asin", "Atan", "Ceil", "Celu", "Clip", "Cos", "Elu", "Erf", "Exp"),
        *("Floor", "Gelu", "HardSwish", "Log", "Mish", "Reciprocal", "Relu", "Round", "Sigmoid"),
        *("Sign", "Sin", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "ThresholdedRelu"),
        *("Add", "Div", "Max", "Mean", "Min", "Mod", "Mul", "Neg", "Pow", "Sub", "Sum"),
        *("BatchNormalization", "DequantizeLinear", "InstanceNormalization"),
        *("LayerNormalization", "LpPool"),
    }
)
"""What ends in OpenVINO's arithmetic of cells; each was run but Acos, Asin and Tan."""

Strides = tuple[int, ...]


def strides_that_move(context: Context, node: Node) -> Strides:
    """Strides that go past a convolution, its pads too, to what stands in front; () for none.

    Strides behind it count as well. In front may be one Pad, which is part of it by then.
    """
    strides = _of_convolution(context, node, _FAR) if node.domain in PLAIN_DOMAINS else ()
    if not strides or all(one == 1 for one in strides):
        return ()
    if node.op_type != "Conv":
        return strides  # what it reads is dequantised
    return strides if _goes_on(context, node) else ()


def _goes_on(context: Context, node: Node) -> bool:
    """Whether what makes its input takes the strides."""
    name, padded = node.inputs[0], False
    for _ in range(_FAR):
        maker = context.scope.producers.get(name)
        alone = context.scope.uses.get(name, 0) == 1 and name not in context.scope.outputs
        if maker is None or maker.domain not in PLAIN_DOMAINS or not maker.inputs:
            return False
        if hands_on(context, maker) or _keeps_shape(context, maker):
            name = maker.inputs[data_position(context, maker)]
        elif maker.op_type == "Pad" and not padded and alone:
            name, padded = maker.inputs[0], True
        elif alone and _is_folded(context, maker):
            name = maker.inputs[data_position(context, maker)]
        else:
            takes = maker.op_type in _OF_CELLS or _ends_in_sum(maker)
            return takes and bool(_asked_of(context, name, _FAR))
    return False


def _ends_in_sum(maker: Node) -> bool:
    """Whether it is a convolution of one group, or one with a bias, which is a sum of its own."""
    if maker.op_type not in _ADDS_BIAS:
        return False
    return any(maker.inputs[2:3]) or _is_whole(maker)


def _is_whole(node: Node) -> bool:
    groups = [one.i for one in node.proto.attribute if one.name == "group"]
    return node.op_type in _CONVOLUTIONS and groups in ([], [1])


_CONVOLUTIONS = ("Conv", "QLinearConv", "ConvInteger")


def _keeps_shape(context: Context, node: Node) -> bool:
    """Whether it is a Reshape or Expand to the shape that is there."""
    if node.op_type not in ("Expand", "Reshape"):
        return False
    shape = context.type_of(node.inputs[0]).dims
    return shape is not None and shape == context.type_of(node.outputs[0]).dims


def _is_folded(context: Context, node: Node) -> bool:
    """Whether it multiplies by a constant, one number or one for each channel."""
    if node.op_type not in _FOLDED:
        return False
    shape = context.type_of(node.outputs[0]).dims
    others = [name for name in node.inputs if is_stored(context, name)]
    if node.op_type == "Neg":
        return True
    if shape is None or len(others) != 1:
        return False
    sizes = context.type_of(others[0]).dims or ()
    return all(one == 1 for at, one in enumerate(sizes) if at != len(sizes) - len(shape) + 1)


def _asked_of(context: Context, name: str, left: int) -> Strides:
    """The strides that all which reads a tensor asks for; () where these are not the same."""
    if left < 1 or name in context.scope.outputs or context.inner_readers(name):
        return ()
    found = {_asked_by(context, reader, left - 1) for reader in context.readers(name)}
    (first, *more) = found or {()}
    return () if more else first


def _asked_by(context: Context, node: Node, left: int) -> Strides:
    if not node.outputs or node.domain not in PLAIN_DOMAINS:
        return ()
    if node.op_type in _CONVOLUTIONS:
        strides = _of_convolution(context, node, left)
        return () if all(one == 1 for one in strides) else strides
    if node.op_type == "Pad" or node.op_type in _OF_CELLS or hands_on(context, node):
        return _asked_of(context, node.outputs[0], left)
    return ()


def _of_convolution(context: Context, node: Node, left: int) -> Strides:
    """Its strides times those behind it; () where it keeps them."""
    weight = node.inputs[3 if node.op_type == "QLinearConv" else 1 :][:1]
    sizes = context.type_of(weight[0]).dims if weight else None
    if not sizes or not _is_whole(node) or any(one != 1 for one in sizes[2:]):
        return ()
    written = context.attributes(node).get("strides")
    own = tuple(map(int, written)) if isinstance(written, tuple) else (1,) * (len(sizes) - 2)
    behind = _asked_of(context, node.outputs[0], left - 1)
    return tuple(map(prod, zip(own, behind, strict=True))) if len(behind) == len(own) else own
