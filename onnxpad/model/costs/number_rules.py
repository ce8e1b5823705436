"""By operator: bounds of the few whole numbers that a node makes of others."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.geometry.cuts import cells_of_cut
from onnxpad.model.costs.rule_facts import (
    FEW,
    FOLLOWED_TYPES,
    Facts,
    Following,
    NoBoundError,
    Numbers,
    bounded,
    constant,
    cuts,
    exact_of,
    permutation,
    squeezed,
)


def _moved(move: Callable[[Facts, NDArray[Any]], NDArray[Any]]) -> Following:
    """What moves the numbers of its first input and leaves them as they are."""

    def rule(facts: Facts) -> Numbers | None:
        given = facts.numbers(0)
        if given is None:
            return None
        most = move(facts, given.most)
        least = most if given.least is given.most else move(facts, given.least)
        return Numbers(least, most, given.fit)

    return rule


def _gathered(facts: Facts, values: NDArray[Any]) -> NDArray[Any]:
    places = facts.numbers(1)
    indices = np.reshape(exact_of(places), places.most.shape if places else ())
    found: NDArray[Any] = np.take(values, indices, facts.integer("axis"))
    return found


def _reshaped(facts: Facts, values: NDArray[Any]) -> NDArray[Any]:
    return values.reshape(exact_of(facts.numbers(1)))


def _cut(facts: Facts, values: NDArray[Any]) -> NDArray[Any]:
    for axis, start, end, step in cuts(facts, values.ndim):
        if start is None or end is None:
            raise NoBoundError
        cells = cells_of_cut(values.shape[axis], start, end, step or 0)
        if cells is None:
            raise NoBoundError
        values = np.take(values, list(cells), axis)
    return values


def _without_axes(facts: Facts, values: NDArray[Any]) -> NDArray[Any]:
    return np.squeeze(values, tuple(squeezed(facts, values.ndim)))


def _with_axes(facts: Facts, values: NDArray[Any]) -> NDArray[Any]:
    axes = facts.exact("axes", 1) or []
    return np.expand_dims(values, tuple(squeezed(facts, values.ndim + len(axes))))


def _transposed_numbers(facts: Facts, values: NDArray[Any]) -> NDArray[Any]:
    return values.transpose(permutation(facts, values.ndim))


def _whole(facts: Facts, values: NDArray[Any]) -> NDArray[Any]:
    given = facts.numbers(0)
    if facts.integer("to") not in FOLLOWED_TYPES or given is None or not given.fit:
        raise NoBoundError
    return values


def _sizes(facts: Facts) -> Numbers:
    """Of the axes from start up to end (Shape-15)."""
    (dims,) = facts.dims
    start, end = facts.integer("start"), facts.integer("end", len(dims))
    most = np.array(dims[start:end], np.int64)
    return bounded(np.zeros_like(most), most)


def _filled(facts: Facts) -> Numbers | None:
    if "value" not in facts.attributes or exact_of(facts.numbers(0)) is None:
        return None
    held = facts.attributes["value"].t
    if prod(facts.most(0)) > FEW:
        return None
    value = constant(held) if held.data_type in FOLLOWED_TYPES else None
    if value is None:
        return None
    filled = np.full(facts.most(0), value.ravel()[0])
    return bounded(filled, filled)


def _side_by_side(facts: Facts) -> Numbers | None:
    given = [facts.numbers(position) for position in range(len(facts.names))]
    known = [one for one in given if one is not None]
    if len(known) < len(given):
        return None
    axis = facts.integer("axis", 1)
    least, most = (np.concatenate([one[side] for one in known], axis) for side in (0, 1))
    return Numbers(least, most, all(one.fit for one in known))


def _pieces(facts: Facts) -> list[Numbers] | None:
    given = facts.numbers(0)
    if given is None:
        return None
    axis, count = facts.integer("axis"), len(facts.node.output)
    pieces = facts.exact("split", 1) or [-(-given.most.shape[axis] // count)] * count
    places = np.cumsum(pieces)[:-1]
    sides = (np.split(side, places, axis) for side in (given.least, given.most))
    return [Numbers(least, most, given.fit) for least, most in zip(*sides, strict=True)]


def _worked_out(work: Callable[[Numbers, Numbers], tuple[Any, Any]]) -> Following:
    """Arithmetic of two, where no number is wider than it is stored."""

    def rule(facts: Facts) -> Numbers | None:
        given = [facts.numbers(position) for position in range(len(facts.names))]
        known = [one for one in given if one is not None and one.fit]
        if len(known) != 2 or len(given) != 2:
            return None
        found = bounded(*map(np.asarray, work(*known)))
        return found if found.fit else None

    return rule


def _product(one: Numbers, other: Numbers) -> tuple[Any, Any]:
    found = [a * b for a in one[:2] for b in other[:2]]
    return np.minimum.reduce(found), np.maximum.reduce(found)


def _quotient(one: Numbers, other: Numbers) -> tuple[Any, Any]:
    """Rounded towards 0; by what is not known to be one number, no further from 0 than it was."""
    if other.least is other.most and (other.most > 0).all():
        return tuple(np.sign(side) * (np.abs(side) // other.most) for side in one[:2])
    far = np.maximum(np.abs(one.least), np.abs(one.most)) + np.zeros_like(other.most)
    return -far, far


def _negative(facts: Facts) -> Numbers | None:
    given = facts.numbers(0)
    return None if given is None or not given.fit else bounded(-given.most, -given.least)


NUMBER_RULES: dict[str, Following] = {
    "Add": _worked_out(lambda one, other: (one.least + other.least, one.most + other.most)),
    "Cast": _moved(_whole),
    "Concat": _side_by_side,
    "ConstantOfShape": _filled,
    "Div": _worked_out(_quotient),
    "Gather": _moved(_gathered),
    "Identity": _moved(lambda _, values: values),
    "Max": _worked_out(lambda a, b: (np.maximum(a.least, b.least), np.maximum(a.most, b.most))),
    "Min": _worked_out(lambda a, b: (np.minimum(a.least, b.least), np.minimum(a.most, b.most))),
    "Mul": _worked_out(_product),
    "Neg": _negative,
    "Reshape": _moved(_reshaped),
    "Shape": _sizes,
    "Slice": _moved(_cut),
    "Split": _pieces,
    "Squeeze": _moved(_without_axes),
    "Sub": _worked_out(lambda one, other: (one.least - other.most, one.most - other.least)),
    "Transpose": _moved(_transposed_numbers),
    "Unsqueeze": _moved(_with_axes),
}
"""By operator: what is known of the whole numbers that it makes."""
