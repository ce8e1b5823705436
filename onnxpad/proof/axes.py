"""Which open sizes the axes and the known numbers of a result hang on.

Every open size of a region is a bit. What is not known to be apart is taken together: a bit too
many costs sizes at which to compare, a bit too few would make lemma 2 wrong.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof import paces
from onnxpad.proof.call import Budget, Call, Notes, Rule, Value

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
_SHAPED = {"ConstantOfShape": 0, "Expand": 1}


def follow(call: Call, rule: Rule, value: Value) -> Value:
    """A result with the open sizes that it hangs on."""
    follows = value.follows
    if follows is None:
        follows = tuple(_axes(call, value.cells.ndim))
        for mask in follows:
            call.notes.tie(mask)
    _bounds(call)
    found = value.origins, value.paces
    if value.known and value.origins is None and call.op not in ("ConstantOfShape", "Shape"):
        found = _origins(call, rule, value)
    return replace(value, follows=follows, origins=found[0], paces=found[1])


def _bounds(call: Call) -> None:
    """Note numbers of sizes that say how far an operator goes."""
    if call.op in _BROADCAST | _ALIKE | {"Concat", "Shape"}:
        return
    for value in call.inputs[0 if call.op == "ConstantOfShape" else 1 :]:
        if value is not None and value.sources:
            paces.as_bounds(call, value)


def row_of(value: Value, at: int) -> Value:
    """One entry of the first axis."""
    sized = {}
    if value.origins is not None and value.paces is not None:
        sized = {"origins": value.origins[at], "paces": value.paces[at]}
    return replace(value, cells=value.cells[at], follows=value.axes[1:], **sized)


def _everything(call: Call) -> int:
    """All open sizes that any operand hangs on."""
    found = 0
    for value in call.inputs:
        if value is not None:
            found |= value.sources
            for mask in value.axes:
                found |= mask
    return found


def _axes(call: Call, rank: int) -> Sequence[int]:
    first = call.inputs[0] if call.inputs else None
    if first is None:
        return [_everything(call)] * rank
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
    if call.op in ("Reshape", "Flatten", "Shape", "MatMul", "Gemm", "Col2Im"):
        return [_everything(call) if call.op != "Shape" else 0] * rank
    return axes if rank == len(axes) else [_everything(call)] * rank


def _numbers(shape: Value | None, rank: int) -> list[int]:
    """The origins of the last `rank` sizes that an operand lists."""
    if shape is None or shape.origins is None:
        return [0] * rank
    listed = [int(one) for one in shape.origins.ravel()]
    return [*[0] * (rank - len(listed)), *listed][-rank:] if rank else []


def _bounded(call: Call, axes: list[int], rank: int) -> list[int]:
    """Axes whose pads or bounds were computed follow what those came from."""
    del rank
    origins = [value.origins for value in call.inputs[1:3] if value is not None]
    spots = call.ints(3) if call.optional(3) is not None else None
    found = list(axes)
    for listed in origins:
        if listed is None:
            continue
        flat = [int(one) for one in listed.ravel()]
        places = list(spots) if spots is not None else list(range(len(axes)))
        for at, mask in enumerate(flat):
            found[places[at % len(places)] % len(axes)] |= mask
    return found


def _aligned(call: Call, rank: int) -> list[int]:
    """Axes counted from the end, of all operands."""
    found = [0] * rank
    for value in call.inputs:
        if value is not None:
            for at, mask in enumerate(value.axes[::-1]):
                found[rank - 1 - at] |= mask
    return found


def _squeezed(call: Call, axes: list[int], rank: int) -> list[int]:
    listed = call.ints(1, "axes")
    if call.op == "Unsqueeze":
        spots = {axis % rank for axis in listed or []}
        old = iter(axes)
        return [0 if at in spots else next(old) for at in range(rank)]
    if listed is None:
        return [_everything(call)] * rank
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


def _origins(call: Call, rule: Rule, value: Value) -> tuple[Array | None, Array | None]:
    """Where every known number of a result came from, and how it grows."""
    values = [one for one in call.inputs if one is not None]
    if call.op in ("Expand", "Reshape"):
        values = values[:1]
    if not any(one.sized for one in values):
        return None, None
    if call.op in _BROADCAST | _ALIKE:
        found = np.zeros(value.shape, np.int64)
        for one in values:
            if one.origins is not None:
                found = found | one.origins
        return found, paces.computed(call, value.shape)
    data = len(values) if call.op == "Concat" else 1
    if call.op in _MOVING and not any(one.sized for one in values[data:]):
        return _moved(call, rule, data, _masks), _moved(call, rule, data, paces.as_numbers)
    if call.op == "Gather" and any(one.steps for one in paces.listed(values[1])):
        call.notes.breaks("Gather by sizes")
    everything = np.full(value.shape, _everything(call), np.int64)
    return everything, np.full(value.shape, paces.together(call), np.int64)


def _moved(call: Call, rule: Rule, data: int, numbers: Callable[[Value], Array]) -> Array:
    """What an operator that moves numbers makes of something else in their place."""
    inputs = list(call.inputs)
    for at, one in enumerate(inputs[:data]):
        if one is not None:
            inputs[at] = Value(numbers(one), np.dtype(np.int64), known=True, follows=one.axes)
    again = replace(call, inputs=inputs, notes=Notes(), budget=Budget(1 << 30))
    moved: Array = rule(again)[0].cells
    return moved


def _masks(value: Value) -> Array:
    """The origins of an operand in place of its numbers."""
    return value.origins if value.origins is not None else np.zeros(value.shape, np.int64)
