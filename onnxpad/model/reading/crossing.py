"""The way from a Pad to an operator that could pad in its place, and its work on cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from onnxpad.model.graph.constant_folding import fold
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.flat_numbers import constant_integers
from onnxpad.model.graph.nodes import Node
from onnxpad.model.reading.quantised import dequantised, is_in_blocks, quantised
from onnxpad.padding.chain import Pads, PadStep, Unclear
from onnxpad.padding.fills import Constant, Fill, Implicit, TensorValue
from onnxpad.padding.operators import PLAIN_DOMAINS, Since

Array: TypeAlias = np.ndarray

IDLE = frozenset({"Identity", "Dropout"})
_BINARY = frozenset({"Mul", "Add", "Sub", "Div", "Max", "Min"})
_LAYOUT = frozenset({"Transpose", "Unsqueeze", "Squeeze"})
_CONVERSIONS = frozenset({"QuantizeLinear", "DequantizeLinear"})
_WITH_ITS_OWN_SCALE = "DynamicQuantizeLinear"
_FOLDED = frozenset({"Relu", "Neg", "Abs", "Sign", "Floor", "Ceil", "Round", "Clip", "Cast"})
_KEEP_ZERO = (
    *("Tanh", "Sin", "Sinh", "Tan", "Asin", "Atan", "Asinh", "Atanh", "Erf", "Sqrt"),
    *("Elu", "Celu", "Selu", "Gelu", "Mish", "Softsign", "Swish", "HardSwish"),
    *("LeakyRelu", "PRelu", "ThresholdedRelu"),
)
_AT_ZERO = dict.fromkeys(_KEEP_ZERO, 0.0) | {"Exp": 1, "Cos": 1, "Cosh": 1, "Sigmoid": 0.5}
"""What functions give for 0, computed exactly there alone."""
_EITHER_WAY = frozenset({"Mul", "Add", "Max", "Min"})
CROSSABLE = (
    IDLE | _BINARY | _LAYOUT | _CONVERSIONS | {_WITH_ITS_OWN_SCALE} | _FOLDED | _AT_ZERO.keys()
)
_MAX_STEPS = 16


def _value_behind(context: Context, node: Node, value: Array) -> Array | None:
    """What an operator, no conversion, makes of cells of this value; None where it is not sure.

    `value` has the element type of the tensor and broadcasts with it.
    """
    if node.op_type in _AT_ZERO:
        return None if value.any() else np.full_like(value, _AT_ZERO[node.op_type])
    if node.op_type in IDLE:
        return value if node.op_type == "Identity" or _drops_nothing(context, node) else None
    operands: list[Array | None] = [context.constant(n) if n else None for n in node.inputs]
    operands[data_position(context, node)] = value
    if any(name and one is None for name, one in zip(node.inputs, operands, strict=True)):
        return None
    if node.op_type in _BINARY:
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
    if node.op_type in _BINARY:
        other = node.inputs[1 - data_position(context, node)] if len(node.inputs) == 2 else ""
        if not other or context.constant_tensor(other) is None:
            return False
    return bool(node.outputs) and not any(one.ref_attr_name for one in node.proto.attribute)


def _hands_on(context: Context, node: Node) -> bool:
    """Whether an operator gives what it reads, so that onnxruntime's optimiser removes it."""
    if node.domain not in PLAIN_DOMAINS or not node.inputs or not node.outputs:
        return False
    if node.op_type == "Cast":
        given = context.type_of(node.inputs[0]).dtype
        return bool(given) and given == context.type_of(node.outputs[0]).dtype
    return node.op_type == "Identity" or (
        node.op_type == "Dropout" and _drops_nothing(context, node)
    )


def _drops_nothing(context: Context, dropout: Node) -> bool:
    """Whether a Dropout hands on what it reads."""
    opset = context.scope.opset
    if opset < Since.IDLE_DROPOUT:
        return context.attributes(dropout).get("is_test", 0) == 1
    training = dropout.input(2)
    if opset < Since.DROPOUT_TRAINING or not training:
        return True
    value = context.constant(training)
    return value is not None and not value.any()


class _Carried(NamedTuple):
    """Pads and value on the way; the value broadcasts with the tensor, or is a tensor's name."""

    pads: Pads
    value: np.ndarray | str

    def is_even(self, dims: Sequence[object] | None) -> bool:
        """Whether what broadcasts with the tensor is the same all along the padded axes."""
        rank = len(self.pads.begins)
        if dims is None or len(dims) > rank:
            return False
        sizes = (1,) * (rank - len(dims)) + tuple(dims)
        pairs = zip(sizes, self.pads.sides, strict=True)
        return all(size == 1 or not any(sides) for size, sides in pairs)


