"""The smallest spec that still fails."""

import dataclasses
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, TypeVar

from tests.random_models.checking import Failure, failure
from tests.random_models.spec import Spec, Step

PLAIN = (
    *("place", "extra", "behind", "free", "free_batch", "overridable", "value_info", "shared"),
    *("held", "named", "bias", "indices", "storage_order", "ceil", "counts", "batch", "zero"),
    *("weight_zero", "output_padding", "output_shape", "writes_kernel", "group", "outside", "p"),
)
DEFAULTS = {field.name: field.default for field in fields(Spec)}
STEP_DEFAULTS = {field.name: field.default for field in fields(Step)}
TRIES = 400
Shrinkable = TypeVar("Shrinkable", Spec, Step)
# Smaller geometry of this kind can end the process: see drawing_places.
UNSAFE = "QLinearAveragePool channels last"


def replace(value: Shrinkable, /, **change: Any) -> Shrinkable:
    """dataclasses.replace for fields whose names are values."""
    return dataclasses.replace(value, **change)


def shrink(found: Failure) -> Failure:
    """The failure of a simpler spec by the same passes, where there is one."""
    tries = 0
    again = True
    while again and tries < TRIES:
        again = False
        for spec in simpler(found.spec):
            tries += 1
            reason = _reason(spec, found)
            if reason is not None:
                found, again = dataclasses.replace(found, spec=spec, reason=reason), True
                break
            if tries >= TRIES:
                break
    return found


def _reason(spec: Spec, found: Failure) -> str | None:
    """How a spec fails, if it does in the same way; one that cannot be built does not."""
    try:
        reason = failure(spec, found.order)
    except Exception:  # noqa: BLE001 - whatever a spec that makes no sense raises
        return None
    return reason if reason is not None and _sort(reason) == _sort(found.reason) else None


def _sort(reason: str) -> str:
    return "other numbers" if " instead of " in reason else reason[:30]


def simpler(spec: Spec) -> Iterator[Spec]:
    """Specs that lack one thing of this one, the most helpful first."""
    for name in PLAIN:
        if getattr(spec, name) != DEFAULTS[name]:
            yield replace(spec, **{name: DEFAULTS[name]})
    for number, step in enumerate(spec.front):
        yield replace(spec, front=spec.front[:number] + spec.front[number + 1 :], outside=0)
        for name in ("mode", "source", "axes", "outside", "channels", "value"):
            if getattr(step, name) != STEP_DEFAULTS[name]:
                yield _with_step(spec, number, **{name: STEP_DEFAULTS[name]})
    if spec.kind != UNSAFE:
        yield from _smaller(spec)


def _with_step(spec: Spec, number: int, **change: Any) -> Spec:
    front = list(spec.front)
    front[number] = replace(front[number], **change)
    return replace(spec, front=tuple(front))


def _smaller(spec: Spec) -> Iterator[Spec]:
    for axis in range(spec.rank if spec.rank > 1 else 0):
        yield _without(spec, axis)
    ones = (1,) * spec.rank
    for name, plain in (("dilations", ones), ("strides", ones), ("pads", (0,) * len(spec.pads))):
        if getattr(spec, name) != plain:
            yield replace(spec, **{name: plain})
    for number, step in enumerate(spec.front):
        for index, pad in enumerate(step.pads):
            if pad:
                yield _with_step(spec, number, pads=_less(step.pads, index, 1 if pad > 0 else -1))
    for name in ("spatial", "kernel", "strides", "dilations", "pads"):
        values = getattr(spec, name)
        for index, value in enumerate(values):
            if value > (0 if name == "pads" else 1):
                yield replace(spec, **{name: _less(values, index, 1)})


def _less(values: tuple[int, ...], place: int, less: int) -> tuple[int, ...]:
    return (*values[:place], values[place] - less, *values[place + 1 :])


def _without(spec: Spec, axis: int) -> Spec:
    """The spec with one spatial axis less."""

    def cut(values: tuple[Any, ...]) -> tuple[Any, ...]:
        dropped = (axis, axis + spec.rank)
        return tuple(value for index, value in enumerate(values) if index not in dropped)

    lists = ["spatial", "kernel", "strides", "dilations", "pads", "free"]
    lists += ["output_padding", "output_shape"]
    front = tuple(replace(step, pads=cut(step.pads)) for step in spec.front)
    return replace(spec, front=front, **{name: cut(getattr(spec, name)) for name in lists})
