"""Which open sizes the axes and the known numbers of a result hang on.

Every open size of a region is a bit. What is not known to be apart is taken together: a bit too
many costs sizes at which to compare, a bit too few would make lemma 2 wrong.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof import paces
from onnxpad.proof.call import Budget, Call, Notes, Pace, Rule, Slope, Value, joined
from onnxpad.proof.functions import FLOATS

Array = NDArray[Any]
_MOVING = {
    *("Gather", "Slice", "Concat", "Transpose", "Squeeze", "Unsqueeze", "Identity"),
    *("Reshape", "Expand"),
}
_BROADCAST = {
    *("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Pow", "Sum", "Mean", "Where", "PRelu"),
    *("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor"),
}
_ALIKE = {"Clip", "Cast", "Neg", "Abs", "Relu", "Ceil", "Floor", "Round", "Sign", "Identity", "Not"}
_ALIKE |= {"Sigmoid", "Tanh", "LeakyRelu", "BatchNormalization"}
_BY_CELL = _BROADCAST | _ALIKE
_UNBOUND = _BY_CELL | {"Concat", "Shape"}
_SIDE_BY_SIDE = _BROADCAST | {"Concat"}
_FITTING = {"QuantizeLinear", "DequantizeLinear", "BatchNormalization", "Clip", "CumSum"}
_FITTING |= {"InstanceNormalization", "LayerNormalization", "GroupNormalization", "LRN"}
"""Whose other operands fit the first one, and decide nothing about the shape."""
_SLOPED_ALIKE = _ALIKE | _FITTING | set(FLOATS)
_WEIGHTS = {"Conv": (1, 0), "FusedConv": (1, 0), "ConvInteger": (1, 0), "DeformConv": (1, 0)}
_WEIGHTS |= {"QLinearConv": (3, 0), "ConvTranspose": (1, 1), "ConvTransposeWithDynamicPads": (1, 1)}
"""Which operand is a weight, and on which of its axes the new channels are."""
_STEPPING = {"Conv", "MaxPool", "AveragePool", "LpPool", "ConvTranspose"}
"""Whose axes have a cell for every step of a window."""
_MIXING = {"MatMul", "Gemm", "MatMulInteger", "Col2Im"}
_SHAPED = {"ConstantOfShape": 0, "Expand": 1}
_CHOOSING = {"Gather", "Reshape", "Split"}
"""What a growing number chooses among a fixed number of cells hangs on no period."""


def free(cells: Array, dtype: np.dtype[Any], follows: tuple[int, ...], degree: int = 0) -> Value:
    """A variable whose axes are open sizes themselves, or fixed."""
    slopes = tuple(Fraction(mask != 0) for mask in follows)
    return Value(cells, dtype, follows=follows, slopes=slopes, degree=degree)


def follow(call: Call, rule: Rule, value: Value) -> Value:
    """A result with the open sizes that it hangs on: its follows, paces and slopes."""
    follows = value.follows
    if follows is None:
        follows = tuple(_axes(call, value.cells.ndim))
        for mask in follows:
            call.notes.tie(mask)
    _bounds(call)
    numbers = value.paces
    if value.known and numbers is None and call.op not in ("ConstantOfShape", "Shape"):
        numbers = _paces(call, rule, value)
    slopes = value.slopes or _slopes(call, len(follows))
    return replace(value, follows=follows, paces=numbers, slopes=slopes)


def _bounds(call: Call) -> None:
    """Note numbers of sizes that say how far an operator goes."""
    if call.op in _UNBOUND:
        return
    for value in call.inputs[0 if call.op == "ConstantOfShape" else 1 :]:
        if value is not None and value.sources:
            paces.as_bounds(call, value)
            if call.op in _CHOOSING or (call.op == "Slice" and call.need(0).known):
                _choosing(call, value)


def _choosing(call: Call, value: Value) -> None:
    """Numbers that say which cells are taken may not grow."""
    if any(one.steps for one in paces.listed(value)):
        call.notes.breaks(f"{call.op} by sizes")


def _shaping(call: Call, first: int = 1) -> int:
    """What operands from one on hang on, in their numbers or in their shape."""
    values = [value for value in call.inputs[first:] if value is not None]
    return joined(value.sources | joined(value.axes) for value in values)


def _axes(call: Call, rank: int) -> Sequence[int]:
    first = call.inputs[0] if call.inputs else None
    if first is None or call.op in _MIXING:
        return [_shaping(call, 0)] * rank
    axes = list(first.axes)
    if call.op == "Transpose" and not call.domain:
        return [axes[at] for at in call.get("perm") or range(rank - 1, -1, -1)]
    if call.op in _SHAPED:
        shape = call.inputs[_SHAPED[call.op]]
        wanted = _numbers(shape, rank)
        old = [0] * rank if call.op == "ConstantOfShape" else [*[0] * (rank - len(axes)), *axes]
        return [one | other for one, other in zip(wanted, old, strict=True)]
    if call.op in _BROADCAST or call.op == "Concat":
        return _aligned(call, rank)
    if call.op in _ARRANGED:
        return _ARRANGED[call.op](call, axes, rank)
    return _others(call, axes, rank)


def _others(call: Call, axes: list[int], rank: int) -> Sequence[int]:
    """Axes of an operator of which no more is known than how it treats its first operand."""
    if call.op == "Shape":
        return [0] * rank
    if rank != len(axes) or call.op in ("Reshape", "Flatten"):
        return [_shaping(call) | joined(axes)] * rank
    if call.op in _WEIGHTS:
        return _weighted(call, axes)
    return axes if call.op in _FITTING else [mask | _shaping(call) for mask in axes]


def _weighted(call: Call, axes: list[int]) -> list[int]:
    """Axes of a convolution: channels are those of its weight."""
    at, channel = _WEIGHTS[call.op]
    weight = call.need(at).axes
    if any(weight[2:]):
        call.notes.breaks(f"{call.op} with a kernel of an open size")
    first, last = (1, -1) if call.get("channels_last", 0) else (2, len(axes))
    pads = call.computed(2) if call.op == "ConvTransposeWithDynamicPads" else 0
    found = [one | pads for one in axes[first:last]]
    found.insert(len(found) if first == 1 else 0, weight[channel])
    return [axes[0], *found]


def _slopes(call: Call, rank: int) -> tuple[Slope, ...]:
    """How the axes of a result grow with the one open size that they follow; () if not known."""
    first = call.inputs[0] if call.inputs else None
    if call.op in _SIDE_BY_SIDE and not call.domain:
        return _slopes_of_all(call, rank)
    if first is None or len(first.slopes) != rank or call.domain:
        return ()
    if call.op in _SLOPED_ALIKE:
        return first.slopes
    if call.op == "Slice":
        return tuple(None if at in call.strides else one for at, one in enumerate(first.slopes))
    if call.op in _STEPPING:
        steps = [Fraction(1), *(call.strides.get(axis) for axis in range(1, rank))]
        return tuple(
            None if slope is None or step is None else slope / step
            for slope, step in zip(first.slopes, steps, strict=True)
        )
    if call.op == "Pad":
        pads = call.optional(1)
        return first.slopes if pads is None or _is_level(pads) else ()
    return ()


def _slopes_of_all(call: Call, rank: int) -> tuple[Slope, ...]:
    """Slopes that all operands have on an axis, but for those that have one cell there."""
    found: list[Slope] = []
    for axis in range(-rank, 0):
        values = [value for value in call.inputs if value is not None]
        held = [paces.of_axis(value, axis) for value in values if len(value.shape) >= -axis]
        slopes = {one.slope for one in held if one.number != 1} or {Fraction(0)}
        found.append(slopes.pop() if len(slopes) == 1 else None)
    if call.op == "Concat":
        found[int(call.get("axis", 1))] = None
    return tuple(found)


def _is_level(value: Value) -> bool:
    """Whether none of the numbers grows with a size."""
    return not value.sized or all(one.slope == 0 for one in paces.listed(value))


def _numbers(shape: Value | None, rank: int) -> list[int]:
    """The open sizes that the last `rank` sizes that an operand lists come from."""
    if shape is None or not shape.sized:
        return [0] * rank
    masks = [one.sizes for one in paces.listed(shape)]
    return [*[0] * (rank - len(masks)), *masks][-rank:] if rank else []


def _bounded(call: Call, axes: list[int], rank: int) -> list[int]:
    """Axes whose pads or bounds were computed follow what those came from."""
    del rank
    spots = call.ints(3) if call.optional(3) is not None else None
    places = list(range(len(axes))) if spots is None else spots
    found = [mask | call.computed(3, 4) for mask in axes]
    for value in call.inputs[1:3]:
        for at, one in enumerate(paces.listed(value) if value is not None and value.sized else ()):
            found[places[at % len(places)] % len(axes)] |= one.sizes
    return found


def _aligned(call: Call, rank: int) -> list[int]:
    """Axes counted from the end, of all operands."""
    axes = [value.axes[::-1] for value in call.inputs if value is not None]
    return [joined(one[at] for one in axes if at < len(one)) for at in reversed(range(rank))]


def _squeezed(call: Call, axes: list[int], rank: int) -> list[int]:
    listed = call.ints(1, "axes")
    if call.computed(1) or listed is None:
        return [_shaping(call) | joined(axes)] * rank
    if call.op == "Unsqueeze":
        spots = {axis % rank for axis in listed}
        old = iter(axes)
        return [0 if at in spots else next(old) for at in range(rank)]
    gone = {axis % len(axes) for axis in listed}
    return [mask for at, mask in enumerate(axes) if at not in gone]


def _gathered(call: Call, axes: list[int], rank: int) -> list[int]:
    del rank
    at, index = int(call.get("axis", 0)), call.need(1)
    return [*axes[:at], *index.axes, *axes[at:][1:]]


_ARRANGED = {
    "Squeeze": _squeezed,
    "Unsqueeze": _squeezed,
    "Pad": _bounded,
    "Slice": _bounded,
    "Gather": _gathered,
}


def _paces(call: Call, rule: Rule, value: Value) -> tuple[Pace, ...] | None:
    """How every known number of a result grows; None where none came from a size."""
    values = [one for one in call.inputs if one is not None]
    if call.op in ("Expand", "Reshape"):
        values = values[:1]
    if not any(one.sized for one in values):
        return None
    if call.op in _BY_CELL:
        return paces.computed(call, value)
    data = len(values) if call.op == "Concat" else 1
    if call.op in _MOVING and not any(one.sized for one in values[data:]):
        return _moved(call, rule, data)
    sizes = _shaping(call, 0)
    call.notes.tie(sizes)
    return paces.together(call, sizes)


def _moved(call: Call, rule: Rule, data: int) -> tuple[Pace, ...]:
    """What an operator that moves numbers makes of their paces, by their places."""
    inputs, moved = list(call.inputs), list[Pace]()
    for at, one in enumerate(inputs[:data]):
        if one is not None:
            places = np.arange(one.cells.size).reshape(one.shape) + len(moved)
            inputs[at] = Value(places, np.dtype(np.int64), known=True, follows=one.axes)
            moved += paces.listed(one)
    again = replace(call, inputs=inputs, notes=Notes(), budget=Budget(1 << 30))
    places = rule(again)[0].cells
    return tuple(moved[at] for at in places.ravel().tolist())