def seen_behind(context: Context, step: PadStep, path: Path) -> PadStep:
    """A Pad as the operator behind `path` sees it."""
    names = tuple(f"{node.op_type} '{node.name or node.outputs[0]}'" for node in path.nodes)
    step = replace(step, crossed=names)
    carried = _start(context, step, path)
    why = None if carried else Unclear(f"the Pad writes {step.fill}, whose type is not known")
    for node, name in zip(path.nodes, names, strict=True):
        if carried is None:
            break
        carried = _behind(context, node, carried)
        why = Unclear(f"what {name} makes of the Pad is not known") if carried is None else None
    if carried is None or step.unclear:
        return replace(step, unclear=step.unclear or why)
    return replace(step, pads=carried.pads, fill=_fill(carried.value))


def _start(context: Context, step: PadStep, path: Path) -> _Carried | None:
    if isinstance(step.fill, TensorValue):
        return _Carried(step.pads, step.fill.tensor)
    if not isinstance(step.fill, Constant):
        return None
    dtype = context.type_of(path.source).dtype
    known = dtype in ("float16", "float32", "float64", "bool") or "int" in dtype
    if not known and step.fill.value != 0:
        return None
    if "int" in dtype and not float(step.fill.value).is_integer():
        return None
    ones = (1,) * len(step.pads.begins)
    return _Carried(step.pads, np.full(ones, step.fill.value, dtype if known else "float32"))


def _fill(value: np.ndarray | str) -> Fill:
    if isinstance(value, str):
        return TensorValue(value)
    first = value.reshape(-1)[0]
    return Constant(first.item()) if (value == first).all() else Implicit.PER_CHANNEL


def _behind(context: Context, node: Node, carried: _Carried) -> _Carried | None:
    if node.op_type in _CONVERSIONS:
        return _converted(context, node, carried)
    if node.op_type == _WITH_ITS_OWN_SCALE:
        return _scaled(node, carried)
    value = carried.value
    if node.op_type in _LAYOUT:
        pads = _moved(context, node, carried.pads)
        moved = value if isinstance(value, str) else _value_behind(context, node, value)
        return None if pads is None or moved is None else _Carried(pads, moved)
    if isinstance(value, str):
        return carried if _hands_on(context, node) else None
    position = data_position(context, node)
    others = (name for index, name in enumerate(node.inputs) if name and index != position)
    if not all(carried.is_even(context.type_of(name).dims) for name in others):
        return None
    found = _value_behind(context, node, value)
    return None if found is None else carried._replace(value=found)


def _moved(context: Context, node: Node, pads: Pads) -> Pads | None:
    """Pads behind a Transpose, Unsqueeze or Squeeze, where no padded axis goes."""
    attributes, rank = context.attributes(node), len(pads.begins)
    if node.op_type == "Transpose":
        order = attributes.get("perm", tuple(reversed(range(rank))))
        if not isinstance(order, tuple) or sorted(order) != list(range(rank)):
            return None
        return Pads.of([pads.sides[int(axis)] for axis in order])
    given = attributes.get("axes")
    axes = constant_integers(context, node.inputs[1]) if len(node.inputs) > 1 else given
    if not isinstance(axes, tuple) or not axes:
        return None
    grows = node.op_type == "Unsqueeze"
    whole = rank + len(axes) * grows
    named = {int(axis) % whole for axis in axes if -whole <= axis < whole}
    if len(named) < len(axes):
        return None
    if grows:
        sides = iter(pads.sides)
        return Pads.of([(0, 0) if axis in named else next(sides) for axis in range(whole)])
    if any(any(pads.sides[axis]) for axis in named):
        return None
    return Pads.of([pads.sides[axis] for axis in range(rank) if axis not in named])


def _converted(context: Context, node: Node, carried: _Carried) -> _Carried | None:
    attributes, rank = context.attributes(node), len(carried.pads.begins)
    if is_in_blocks(attributes):
        return None
    convert = quantised if node.op_type == "QuantizeLinear" else dequantised
    value = convert(context, node, attributes, carried.value, rank)
    if value is None or not (isinstance(value, str) or carried.is_even(value.shape)):
        return None
    return carried._replace(value=value)


def _scaled(node: Node, carried: _Carried) -> _Carried | None:
    """0 becomes the zero point; the range that sets both holds 0 with the Pad and without it."""
    if isinstance(carried.value, str) or carried.value.any() or not all(node.outputs[2:3]):
        return None
    return carried._replace(value=node.outputs[2]) if len(node.outputs) > 2 else None
