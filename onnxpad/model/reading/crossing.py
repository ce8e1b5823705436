"""The way from a Pad to an operator that could pad in its place, and its work on cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
from onnx import helper

from onnxpad.model.graph.attributes import Value
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.nodes import Node
from onnxpad.padding.operators import PLAIN_DOMAINS, Since

Array: TypeAlias = np.ndarray
Attributes: TypeAlias = Mapping[str, Value]
Others: TypeAlias = list[Array | None]


class Facts(NamedTuple):
    """What an operator is besides its data: `others` are its other inputs where constant."""

    attributes: Attributes
    others: Others
    opset: int


Rule: TypeAlias = Callable[[Array, Facts], Array | None]

BINARY = frozenset({"Mul", "Add", "Sub", "Div", "Max", "Min"})
IDLE = frozenset({"Identity", "Dropout"})
LEFT_OUT = np.zeros(0)


def made_of(op_type: str, x: Array, facts: Facts) -> Array | None:
    """The value behind an operator for the value `x` in front of it, None where it is not sure.

    `x` has the element type of the tensor and broadcasts with it.
    """
    with np.errstate(all="ignore"):
        found = RULES[op_type](x, facts)
    return None if found is None or np.isnan(found.astype(np.float64)).any() else found


def is_inference(facts: Facts) -> bool:
    """Whether a Dropout drops nothing."""
    if facts.opset < Since.IDLE_DROPOUT:
        return facts.attributes.get("is_test", 0) == 1
    training = facts.others[1] if len(facts.others) > 1 else LEFT_OUT
    return facts.opset < Since.DROPOUT_TRAINING or (training is not None and not training.any())


def _number(attributes: Attributes, name: str, default: float) -> float:
    found = attributes.get(name, default)
    return float(found) if isinstance(found, int | float) else math.nan


def _like(x: Array, value: object) -> Array:
    return np.asarray(value).astype(x.dtype)


def _plain(function: Callable[[Array], Array]) -> Rule:
    return lambda x, _: _like(x, function(x))


def _at_zero(value: float) -> Rule:
    """A function that is computed exactly at 0 only."""
    return lambda x, _: None if x.any() else np.full_like(x, value)


def _leaky(x: Array, facts: Facts) -> Array:
    return _like(x, np.where(x < 0, x * _like(x, _number(facts.attributes, "alpha", 0.01)), x))


def _sloped(x: Array, facts: Facts) -> Array | None:
    slope = facts.others[0]
    if not x.any():
        return x
    return None if slope is None else _like(x, np.where(x < 0, x * slope, x))


def _clipped(x: Array, facts: Facts) -> Array | None:
    limits = clip_limits(facts)
    return None if limits is None else _like(x, np.minimum(np.maximum(x, limits[0]), limits[1]))


def clip_limits(facts: Facts) -> tuple[float, float] | None:
    """The limits of a Clip, infinite where there is none; None where they are not constant.

    An input that is left out is an empty array.
    """
    if facts.opset < Since.CLIP_INPUTS:
        return _number(facts.attributes, "min", -math.inf), _number(
            facts.attributes, "max", math.inf
        )
    limits = [-math.inf, math.inf]
    for index, given in enumerate(facts.others[:2]):
        if given is None or given.size > 1:
            return None
        if given.size:
            limits[index] = float(given.reshape(-1)[0])
    return limits[0], limits[1]


def _cast(x: Array, facts: Facts) -> Array | None:
    code = facts.attributes.get("to")
    if not isinstance(code, int):
        return None
    try:
        dtype = helper.tensor_dtype_to_np_dtype(code)
    except KeyError:
        return None
    if dtype.kind in "iu" and x.dtype.kind == "f":
        limits = np.iinfo(dtype)
        if not (np.isfinite(x).all() and (x > limits.min).all() and (x < limits.max).all()):
            return x.astype(dtype) if not x.any() else None
    return x.astype(dtype) if dtype.kind in "iufb" else None


def _idle(x: Array, _: Facts) -> Array:
    return x


def _hard_swish(x: Array, _: Facts) -> Array | None:
    """An infinity times 0 is no number."""
    return np.zeros_like(x) if ((x == 0) | ((x < -4) & np.isfinite(x))).all() else None


def _hard_sigmoid(x: Array, facts: Facts) -> Array | None:
    alpha, beta = _number(facts.attributes, "alpha", 0.2), _number(facts.attributes, "beta", 0.5)
    line = alpha * x.astype(np.float64) + beta
    if (line < -1).all() or (line > 2).all():
        return _like(x, np.clip(line, 0, 1))
    return None if x.any() else _like(x, np.clip(line, 0, 1))


def _threshold(x: Array, facts: Facts) -> Array:
    return _like(x, np.where(x > _like(x, _number(facts.attributes, "alpha", 1.0)), x, 0))


def _binary(function: Callable[[Array, Array], Array]) -> Rule:
    """`others` holds None at the place of `x`."""

    def rule(x: Array, facts: Facts) -> Array | None:
        operands = [x if one is None else one for one in facts.others]
        if not all(np.isfinite(one).all() for one in operands):
            return None
        return np.asarray(function(*operands)).astype(x.dtype)

    return rule


RULES: dict[str, Rule] = {
    "Relu": _plain(lambda x: np.maximum(x, 0)),
    "Neg": _plain(np.negative),
    "Abs": _plain(np.abs),
    "Sign": _plain(np.sign),
    "Floor": _plain(np.floor),
    "Ceil": _plain(np.ceil),
    "Round": _plain(np.rint),
    "Sqrt": _plain(np.sqrt),
    "LeakyRelu": _leaky,
    "PRelu": _sloped,
    "Clip": _clipped,
    "Cast": _cast,
    "Identity": _idle,
    "Dropout": _idle,
    "HardSwish": _hard_swish,
    "HardSigmoid": _hard_sigmoid,
    "ThresholdedRelu": _threshold,
    "Mul": _binary(np.multiply),
    "Add": _binary(np.add),
    "Sub": _binary(np.subtract),
    "Div": _binary(np.true_divide),
    "Max": _binary(np.maximum),
    "Min": _binary(np.minimum),
} | {
    name: _at_zero(0)
    for name in (
        *("Tanh", "Sin", "Sinh", "Tan", "Asin", "Atan", "Asinh", "Atanh", "Erf"),
        *("Elu", "Celu", "Selu", "Gelu", "Mish", "Softsign", "Swish"),
    )
}
RULES |= {name: _at_zero(1) for name in ("Exp", "Cos", "Cosh")}
RULES |= {"Sigmoid": _at_zero(0.5)}


MAX_STEPS = 16
CONVERSIONS = frozenset({"QuantizeLinear", "DequantizeLinear"})
_LAYOUT = frozenset({"Transpose", "Unsqueeze", "Squeeze"})
_EITHER_WAY = frozenset({"Mul", "Add", "Max", "Min"})
_WITH_ITS_OWN_SCALE = "DynamicQuantizeLinear"
CROSSABLE = _LAYOUT | CONVERSIONS | RULES.keys() | {_WITH_ITS_OWN_SCALE}


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
    for maker in context.makers(name, data_position, MAX_STEPS):
        if not _is_crossable(context, maker):
            break
        is_shared |= context.scope.uses.get(name, 0) > 1
        if is_shared and maker.op_type == _WITH_ITS_OWN_SCALE:
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
    if node.op_type != _WITH_ITS_OWN_SCALE and any(
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
    if node.op_type not in IDLE:
        return False
    if node.op_type == "Identity":
        return True
    return is_inference(facts_of(context, node))


def facts_of(context: Context, node: Node) -> Facts:
    """The other inputs where they are small constants; one that is left out is empty."""
    position = data_position(context, node)
    names = [name for index, name in enumerate(node.inputs) if index != position]
    others = [context.constant(name) if name else LEFT_OUT for name in names]
    return Facts(context.attributes(node), others, context.scope.opset)
