"""Axes and types of the tensors between the steps in front of an operator.

An axis is "N", "C" or the number of a spatial axis. Stage 0 is the model's input, the last one
what the operator reads.
"""

from typing import NamedTuple

from tests.random_models.spec import Spec, Step

Axis = int | str


class Stage(NamedTuple):
    axes: tuple[Axis, ...]
    dtype: str


def last_stage(spec: Spec) -> Stage:
    return Stage(("N", "C", *range(spec.rank)), spec.operator.dtype)


def stages(spec: Spec) -> list[Stage]:
    """The stage before every step in front, and the one that the operator reads."""
    found = [last_stage(spec)]
    for step in reversed(spec.front):
        found.append(before(step, found[-1], spec))
    return found[::-1]


def before(step: Step, stage: Stage, spec: Spec) -> Stage:
    """What a step reads, from what it makes."""
    axes, dtype = stage
    match step.op:
        case "Transpose":
            return Stage(tuple(axes[place] for place in _inverse(permutation(stage))), dtype)
        case "Unsqueeze":
            return Stage(tuple(axis for axis in axes if axis != "N"), dtype)
        case "Cast":
            return Stage(axes, "int32")
        case "DequantizeLinear":
            return Stage(axes, quantised(spec))
        case "QuantizeLinear":
            return Stage(axes, "float32")
    return stage


def quantised(spec: Spec) -> str:
    return "uint8" if spec.seed % 2 else "int8"


def permutation(stage: Stage) -> list[int]:
    """The perm of a Transpose that makes `stage`: it moves the channels to the other end."""
    count, channels = len(stage.axes), stage.axes.index("C")
    if channels == count - 1:
        order = [stage.axes[0], "C", *stage.axes[1:-1]]
    else:
        order = [axis for axis in stage.axes if axis != "C"] + ["C"]
    return [order.index(axis) for axis in stage.axes]


def _inverse(perm: list[int]) -> list[int]:
    return [perm.index(index) for index in range(len(perm))]


def crossed_sizes(spec: Spec, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Spatial sizes behind the Pads in front; pads that are computed from sizes included."""
    for step in spec.front:
        if step.op == "Pad":
            sides = [shape_pads(size) for size in sizes]
            begins, ends = (
                zip(*sides, strict=True)
                if step.source == "shape"
                else (step.pads[: spec.rank], step.pads[spec.rank :])
            )
            sizes = tuple(b + s + e for b, s, e in zip(begins, sizes, ends, strict=True))
    return sizes


def shape_pads(size: int) -> tuple[int, int]:
    """What the arithmetic on Shape gives for an axis: begin size % 2, end 2 - begin."""
    return size % 2, 2 - size % 2
