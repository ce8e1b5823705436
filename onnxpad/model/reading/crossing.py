"""The way from a Pad to an operator that could pad in its place, and its work on their cells."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from onnxpad.model.graph.constant_folding import fold
from onnxpad.model.graph.context import Context
from onnxpad.model.graph.flat_numbers import constant_integers
from onnxpad.model.graph.nodes import Node
from onnxpad.model.reading.quantised import is_in_blocks, zero_fill
from onnxpad.padding.chain import Pads, PadStep, Unclear
from onnxpad.padding.fills import Constant, Fill, TensorValue
from onnxpad.padding.operators import PLAIN_DOMAINS

_BINARY = frozenset({"Mul", "Add", "Sub", "Div", "Max", "Min"})
LAYOUT = frozenset({"Transpose", "Unsqueeze", "Squeeze"})
_KEEP_ZERO = frozenset(
    {
        *("Tanh", "Sin", "Sinh", "Tan", "Asin", "Atan", "Asinh", "Atanh", "Erf", "Sqrt"),
        *("Elu", "Celu", "Selu", "Gelu", "Mish", "Softsign", "Swish", "HardSwish"),
        *("LeakyRelu", "PRelu", "ThresholdedRelu"),
    }
)
_FOLDED = frozenset({"Relu", "Neg", "Abs", "Sign", "Floor", "Ceil", "Round", "Clip", "Cast"})
_EITHER_WAY = frozenset({"Mul", "Add", "Max", "Min"})
_CONVERSIONS = ("QuantizeLinear", "DequantizeLinear")
CROSSABLE = _BINARY | LAYOUT | _KEEP_ZERO | _FOLDED | {"Identity", *_CONVERSIONS}
_MAX_STEPS = 16
_ZERO = Constant(0)


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
    """Position of the data input of a crossable operator, 0 or 1."""
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


def seen_behind(context: Context, step: PadStep, path: Path) -> PadStep:
    """A Pad as the operator behind `path` sees it: Transposes move it, others must keep its 0."""
    names = tuple(f"{node.op_type} '{node.name or node.outputs[0]}'" for node in path.nodes)
    step = replace(step, crossed=names)
    for node, name in zip(path.nodes, names, strict=True):
        pads: Pads | None = step.pads
        fill: Fill | None = step.fill
        if node.op_type in LAYOUT:
            pads = moved_pads(context, node, step.pads)
        elif node.op_type in _CONVERSIONS:
            fill = _converted(context, node, step.fill)
        elif node.op_type != "Identity":
            keeps = step.fill == _ZERO and _keeps_zero(context, node, step.pads)
            fill = step.fill if keeps else None
        if step.unclear or pads is None or fill is None:
            why = Unclear(f"what {name} makes of the Pad is not known")
            return replace(step, unclear=step.unclear or why)
        step = replace(step, pads=pads, fill=fill)
    return step


def _keeps_zero(context: Context, node: Node, pads: Pads) -> bool:
    """Whether an operator writes 0 where its data is 0, and takes data without the padding."""
    others = [name for at, name in enumerate(node.inputs) if at != data_position(context, node)]
    if not all(_is_even(context, name, pads) for name in others):
        return False
    if node.op_type in _KEEP_ZERO:
        return True
    operands = [context.constant(name) if name else None for name in node.inputs]
    dtype = context.type_of(node.inputs[data_position(context, node)]).dtype or "float32"
    has_zero = dtype in ("bool", "float16", "float32", "float64") or "int" in dtype
    operands[data_position(context, node)] = np.zeros(1, dtype) if has_zero else None
    if any(name and one is None for name, one in zip(node.inputs, operands, strict=True)):
        return False
    found = fold(node.proto, operands)
    return found is not None and found.dtype.kind in "iufb" and not found.any()


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


def _converted(context: Context, node: Node, fill: Fill) -> Fill | None:
    """What a conversion makes of 0, which is the zero point, and the other way round.

    None where a scale or a zero point may have several values: which cells have which is then lost.
    """
    zero = zero_fill(context, node.input(2))
    numbers = [context.type_of(name).dims for name in node.inputs[1:] if name]
    if is_in_blocks(context.attributes(node)) or any(one not in ((), (1,)) for one in numbers):
        return None
    before, behind = (_ZERO, zero) if node.op_type == "QuantizeLinear" else (zero, _ZERO)
    return behind if fill == before and isinstance(zero, Constant | TensorValue) else None
