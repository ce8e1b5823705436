"""Which open sizes the axes and the known numbers of a result hang on.

Every open size of a region is a bit. What is not known to be apart is taken together: a bit too
many costs sizes at which to compare, a bit too few would make lemma 2 wrong.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
_ALIKE = {"Cast", "Neg", "Abs", "Relu", "Ceil", "Floor", "Round", "Sign", "Identity", "Not"}
_SHAPED = {"ConstantOfShape": 0, "Expand": 1}


def follow(call: Call, rule: Rule, value: Value) -> Value:
    """A result with the open sizes that it hangs on."""
    follows = value.follows
    if follows is None:
        follows = tuple(_axes(call, value.cells.ndim))
        for mask in follows:
            call.notes.tie(mask)
    origins = value.origins
    if value.known and origins is None and call.op not in ("ConstantOfShape", "Shape"):
        origins = _origins(call, rule, value)
    return replace(value, follows=follows, origins=origins)


def row_of(value: Value, at: int) -> Value:
    """One entry of the first axis."""
    origins = None if value.origins is None else value.origins[at]
    return replace(value, cells=value.cells[at], follows=value.axes[1:], origins=origins)


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
    if call.op in ("Squeeze", "Unsqueeze"):
        return _squeezed(call, axes, rank)
    if call.op in _SHAPED:
        shape = call.inputs[_SHAPED[call.op]]
        wanted = _numbers(shape, rank)
        old = [0] * rank if call.op == "ConstantOfShape" else [*[0] * (rank - len(axes)), *axes]
        return [one | other for one, other in zip(wanted, old, strict=True)]
    if call.op in _BROADCAST or call.op == "Concat":
        return _aligned(call, rank)
    if call.op in ("Pad", "Slice"):
        return _bounded(call, axes)
    if call.op in ("Reshape", "Flatten", "Shape", "Gather", "MatMul", "Gemm", "Col2Im"):
        return [_everything(call) if call.op != "Shape" else 0] * rank
    return axes if rank == len(axes) else [_everything(call)] * rank


def _numbers(shape: Value | None, rank: int) -> list[int]:
    """The origins of the last `rank` sizes that an operand lists."""
    if shape is None or shape.origins is None:
        return [0] * rank
    listed = [int(one) for one in shape.origins.ravel()]
    return [*[0] * (rank - len(listed)), *listed][-rank:] if rank else []


def _bounded(call: Call, axes: list[int]) -> list[int]:
    """Axes whose pads or bounds were computed follow what those came from."""
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


def _origins(call: Call, rule: Rule, value: Value) -> Array | None:
    """Where every known number of a result came from."""
    values = [one for one in call.inputs if one is not None]
    if not any(one.sized for one in values):
        return None
    if call.op in _BROADCAST | _ALIKE:
        found = np.zeros(value.shape, np.int64)
        for one in values:
            if one.origins is not None:
                found = found | one.origins
        return found
    if call.op in ("Expand", "Reshape"):
        values = values[:1]
    if not any(one.sized for one in values):
        return None
    data = len(values) if call.op == "Concat" else 1
    if call.op in _MOVING and not any(one.sized for one in values[data:]):
        inputs = [_masks(one) if at < data else one for at, one in enumerate(call.inputs)]
        again = replace(call, inputs=inputs, notes=Notes(), budget=Budget(1 << 30))
        moved: Array = rule(again)[0].cells
        return moved
    return np.full(value.shape, _everything(call), np.int64)


def _masks(value: Value | None) -> Value | None:
    """The origins of an operand in place of its numbers."""
    if value is None:
        return None
    origins = value.origins if value.origins is not None else np.zeros(value.shape, np.int64)
    return Value(origins, np.dtype(np.int64), known=True, follows=value.axes)
