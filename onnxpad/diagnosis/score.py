"""How far a model or a choice is from the reference, and when it gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onnxpad.diagnosis.runner import Broken, Runner
from onnxpad.model.comparing.networks import Network
from onnxpad.probing.agreement import UNTELLING, gap
from onnxpad.validation.bench import UNITS, Bench
from onnxpad.validation.reference import against_reference, own_rounding
from onnxpad.validation.report import OutputRow, ToleranceReport, Verdict
from onnxpad.validation.tolerance import Tolerance

Array = NDArray[Any]
Vector = NDArray[np.float64]
Values = Mapping[str, Sequence[Array]]
"""Arrays by tensor, one for each sample."""
_UNKNOWN, _LEAST = 1e-4, 2e-6
_TELLING = 8


class Reference(NamedTuple):
    """One tensor of one sample: what it has to be, and how far off it may be."""

    sample: int
    name: str
    value: Array
    tolerance: float


@dataclass(frozen=True, order=True, slots=True)
class Score:
    """How far a choice is from the references; smaller is nearer.

    missing: number of references from the first that differs to the last, in the model's order.
    misfit: how far the shape of the first that differs is from its reference's; 0 for equal.
    residual: root mean square of its difference over the root mean square of the reference.
    """

    missing: int
    misfit: float
    residual: float

    @property
    def matches(self) -> bool:
        """Whether every reference agrees."""
        return self.missing == 0


def first_missing(references: Sequence[Reference], score: Score) -> Reference:
    """The first reference that differs; the last one where all agree."""
    return references[min(len(references) - score.missing, len(references) - 1)]


def scored(runner: Runner, references: Sequence[Reference], chosen: Sequence[int]) -> Score:
    """The score of these choices: run no further than the first reference that differs."""
    for index, reference in enumerate(references):
        left = len(references) - index
        state = runner.until(reference.name, chosen, reference.sample)
        if isinstance(state, Broken):
            return Score(left, 1000.0 - state.stage, inf)
        score = _score_of(state.tensors[reference.name], reference, left)
        if score is not None:
            return score
    return Score(0, 0.0, 0.0)


def difference(runner: Runner, reference: Reference, chosen: Sequence[int]) -> Vector | None:
    """Reference less result, flat; None where shapes differ."""
    got, right = runner.tensor(reference.name, chosen, reference.sample), reference.value
    if got is None or got.shape != right.shape:
        return None
    wide = right.astype(np.float64) - got.astype(np.float64)
    return np.nan_to_num(wide, nan=0.0, posinf=0.0, neginf=0.0).ravel()


def _score_of(got: Array, reference: Reference, left: int) -> Score | None:
    """None where they agree."""
    right = reference.value
    if got.shape != right.shape:
        pairs = zip(got.shape, right.shape, strict=False)
        misfit = sum(abs(log((a + 1) / (b + 1))) for a, b in pairs)
        return Score(left, misfit if got.ndim == right.ndim else 100.0, inf)
    if gap(right, got).max_abs <= reference.tolerance:
        return None
    wide, exact = got.astype(np.float64), right.astype(np.float64)
    known = np.isfinite(wide) & np.isfinite(exact)
    if not known.all() and not np.array_equal(wide[~known], exact[~known], equal_nan=True):
        return Score(left, 0.0, 1e6)
    error = float(((wide[known] - exact[known]) ** 2).sum())
    size = float((exact[known] ** 2).sum()) or 1.0
    return Score(left, 0.0, float(np.sqrt(error / size)))


@dataclass(frozen=True, slots=True)
class Comparison:
    """A model against the reference: the rows of `validate`, and its verdict.

    residual, allowed: the largest difference and the largest bound over the largest reference
        value; None where the model did not run or sizes differ.
    """

    verdict: Verdict
    reason: str
    rows: tuple[OutputRow, ...]
    residual: float | None
    allowed: float | None
    tolerance: ToleranceReport | None = None

    @property
    def agrees(self) -> bool:
        """Whether all differences are rounding or within the tolerance that the user gave."""
        return self.verdict in (Verdict.IDENTICAL, Verdict.ROUNDING, Verdict.TOLERATED)


def judged(
    bench: Bench, network: Network, samples: Sequence[Mapping[str, Array]], expected: Values
) -> Comparison:
    """Compare every sample, within what rounding may do, or the tolerance that was asked for."""
    asked = bench.tolerance and Tolerance(bench.tolerance.atol, bench.tolerance.rtol)
    bench.tolerance = asked  # what other padding left is forgotten
    against = against_reference(bench, network, samples, expected, hold_optimised=False)
    verdict, reason, report = against.verdict, against.reason, None
    if asked and asked.seen:
        verdict, reason, report = asked.allowed(verdict, reason)
    rows = tuple(row for row in against.rows if row.level == "off")
    sizes = [size_of(expected[row.output][row.sample]) for row in rows]
    left = [inf if row.max_abs is None else row.max_abs for row in rows]
    known = bool(rows) and bool(np.isfinite(left).all())
    return Comparison(
        verdict,
        reason,
        rows,
        max(map(float.__truediv__, left, sizes)) if known else None,
        max((row.bound or 0.0) / size for row, size in zip(rows, sizes, strict=True))
        if known
        else None,
        report,
    )


def references(
    present: Comparison, expected: Values, asked: Tolerance | None, rounded: str
) -> list[Reference]:
    """The reference values, with how near a choice has to come to be judged.

    That is twice the bound of `present`, which judges the model as it is, because the bound of
    other padding is another; at most what still tells padding. Where the model does not run, a ten
    thousandth of the largest value; where a tolerance was `asked` for, what that allows. `rounded`
    is the lower precision that the values are rounded to, '' for none.
    """
    bounds = {(row.sample, row.output): row.bound for row in present.rows}

    def tolerance(sample: int, name: str) -> float:
        value, bound = expected[name][sample], bounds.get((sample, name))
        if asked is not None:
            return asked.most(value)
        size, own = size_of(value), own_rounding(value)
        near = (
            _UNKNOWN
            if bound is None
            else float(np.clip(2 * (bound - own) / size, _LEAST, UNTELLING))
        )
        return size * (near + (UNITS[rounded] if rounded else 0.0)) + own

    pairs = [(n, name) for n in range(len(next(iter(expected.values())))) for name in expected]
    return [Reference(n, name, expected[name][n], tolerance(n, name)) for n, name in pairs]


def lower_precision(values: Sequence[Array]) -> str:
    """The precision below float32 that all numbers are of, not by chance; '' for none."""
    wide = [value.astype(np.float32).ravel() for value in values]
    fine = all(value.dtype in (np.float32, np.float64) for value in values)
    if not fine or any(np.unique(one[one != np.round(one)]).size < _TELLING for one in wide):
        return ""
    if not any((one.view(np.uint32) & 0xFFFF).any() for one in wide):
        return "bfloat16"
    with np.errstate(over="ignore"):
        is_half = all((one.astype(np.float16).astype(np.float32) == one).all() for one in wide)
    return "float16" if is_half else ""


def size_of(value: Array) -> float:
    """The largest finite value, 1 where all are zero."""
    wide = np.abs(value.astype(np.float64))
    return float(wide[np.isfinite(wide)].max(initial=0.0)) or 1.0
