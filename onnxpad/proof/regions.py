"""A part of two models between the same cuts, evaluated and compared at one size."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.proof.call import Budget, Value
from onnxpad.proof.clock import Clock
from onnxpad.proof.domain import Domain
from onnxpad.proof.endings import Invalid, NoResult, Undecided
from onnxpad.proof.evaluation import Environment, Evaluation, Fork
from onnxpad.proof.field import BITS, PRIMES, Field, Source
from onnxpad.proof.floats import Numeric
from onnxpad.proof.formal import Formal
from onnxpad.proof.graphs import Constant, Graph, Node
from onnxpad.proof.sized import Notes, Size, Sized, hangs

Array = NDArray[Any]
Sizes = Mapping[str, int]
Outcomes = tuple[list[Value] | NoResult, list[Value] | NoResult]
_FORKS = 64
_MIXED = 5
_LONGEST = 16


@dataclass(frozen=True, slots=True)
class Cut:
    """A tensor that both sides hold, by the names that it has there; a free variable.

    `sizes` are numbers or names of variables; `data` says that it is no constant left open.
    """

    key: Any
    names: tuple[tuple[str, ...], tuple[str, ...]]
    dtype: np.dtype[Any]
    sizes: tuple[int | str, ...]
    data: bool = True

    @property
    def is_list(self) -> bool:
        """Whether it may be the pads or axes of an operator, which are read as numbers."""
        whole = self.dtype in (np.int32, np.int64) and len(self.sizes) < 2
        return whole and all(isinstance(one, int) and one <= _LONGEST for one in self.sizes)

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        """Its shape where the variables have these sizes."""
        return tuple(one if isinstance(one, int) else sizes[one] for one in self.sizes)


@dataclass(frozen=True, slots=True)
class Region:
    """Both sides of a change: graphs, the tensors that must agree, and what they may hang on."""

    graphs: tuple[Graph, Graph]
    wanted: tuple[tuple[str, ...], tuple[str, ...]]
    cuts: tuple[Cut, ...]

    @property
    def variables(self) -> list[str]:
        """The names of open sizes, in order."""
        return open_names(self.cuts)

    def between(self, at: int) -> Iterator[Node]:
        """The nodes of a side from the cuts to what is wanted, backwards."""
        names = set(self.wanted[at])
        given = {name for cut in self.cuts for name in cut.names[at]}
        for node in reversed(self.graphs[at].nodes):
            if any(name in names - given for name in node.outputs):
                names.update(node.operands)
                yield node


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Where two sides differ: a tensor, a cell (None: the tensors as a whole), and how."""

    sizes: dict[str, int]
    output: int
    cell: tuple[int, ...] | None
    reason: str
    decisions: Mapping[Any, bool] = field(default_factory=dict)


