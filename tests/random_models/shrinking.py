"""The smallest spec that still fails."""

import dataclasses
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, TypeVar

from tests.random_models.checking import Failure, failure
from tests.random_models.spec import Spec, Step

KEPT = ("padding", "pads", "front", "negative", "seed")
"""Fields whose default is no simpler model, or another failure."""
TRIES = 400
Shrinkable = TypeVar("Shrinkable", Spec, Step)
# Smaller geometry of this kind can end the process: see drawing_places.
UNSAFE = "QLinearAveragePool channels last"


def replace(value: Shrinkable, /, **change: Any) -> Shrinkable:
    """dataclasses.replace for fields whose names are values."""
    return dataclasses.replace(value, **change)


def shrink(found: Failure) -> Failure:
    """The failure of a simpler spec by the same passes, where there is one."""
    tries, candidates = 0, simpler(found.spec)
    while (spec := next(candidates, None)) is not None and tries < TRIES:
        tries += 1
        reason = _reason(spec, found)
        if reason is not None:
            found = dataclasses.replace(found, spec=spec, reason=reason)
            candidates = simpler(spec)
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
    yield from _plainer(spec)
    for number, step in enumerate(spec.front):
        before, behind = spec.front[:number], spec.front[number + 1 :]
        yield replace(spec, front=before + behind, outside=0)
        for one in (*_plainer(step), *_smaller(step, ("pads",), 0)):
            yield replace(spec, front=(*before, one, *behind))
    if spec.kind != UNSAFE:
        for axis in range(spec.rank if spec.rank > 1 else 0):
            yield _without(spec, axis)
        yield from _smaller(spec, ("dilations", "strides", "spatial", "kernel"), 1)
        yield from _smaller(spec, ("pads",), 0)


def _plainer(value: Shrinkable) -> Iterator[Shrinkable]:
    """The value with one field as by default."""
    for field in fields(value):
        default = field.default is not dataclasses.MISSING and field.name not in KEPT
        if default and getattr(value, field.name) != field.default:
            yield replace(value, **{field.name: field.default})


def _smaller(value: Shrinkable, names: tuple[str, ...], least: int) -> Iterator[Shrinkable]:
    """The value with one number nearer to the least."""
    for name in names:
        numbers: list[int] = list(getattr(value, name))
        for place, number in enumerate(numbers):
            if number != least:
                nearer = [*numbers]
                nearer[place] += 1 if number < least else -1
                yield replace(value, **{name: tuple(nearer)})


def _without(spec: Spec, axis: int) -> Spec:
    """The spec with one spatial axis less."""

    def cut(values: tuple[Any, ...]) -> tuple[Any, ...]:
        dropped = (axis, axis + spec.rank)
        return tuple(value for index, value in enumerate(values) if index not in dropped)

    lists = ["spatial", "kernel", "strides", "dilations", "pads", "free"]
    lists += ["output_padding", "output_shape"]
    front = tuple(replace(step, pads=cut(step.pads)) for step in spec.front)
    return replace(spec, front=front, **{name: cut(getattr(spec, name)) for name in lists})
