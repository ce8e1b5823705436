"""Numbers that show a difference, and what a person reads about it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof.call import Value
from onnxpad.proof.endings import NoResult, Undecided
from onnxpad.proof.evaluation import Fork
from onnxpad.proof.regions import (
    Cut,
    Mismatch,
    Outcomes,
    Region,
    Sizes,
    Workshop,
    first_difference,
    in_numbers,
)

Array = NDArray[Any]
_TOLERANCE = 1e-5
_SIGNS = ("both", "negative", "positive")
_MAGNITUDES = (1.0, 8.0, 0.01, 3000.0, 0.0, 1e6)
_AT_ENDS, _BESIDE = 3000.0, 0.2
"""Whole numbers of this magnitude are the least and the largest, but for a few beside them."""
_ROUNDS, _SMALL = 8, 1 << 12
"""Small inputs are drawn so often: where results are rounded, few of them show a difference."""
_SHAKES, _SAFE = 2, 64.0
"""Evaluations that are put off by the errors of float64, and how many times more counts."""
_HANDS_ON = ("Identity", "Cast", "Reshape", "Flatten", "Squeeze", "Unsqueeze")
_GENERIC = (1.0, 0.01, 3000.0)
"""Of what is drawn; 8 is rounded to halves, which meet each other; 0 stands for constants."""
_LIMITS, _BESIDE_LIMITS = 64, (0.0, 0.0, 0.0, 1.0, -1.0, 1e-3, -1e-3)


@dataclass(frozen=True, slots=True)
class OutputCell:
    """A cell of an output, by its place, and the number that each model gives there."""

    output: str
    index: tuple[int, ...]
    before: float
    after: float

    def __str__(self) -> str:
        return f"{self.output}{list(self.index)} is {self.before:.6g}, then {self.after:.6g}"


@dataclass(frozen=True, slots=True)
class Counterexample:
    """An input of a region on which two sides differ; `inputs` by the name in the first model.

    `cell` is None where no single cell differs: another shape, another type, no result any more.
    `replaced` are the names of inputs that have another value than their default.
    """

    text: str
    sizes: Mapping[str, int]
    inputs: Mapping[str, Array] = field(repr=False)
    cell: OutputCell | None = None
    replaced: tuple[str, ...] = ()


def confirm(
    region: Region, mismatch: Mismatch, shop: Workshop, *, ties: bool = True
) -> Counterexample | None:
    """Numbers that show the difference at its size; None where none of the tries does.

    Without `ties` no whole numbers are tried: an ArgMax may choose among equal ones.
    """
    cells = sum(math.prod(cut.shape(mismatch.sizes)) for cut in region.cuts)
    if cells > shop.budget.cells:  # more than any evaluation may compute from them
        return None
    kinds = list(product(_MAGNITUDES if ties else _GENERIC, _SIGNS))
    kinds *= _ROUNDS if cells < _SMALL and ties else 1
    draws = _Draws(region, np.random.default_rng(int.from_bytes(shop.source(16), "little")))
    defaults = (True, False) if draws.defaults else (False,)
    lists = (True, False) if any(cut.is_list for cut in region.cuts) else (False,)
    for draws.lists, kind, with_defaults in product(lists, kinds, defaults):
        inputs = draws.inputs(mismatch.sizes, kind, with_defaults=with_defaults)
        try:
            made = in_numbers(region, mismatch.sizes, inputs, shop)
            shown = _difference(region, made)
            if isinstance(shown, OutputCell):
                shown = _difference(region, made, _errors(region, mismatch.sizes, inputs, shop))
        except (Undecided, Fork):
            if mismatch.cell is None:
                continue
            return None
        if shown:
            return _shown(region, mismatch.sizes, inputs, shown)
    return None


def _errors(
    region: Region, sizes: Sizes, inputs: Mapping[Any, Array], shop: Workshop
) -> list[Array]:
    """How far float64 may be off in each cell of the results of both sides together."""
    random, found = np.random.default_rng(len(inputs)), list[Array]()
    plain = in_numbers(region, sizes, inputs, shop)
    for _ in range(_SHAKES):
        for side, other in zip(plain, in_numbers(region, sizes, inputs, shop, random), strict=True):
            if isinstance(side, NoResult) or isinstance(other, NoResult):
                raise Undecided("no result beside numbers that have one")
            errors = [_movement(one, two) for one, two in zip(side, other, strict=True)]
            found = [a + b for a, b in zip(found, errors, strict=True)] if found else errors
    return [_SAFE * one for one in found]


def _movement(one: Value, other: Value) -> Array:
    """By how much each cell moved; without a limit where it became none, or another shape."""
    if one.shape != other.shape:
        return np.full(one.shape, np.inf)
    first, second = one.cells.astype(np.float64), other.cells.astype(np.float64)
    with np.errstate(invalid="ignore"):
        by = np.where(first == second, 0.0, np.abs(first - second))
    return np.where(np.isnan(by), np.inf, by)


class _Draws:
    """Inputs of a region: numbers that were chosen for them, their defaults, or drawn ones.

    `lists` says that short whole numbers may be pads or axes, and are small.
    """

    lists = False

    def __init__(self, region: Region, random: np.random.Generator) -> None:
        self._cuts, self._random = region.cuts, random
        self._rows, self._limits = _rows(region), _constants(region)
        self.defaults = {name: one.numbers() for name, one in region.graphs[0].defaults.items()}

    def inputs(
        self, sizes: Sizes, kind: tuple[float, str], *, with_defaults: bool
    ) -> dict[Any, Array]:
        """Of a magnitude and sign, by key of the cut."""
        given = self.defaults if with_defaults else {}
        return {
            cut.key: self._input(cut, sizes, kind, given.get(cut.names[0][0])) for cut in self._cuts
        }

    def _input(
        self, cut: Cut, sizes: Sizes, kind: tuple[float, str], default: Array | None
    ) -> Array:
        rows = self._rows.get(cut.key)
        if default is not None:
            return default
        shape, (magnitude, sign) = cut.shape(sizes), kind
        if rows is not None:
            return np.resize(self._random.permutation(rows), shape).astype(cut.dtype)
        if cut.is_list and self.lists:
            return self._list(shape).astype(cut.dtype)
        if cut.dtype.kind in "biu":
            return drawn(self._random, (magnitude or 8.0, sign), shape, cut.dtype)
        values = drawn(self._random, kind, shape, cut.dtype)
        if not magnitude:
            beside = self._random.choice(_BESIDE_LIMITS, shape)
            values = self._random.choice(self._limits, shape) + beside
        most = 3e4 if cut.dtype.itemsize == 2 else np.inf
        return np.clip(values, -most, most).astype(cut.dtype).astype(np.float64)

    def _list(self, shape: tuple[int, ...]) -> Array:
        """Small numbers; as pads, half of the time they leave batch and channels alone."""
        numbers = self._random.integers(0, 1 + self._random.integers(5), shape)
        if numbers.size >= 6 and numbers.size % 2 == 0 and self._random.integers(2):
            numbers.reshape(2, -1)[:, :2] = 0
        return numbers


def _constants(region: Region) -> Array:
    """Numbers that nodes compare with, or hold: where a value passes them, results turn over."""
    found = [np.zeros(1)]
    for side, graph in enumerate(region.graphs):
        for node in region.between(side):
            found += [np.asarray([one]) for one in node.attributes.values() if type(one) is float]
            held = (graph.constants[name] for name in node.inputs if name in graph.constants)
            found += [one.numbers().ravel() for one in held if one.size <= _LIMITS]
    numbers = np.concatenate([one.astype(np.float64) for one in found])
    return np.unique(numbers[np.isfinite(numbers) & (np.abs(numbers) < 1e6)])[:_LIMITS]


def _rows(region: Region) -> dict[Any, Array]:
    """Of cuts that say which rows of a table are taken, by key: the rows to look at.

    They are those in which the tables of both sides differ, where they do; else all of them.
    """
    tables: dict[Any, list[Array]] = {}
    for side, graph in enumerate(region.graphs):
        makers = {name: node for node in region.between(side) for name in node.outputs}
        for node in makers.values():
            if (node.domain, node.op) != ("", "Gather") or node.inputs[0] not in graph.constants:
                continue
            name = node.inputs[1]
            while name in makers and makers[name].op in _HANDS_ON:
                name = makers[name].inputs[0]
            for cut in (one for one in region.cuts if name in one.names[side]):
                numbers, axis = graph.constants[node.inputs[0]], node.attributes.get("axis", 0)
                rows = np.moveaxis(numbers.numbers(), int(axis), 0)
                tables.setdefault(cut.key, []).append(rows.reshape(len(rows), -1))
    found = {}
    for key, (first, *others) in tables.items():
        alike = [one for one in others if one.shape == first.shape]
        apart = np.any([(first != one).any(axis=1) for one in alike], axis=0)
        found[key] = np.flatnonzero(apart) if apart.any() else np.arange(len(first))
    return found


def drawn(
    random: np.random.Generator,
    kind: tuple[float, str],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
) -> Array:
    """Values of a type and of a magnitude, of both signs or of one; float64 or integers."""
    magnitude, sign = kind
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        low, high = max(int(info.min), -(1 << 15)), min(int(info.max), 1 << 15)
        low = max(low, 1) if sign == "positive" else low
        high = max(low, min(high, 0)) if sign == "negative" else high
        if magnitude == _AT_ENDS:
            beside = random.integers(0, 4, shape) * (random.random(shape) < _BESIDE)
            up = random.random(shape) < {"positive": 1, "negative": 0, "both": 0.5}[sign]
            return np.where(up, high - beside, low + beside).clip(low, high)
        return random.integers(low, high, shape, endpoint=True)
    values = random.standard_normal(shape) * magnitude
    if magnitude == 8:
        values = np.rint(values) / 2
    if sign == "both":
        return values
    values = np.abs(values) + magnitude / 100
    return values if sign == "positive" else -values


def _difference(
    region: Region, made: Outcomes, errors: Sequence[Array] | None = None
) -> OutputCell | str:
    """What differs by more than `errors`, as a cell or a sentence without its full stop."""

    def unequal(at: int, first: Value, second: Value) -> Array:
        left, right = (one.cells.astype(np.float64) for one in (first, second))
        scale = _TOLERANCE * max(1.0, float(np.abs(left[np.isfinite(left)]).max(initial=0)))
        scale = 0.5 if first.dtype.kind in "iub" else scale
        room = scale if errors is None else np.maximum(scale, errors[at])
        with np.errstate(invalid="ignore"):
            near = (left == right) | (np.abs(left - right) <= room)
        return np.asarray(~near & ~np.isnan(left) & ~np.isnan(right))

    if (found := first_difference(region, made, unequal)) is None:
        return ""
    at, cell, reason = found
    if cell is None:
        return reason
    before, after = (float(one[at].cells[cell]) for one in made if isinstance(one, list))
    return OutputCell(region.wanted[0][at], cell, before, after)


def _shown(
    region: Region, sizes: Sizes, inputs: Mapping[Any, Array], found: OutputCell | str
) -> Counterexample:
    named = {cut.names[0][0]: np.asarray(inputs[cut.key], cut.dtype) for cut in region.cuts}
    at = ", ".join(f"{name}={size}" for name, size in sizes.items())
    text = f"{found}, at {at}" if at else str(found)
    defaults = region.graphs[0].defaults
    replaced = tuple(
        name
        for name, value in named.items()
        if name in defaults and not np.array_equal(value, defaults[name].numbers())
    )
    lists = [cut.names[0][0] for cut in region.cuts if cut.is_list]
    drawn_lists = [f"{name} is {named[name].tolist()}" for name in lists if name not in defaults]
    if replaced:
        text += f", where a caller gives {', '.join(replaced)}"
    if drawn_lists:
        text += f", where {', '.join(drawn_lists)}"
    cell = found if isinstance(found, OutputCell) else None
    return Counterexample(text, sizes, named, cell, replaced)