@dataclass(slots=True)
class Workshop:
    """Budgets and randomness of a proof, and what was spent and noted."""

    budget: Budget
    source: Source
    clock: Clock
    notes: Notes = field(default_factory=Notes)
    numbers: dict[int, tuple[Constant, Array]] = field(default_factory=dict)
    fractions: bool = False
    repetitions: int = 2
    risk: float = 0.0
    used: set[str] = field(default_factory=set)
    salt: bytes = b""

    def __post_init__(self) -> None:
        self.salt = self.source(64)

    def mixed(self, columns: Mapping[str, Sequence[int]]) -> list[dict[str, int]]:
        """A few combinations of sizes that nobody can foresee; the same ones for a whole proof."""
        if len(columns) < 2:
            return []
        turns = iter(self.salt)
        return [
            {name: column[next(turns) % len(column)] for name, column in columns.items()}
            for _ in range(min(_MIXED, len(self.salt) // len(columns)))
        ]

    def evaluation(self, d: Domain, decisions: Mapping[Any, bool]) -> Evaluation:
        """An evaluation that shares budget and constants."""
        return Evaluation(d, Notes(), self.budget, decisions, self.numbers)


def open_names(cuts: Sequence[Cut]) -> list[str]:
    """The names of open sizes, in order."""
    return list(dict.fromkeys(one for cut in cuts for one in cut.sizes if isinstance(one, str)))


def measured(cuts: Sequence[Cut], sizes: Sizes, notes: Notes) -> list[tuple[Size, ...]]:
    """The sizes of the axes of cuts as they hang on open ones, each of which has a bit."""
    bits = {name: 1 << at for at, name in enumerate(open_names(cuts))}
    notes.sizes = {bit: sizes[name] for name, bit in bits.items()}
    return [
        tuple(
            one
            if isinstance(one, int)
            else Sized(Fraction(sizes[one]), {bits[one]: Fraction(1)}, notes)
            for one in cut.sizes
        )
        for cut in cuts
    ]


def given(region: Region, side: int, sizes: Sizes, run: Evaluation) -> Environment:
    """The cuts of a side as free variables."""
    made: Environment = {}
    for cut, axes in zip(region.cuts, measured(region.cuts, sizes, run.notes), strict=True):
        shape = cut.shape(sizes)
        run.budget.spend(int(np.prod(shape, dtype=np.float64)))
        value = Value(run.d.fresh(cut.key, shape), cut.dtype, degree=1)
        if cut.is_list and isinstance(run.d, Numeric):
            value = replace(value, cells=value.cells.astype(cut.dtype), known=True)
        value = replace(value, written=axes if hangs(*axes) else None)
        made |= dict.fromkeys(cut.names[side], value)
    return made


def outcomes(
    region: Region, d: Domain, sizes: Sizes, shop: Workshop, decisions: Mapping[Any, bool]
) -> Outcomes:
    """What both sides make at a size; raises Fork and Undecided."""
    made: list[list[Value] | NoResult] = []
    for side in (0, 1):
        shop.clock.check()
        run = shop.evaluation(d, decisions)
        try:
            values = given(region, side, sizes, run)
            made.append(run.run(region.graphs[side], values, region.wanted[side]))
        except NoResult as ended:
            made.append(ended)
            if side == 0:
                return ended, ended
        except Invalid as wrong:
            if side == 0:
                raise
            made.append(NoResult(str(wrong)))
        finally:
            shop.notes.merge(run.notes)
    _grow_alike(made[0], made[1])
    shop.notes.merge(run.notes)
    return made[0], made[1]


def _grow_alike(first: list[Value] | NoResult, second: list[Value] | NoResult) -> None:
    """Note at which sizes results have other shapes, or other numbers that came from sizes."""
    if isinstance(first, NoResult) or isinstance(second, NoResult):
        return
    for one, other in zip(first, second, strict=True):
        pairs = list(zip(one.axes, other.axes, strict=False))
        if one.known and other.known:
            pairs += zip(one.cells.ravel().tolist(), other.cells.ravel().tolist(), strict=False)
        for left, right in pairs:
            if isinstance(right, Sized):
                right.sign(left)
            elif isinstance(left, Sized):
                left.sign(right)


def in_numbers(
    region: Region,
    sizes: Sizes,
    inputs: Mapping[Any, Array],
    shop: Workshop,
    random: np.random.Generator | None = None,
) -> Outcomes:
    """What both sides make of numbers by the key of their cut; see `Numeric` for `random`."""
    with np.errstate(all="ignore"):
        return outcomes(region, Numeric(inputs, random), sizes, shop, {0.0: False, 1.0: True})


def compare(region: Region, sizes: Sizes, shop: Workshop) -> Mismatch | bool:
    """True where the sides agree at a size (lemma 1), False where the first has no result.

    Every repetition draws a prime and points of its own, so that all of them would have to err.
    Raises Undecided.
    """
    risk, has_result = 1.0, False
    for _ in range(shop.repetitions):
        d = Formal(Field(shop.source), fractions=shop.fractions)
        found, once = _compare_once(region, d, sizes, shop)
        shop.notes.rounded |= d.rounded
        shop.notes.readings |= d.readings
        if isinstance(found, Mismatch):
            return found
        has_result = found
        risk *= once
    shop.risk += risk
    return has_result


def _compare_once(
    region: Region, d: Formal, sizes: Sizes, shop: Workshop
) -> tuple[Mismatch | bool, float]:
    """The same for one prime and one point, and how probably it errs."""
    pending: list[dict[Any, bool]] = [{}]
    has_result, compared = False, 0
    for _ in range(_FORKS):
        if not pending:
            degree, bits = max(1, shop.notes.degree), shop.notes.bits
            once = 1.001 * degree / d.field.prime + bits / (BITS - 1) / PRIMES
            return has_result, (len(d.asked) ** 2 + compared) * once
        decisions = pending.pop()
        try:
            first, second = outcomes(region, d, sizes, shop, decisions)
        except Fork as fork:
            pending += [{**decisions, fork.condition: turn} for turn in (False, True)]
            continue
        if isinstance(first, NoResult):
            continue
        has_result = True
        found = difference(region, d, sizes, (first, second), decisions)
        if found is not None:
            return found, 0.0
        compared += sum(value.cells.size for value in first)
    raise Undecided("too many open conditions")


def difference(
    region: Region, d: Domain, sizes: Sizes, made: Outcomes, decisions: Mapping[Any, bool]
) -> Mismatch | None:
    """The first difference of two results, of which the first one is there."""

    def unequal(_: int, first: Value, second: Value) -> Array:
        left, right = (d.embed(one.numbers) if one.known else one.cells for one in (first, second))
        return np.asarray(left != right)

    if (found := first_difference(region, made, unequal)) is None:
        return None
    output, cell, reason = found
    return Mismatch(dict(sizes), output, cell, reason, decisions)


def first_difference(
    region: Region, made: Outcomes, unequal: Callable[[int, Value, Value], Array]
) -> tuple[int, tuple[int, ...] | None, str] | None:
    """The place of an output that differs, of its first cell that does (None: as a whole), and how.

    `unequal` says which cells of two outputs of one shape and type differ.
    """
    first, second = made
    if isinstance(first, NoResult):
        return None
    if isinstance(second, NoResult):
        return 0, None, f"there is no result any more: {second}"
    for at, (name, a, b) in enumerate(zip(region.wanted[0], first, second, strict=True)):
        if a.dtype != b.dtype:
            return at, None, f"{name} was {a.dtype} and is {b.dtype}"
        if a.shape != b.shape:
            return at, None, f"{name} had the shape {list(a.shape)} and has {list(b.shape)}"
        if (apart := unequal(at, a, b)).any():
            cell = tuple(int(one) for one in np.argwhere(apart)[0])
            return at, cell, f"{name}{list(cell)} differs"
    return None
