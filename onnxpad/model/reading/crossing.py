"""The way from a Pad to an operator that could pad in its place, and its work on cells."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from onnxpad.model.graph.constant_folding import fold
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.padding.operators import PLAIN_DOMAINS, Since

Array: TypeAlias = np.ndarray

IDLE = frozenset({"Identity", "Dropout"})
BINARY = frozenset({"Mul", "Add", "Sub", "Div", "Max", "Min"})
LAYOUT = frozenset({"Transpose", "Unsqueeze", "Squeeze"})
CONVERSIONS = frozenset({"QuantizeLinear", "DequantizeLinear"})
WITH_ITS_OWN_SCALE = "DynamicQuantizeLinear"
_FOLDED = frozenset({"Relu", "Neg", "Abs", "Sign", "Floor", "Ceil", "Round", "Clip", "Cast"})
_KEEP_ZERO = (
    *("Tanh", "Sin", "Sinh", "Tan", "Asin", "Atan", "Asinh", "Atanh", "Erf", "Sqrt"),
    *("Elu", "Celu", "Selu", "Gelu", "Mish", "Softsign", "Swish", "HardSwish"),
    *("LeakyRelu", "PRelu", "ThresholdedRelu"),
)
_AT_ZERO = dict.fromkeys(_KEEP_ZERO, 0.0) | {"Exp": 1, "Cos": 1, "Cosh": 1, "Sigmoid": 0.5}
"""What functions give for 0, computed exactly there alone."""
_EITHER_WAY = frozenset({"Mul", "Add", "Max", "Min"})
CROSSABLE = IDLE | BINARY | LAYOUT | CONVERSIONS | {WITH_ITS_OWN_SCALE} | _FOLDED | _AT_ZERO.keys()
_MAX_STEPS = 16


def value_behind(context: Context, node: Node, value: Array) -> Array | None:
    """What an operator, no conversion, makes of cells of this value; None where it is not sure.

    `value` has the element type of the tensor and broadcasts with it.
    """
    if node.op_type in _AT_ZERO:
        return None if value.any() else np.full_like(value, _AT_ZERO[node.op_type])
    if node.op_type in IDLE:
        return value if node.op_type == "Identity" or drops_nothing(context, node) else None
    operands: list[Array | None] = [context.constant(n) if n else None for n in node.inputs]
    operands[data_position(context, node)] = value
    if any(name and one is None for name, one in zip(node.inputs, operands, strict=True)):
        return None
    if node.op_type in BINARY:
        known = [one for one in operands if one is not None]
        whole = node.op_type == "Div" and value.dtype.kind != "f"
        if whole or not all(np.isfinite(one).all() for one in known):
            return None
    found = fold(node.proto, operands)
    if found is None or found.dtype.kind not in "iufb":
        return None
    return None if np.isnan(found.astype(np.float64)).any() else found


class Path(NamedTuple):
    """What stands in front of an operator: `nodes` from the far end on, behind tensor `source`."""

    nodes: tuple[Node, ...]
    source: str


def path_to(context: Context, name: str) -> Path:
    """The operators, one after the other, that a Pad in front of tensor `name` could cross.

    What others read as well is copied for this reader: DynamicQuantizeLinear is not, a copy would
    leave the Pad to the scale and the zero point of the original.
    """
    found: list[Node] = []
    is_shared = False
    for maker in context.makers(name, data_position, _MAX_STEPS):
        if not _is_crossable(context, maker):
            break
        is_shared |= context.scope.uses.get(name, 0) > 1
        if is_shared and maker.op_type == WITH_ITS_OWN_SCALE:
            break
        found.append(maker)
        name = maker.inputs[data_position(context, maker)]
    return Path(tuple(reversed(found)), name)


def data_position(context: Context, node: Node) -> int:
    """Which input of a crossable operator is the data."""
    swapped = node.op_type in _EITHER_WAY and len(node.inputs) > 1
    return 1 if swapped and context.constant_tensor(node.inputs[0]) is not None else 0


def _is_crossable(context: Context, node: Node) -> bool:
    if node.op_type not in CROSSABLE or node.domain not in PLAIN_DOMAINS or not node.inputs:
        return False
    if node.op_type != WITH_ITS_OWN_SCALE and any(
        context.scope.uses.get(name) for name in node.outputs[1:]
    ):
        return False
    if node.op_type in BINARY:
        other = node.inputs[1 - data_position(context, node)] if len(node.inputs) == 2 else ""
        if not other or context.constant_tensor(other) is None:
            return False
    return bool(node.outputs) and not any(one.ref_attr_name for one in node.proto.attribute)


def hands_on(context: Context, node: Node) -> bool:
    """Whether an operator gives what it reads, so that onnxruntime's optimiser removes it."""
    if node.domain not in PLAIN_DOMAINS or not node.inputs or not node.outputs:
        return False
    if node.op_type == "Cast":
        given = context.type_of(node.inputs[0]).dtype
        return bool(given) and given == context.type_of(node.outputs[0]).dtype
    return node.op_type == "Identity" or (
        node.op_type == "Dropout" and drops_nothing(context, node)
    )


def drops_nothing(context: Context, dropout: Node) -> bool:
    """Whether a Dropout hands on what it reads."""
    opset = context.scope.opset
    if opset < Since.IDLE_DROPOUT:
        return context.attributes(dropout).get("is_test", 0) == 1
    training = dropout.input(2)
    if opset < Since.DROPOUT_TRAINING or not training:
        return True
    value = context.constant(training)
    return value is not None and not value.any()
