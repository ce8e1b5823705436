"""How far a model or a try is from the reference, and when it gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.diagnosis.runner import Broken, Runner, State
from onnxpad.diagnosis.suspects import Way
from onnxpad.model.comparing.networks import Network
from onnxpad.validation.agreement import UNTELLING, gap
from onnxpad.validation.bench import Bench
from onnxpad.validation.reference import against_reference, own_rounding
from onnxpad.validation.report import OutputRow, ToleranceReport, Verdict
from onnxpad.validation.tolerance import Tolerance

Array = NDArray[Any]
Vector = NDArray[np.float64]
_BORDER = 3.0
_FEW = 32
_BY_CHANCE = 3
_UNKNOWN, _LEAST = 1e-4, 2e-6
# Beyond this part of the largest value, what rounding may do can hide a padding error.
PRECISE = 1e-3


@dataclass(frozen=True, order=True, slots=True)
class Score:
    """Smaller is nearer: references reached (negative), trouble with shapes, what is left.

    `missing` counts references that do not agree yet, in the order of the model; `misfit` is 0
    where the next one has its shape; `unlike` is the part of its cells that differ: hits by
    chance are rare, so some that agree say more than a small difference in all. `residual` is
    the root mean square of what is left of it over that of the reference, border cells counted
    `_BORDER` times.
    """

    missing: int
    misfit: float
    unlike: float
    residual: float

    @property
    def matches(self) -> bool:
        """Whether every reference agrees."""
        return self.missing == 0


PERFECT = Score(0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class ReferenceValues:
    """Reference values of one sample in the order of the model, and the tolerance of each."""

    names: tuple[str, ...]
    values: Mapping[str, Array]
    tolerance: Mapping[str, float]

    def next_name(self, score: Score) -> str:
        """The first reference that differs; the last one where all agree."""
        return self.names[min(len(self.names) - score.missing, len(self.names) - 1)]


def scored(runner: Runner, target: ReferenceValues, chosen: Sequence[Way]) -> Score:
    """The score of these choices: run no further than the first reference that differs."""
    for index, name in enumerate(target.names):
        left = len(target.names) - index
        state = runner.until(name, chosen)
        if isinstance(state, Broken):
            return Score(left, 1000.0 - state.stage, 1.0, inf)
        got = _tensor(state, name)
        score = _one(got, target.values[name], target.tolerance[name], left)
        if score is not None:
            return score
    return PERFECT


def difference(
    runner: Runner, target: ReferenceValues, name: str, chosen: Sequence[Way]
) -> NDArray[np.float64] | None:
    """Reference less result, flat and weighted as the residual is; None where shapes part."""
    state = runner.until(name, chosen)
    if isinstance(state, Broken):
        return None
    got, right = _tensor(state, name), target.values[name]
    if got.shape != right.shape:
        return None
    wide = right.astype(np.float64) - got.astype(np.float64)
    return np.nan_to_num(
        wide * np.sqrt(_weights(right.shape)), nan=0.0, posinf=0.0, neginf=0.0
    ).ravel()


def _tensor(state: State, name: str) -> Array:
    return state.tensors[name]


def _one(got: Array, right: Array, tolerance: float, left: int) -> Score | None:
    """None where they agree."""
    if got.shape != right.shape:
        return Score(left, _misfit(got.shape, right.shape), 1.0, inf)
    if gap(right, got).max_abs <= tolerance:
        return None
    weights = _weights(right.shape)
    wide, exact = got.astype(np.float64), right.astype(np.float64)
    known = np.isfinite(wide) & np.isfinite(exact)
    if not known.all() and not np.array_equal(wide[~known], exact[~known], equal_nan=True):
        return Score(left, 0.0, 1.0, 1e6)
    spread = np.broadcast_to(weights, right.shape)[known]
    error = float((spread * (wide[known] - exact[known]) ** 2).sum())
    size = float((spread * exact[known] ** 2).sum())
    residual = float(np.sqrt(error / size)) if size else float(np.sqrt(error))
    return Score(left, 0.0, _unlike(wide, exact, tolerance), residual)


def _unlike(got: Vector, right: Vector, tolerance: float) -> float:
    """The part of the cells that differ, to a hundredth.

    Zeros are left out, which a Relu gives by itself. All differ where so few agree that it may be
    chance, which grows with the tolerance over the spread of the reference.
    """
    telling = (right != 0) & np.isfinite(right)
    count = int(telling.sum())
    if count < _FEW:
        return 1.0
    agree = int((np.abs(got - right) <= tolerance)[telling].sum())
    spread = float(right[telling].std()) or 1.0
    if agree <= _BY_CHANCE * (1 + count * min(1.0, tolerance / spread)):
        return 1.0
    return round(1 - agree / count, 2)


def _misfit(got: Sequence[int], right: Sequence[int]) -> float:
    if len(got) != len(right):
        return 100.0
    return sum(abs(log((a + 1) / (b + 1))) for a, b in zip(got, right, strict=True))


def _weights(shape: Sequence[int]) -> NDArray[np.float64]:
    """More weight at the borders of axes 2 and later, where padding is seen first."""
    weights = np.ones(shape[2:] if len(shape) > 2 else ())
    for axis, size in enumerate(shape[2:]):
        if size > 4:
            edge = np.ones(size)
            edge[[0, -1]] = _BORDER
            weights = np.maximum(
                weights, edge.reshape([-1 if n == axis else 1 for n in range(len(shape) - 2)])
            )
    return weights


@dataclass(frozen=True, slots=True)
class Comparison:
    """A model against the reference: the rows of `validate`, and its verdict.

    `residual` and `allowed` are the largest difference and the largest bound over the largest
    reference value; None where the model did not run or sizes differ.
    """

    verdict: Verdict
    reason: str
    rows: tuple[OutputRow, ...]
    residual: float | None
    allowed: float | None
    tolerance: ToleranceReport | None = None

    @property
    def agrees(self) -> bool:
        """Whether nothing is left but rounding, or what the tolerance asked for allows."""
        return self.verdict in (Verdict.IDENTICAL, Verdict.ROUNDING, Verdict.TOLERATED)


def judged(
    bench: Bench,
    network: Network,
    samples: Sequence[Mapping[str, Array]],
    expected: Mapping[str, Sequence[Array]],
) -> Comparison:
    """Compare every sample, within what rounding may do, or the tolerance that was asked for."""
    asked = bench.tolerance and Tolerance(bench.tolerance.atol, bench.tolerance.rtol)
    bench.tolerance = asked  # what other padding left is forgotten
    found = against_reference(bench, network, samples, expected, hold_optimised=False)
    rows, verdict, reason = found.rows, found.verdict, found.reason
    report = None
    if asked and asked.seen:
        verdict, reason, report = asked.allowed(verdict, reason)
    off = [row for row in rows if row.level == "off"]
    known, allowed = [], []
    for row in off:
        size = size_of(expected[row.output][row.sample])
        if row.max_abs is not None and np.isfinite(row.max_abs):
            known.append(row.max_abs / size)
            allowed.append((row.bound or 0.0) / size)
    complete = bool(off) and len(known) == len(off)
    return Comparison(
        verdict,
        reason,
        tuple(off),
        max(known) if complete else None,
        max(allowed) if allowed else None,
        report,
    )


def tolerances(
    present: Comparison, sample: int, right: Mapping[str, Array], asked: Tolerance | None = None
) -> dict[str, float]:
    """How near a try has to come to be judged: twice the bound of `judged`, for the other padding.

    `present` judges the model as it is. At most what still tells padding; where it does not run,
    a ten thousandth of the largest value. Where a tolerance was `asked` for, what that allows.
    """
    if asked is not None:
        return {name: asked.most(value) for name, value in right.items()}
    bounds = {row.output: row.bound for row in present.rows if row.sample == sample}
    found = {}
    for name, value in right.items():
        size, own, bound = size_of(value), own_rounding(value), bounds.get(name)
        near = _UNKNOWN * size
        if bound is not None:
            near = float(np.clip(2 * (bound - own), _LEAST * size, UNTELLING * size))
        found[name] = near + own
    return found


def size_of(value: Array) -> float:
    """The largest finite value, 1 where all are zero."""
    wide = np.abs(value.astype(np.float64))
    return float(wide[np.isfinite(wide)].max(initial=0.0)) or 1.0
