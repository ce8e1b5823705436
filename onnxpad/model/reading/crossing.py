"""The way from a Pad to an operator that could pad in its place, and its work on their cells."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from onnxpad.model.graph.constant_folding import fold
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.flat_numbers import constant_integers
from onnxpad.model.graph.nodes import Node
from onnxpad.model.reading.quantised import is_in_blocks, zero_fill
from onnxpad.padding.chain import Pads, PadStep, Unclear
from onnxpad.padding.fills import Constant, Fill, TensorValue
from onnxpad.padding.operators import PLAIN_DOMAINS

Array: TypeAlias = np.ndarray

_BINARY = frozenset({"Mul", "Add", "Sub", "Div", "Max", "Min"})
LAYOUT = frozenset({"Transpose", "Unsqueeze", "Squeeze"})
_FOLDED = frozenset({"Relu", "Neg", "Abs", "Sign", "Floor", "Ceil", "Round", "Clip", "Cast"})
_KEEP_ZERO = (
    *("Tanh", "Sin", "Sinh", "Tan", "Asin", "Atan", "Asinh", "Atanh", "Erf", "Sqrt"),
    *("Elu", "Celu", "Selu", "Gelu", "Mish", "Softsign", "Swish", "HardSwish"),
    *("LeakyRelu", "PRelu", "ThresholdedRelu"),
)
_AT_ZERO = dict.fromkeys(_KEEP_ZERO, 0.0) | {"Exp": 1, "Cos": 1, "Cosh": 1, "Sigmoid": 0.5}
"""What functions give for 0, computed exactly there alone."""
_EITHER_WAY = frozenset({"Mul", "Add", "Max", "Min"})
_BY_KIND = _BINARY | LAYOUT | {"Identity", "QuantizeLinear", "DequantizeLinear"}
CROSSABLE = _BY_KIND | _FOLDED | _AT_ZERO.keys()
_MAX_STEPS = 16


class Path(NamedTuple):
    """What stands in front of an operator: `nodes` from the far end on, behind tensor `source`."""

    nodes: tuple[Node, ...]
    source: str


def path_to(context: Context, name: str) -> Path:
    """The operators, one after the other, that a Pad in front of tensor `name` could cross.

    What others read as well is copied for this reader.
    """
    found: list[Node] = []
    for maker in context.makers(name, data_position, _MAX_STEPS):
        if not _is_crossable(context, maker):
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
    if any(context.scope.uses.get(name) for name in node.outputs[1:]):
        return False
    if node.op_type in _BINARY:
        other = node.inputs[1 - data_position(context, node)] if len(node.inputs) == 2 else ""
        if not other or context.constant_tensor(other) is None:
            return False
    return bool(node.outputs) and not any(one.ref_attr_name for one in node.proto.attribute)


class _Carried(NamedTuple):
    """Pads and value on the way; the value is of one element, with an axis for each of the pads."""

    pads: Pads
    value: Array | TensorValue


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
    value = carried.value
    fill: Fill = value if isinstance(value, TensorValue) else Constant(value.item())
    return replace(step, pads=carried.pads, fill=fill)


def _start(context: Context, step: PadStep, path: Path) -> _Carried | None:
    if isinstance(step.fill, TensorValue):
        return _Carried(step.pads, TensorValue(step.fill.tensor))
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


def _behind(context: Context, node: Node, carried: _Carried) -> _Carried | None:
    pads, value = carried
    if node.op_type in ("QuantizeLinear", "DequantizeLinear"):
        found = _converted(context, node, carried)
    elif isinstance(value, TensorValue):
        found = value if node.op_type == "Identity" or node.op_type in LAYOUT else None
    else:
        found = _value_behind(context, node, pads, value)
    moved = moved_pads(context, node, pads) if node.op_type in LAYOUT else pads
    return None if found is None or moved is None else _Carried(moved, found)


def _value_behind(context: Context, node: Node, pads: Pads, value: Array) -> Array | None:
    """What an operator, no conversion, makes of cells of this value; None where it is not sure."""
    others = [name for at, name in enumerate(node.inputs) if at != data_position(context, node)]
    if node.op_type not in LAYOUT and not all(_is_even(context, name, pads) for name in others):
        return None
    if node.op_type in _AT_ZERO:
        return None if value.any() else np.full_like(value, _AT_ZERO[node.op_type])
    if node.op_type == "Identity":
        return value
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
    if found is None or found.dtype.kind not in "iufb" or not found.size:
        return None
    first = found.reshape(-1)[:1]
    if (found != first).any():  # NaN is not itself
        return None
    return first.reshape((1,) * (found.ndim if node.op_type in LAYOUT else value.ndim))


def _is_even(context: Context, name: str, pads: Pads) -> bool:
    """Whether an input that broadcasts with the tensor has one cell along the padded axes."""
    dims, rank = context.type_of(name).dims if name else (), len(pads.sides)
    if dims is None or len(dims) > rank:
        return False
    sizes = (1,) * (rank - len(dims)) + tuple(dims)
    return all(size == 1 or not any(side) for size, side in zip(sizes, pads.sides, strict=True))


def moved_pads(context: Context, node: Node, pads: Pads) -> Pads | None:
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


def _converted(context: Context, node: Node, carried: _Carried) -> Array | TensorValue | None:
    """What a conversion makes of 0, which is the zero point, and the other way round.

    None where a scale or a zero point may have several values: which cells have which is then lost.
    """
    zero, ones = zero_fill(context, node.input(2)), (1,) * len(carried.pads.begins)
    numbers = [context.type_of(name).dims for name in node.inputs[1:] if name]
    if is_in_blocks(context.attributes(node)) or any(one not in ((), (1,)) for one in numbers):
        return None
    if node.op_type == "DequantizeLinear":
        value = carried.value
        fill = value if isinstance(value, TensorValue) else Constant(value.item())
        return np.zeros(ones, np.float32) if fill == zero else None
    if isinstance(carried.value, TensorValue) or carried.value.any():
        return None
    dtype = context.type_of(node.outputs[0]).dtype or "uint8"
    if isinstance(zero, Constant) and "int" in dtype:
        return np.full(ones, zero.value, dtype)
    return zero if isinstance(zero, TensorValue) else None
