"""A tolerance that a user asks for, beside the bound that follows from the arithmetic."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.errors import RequestError
from onnxpad.probing.agreement import gap, largest, magnitudes
from onnxpad.validation.report import ToleranceReport, Validation, Verdict

Array = NDArray[Any]


@dataclass(eq=False)
class Tolerance:
    """|a - b| <= atol + rtol * |b| for every element, b of the reference or the first model.

    `share` is the largest difference that was seen, divided by what is allowed there.
    """

    atol: float
    rtol: float
    share: float = field(default=0.0, init=False)
    seen: int = field(default=0, init=False)

    def look(self, right: Array | None, got: Array | None) -> None:
        """Compare one output; what has no result, or another shape, is beyond any tolerance."""
        self.seen += 1
        if right is None or got is None:
            self.share = np.inf
        else:
            is_float = right.dtype.kind in "biuf" and got.dtype.kind in "biuf"
            allowed = self.atol + self.rtol * magnitudes(right) if is_float else 0.0
            self.share = max(self.share, gap(got, right, allowed).ratio)

    def judged(self, found: Validation) -> Validation:
        """The report of runs with what the tolerance says; what nobody compared stays so."""
        if not self.seen:
            return found
        verdict, reason, report = self.allowed(found.verdict, found.reason)
        return replace(found, verdict=verdict, reason=reason, tolerance=report)

    def allowed(self, verdict: Verdict, reason: str) -> tuple[Verdict, str, ToleranceReport]:
        """What becomes of a verdict on what was seen, with its reason."""
        report = ToleranceReport(self.atol, self.rtol, self.share, self.share <= 1)
        asked = f"the tolerance asked for (atol {self.atol:g}, rtol {self.rtol:g})"
        if verdict and not report.met:
            verdict, reason = Verdict.DIFFERENT, f"beyond {asked}, although {reason}"
        elif verdict is Verdict.DIFFERENT and report.met:
            verdict, reason = Verdict.TOLERATED, f"within {asked}; by the arithmetic, {reason}"
        return verdict, reason, report

    def most(self, right: Array) -> float:
        """The largest difference that is allowed anywhere of an array."""
        return self.atol + self.rtol * largest(magnitudes(right))


def tolerance_of(atol: float | None, rtol: float | None) -> Tolerance | None:
    """None where neither is given; the other one is then 0.

    Raises RequestError for negative numbers and for what is none.
    """
    if atol is None and rtol is None:
        return None
    for name, value in (("atol", atol), ("rtol", rtol)):
        if value is not None and not 0 <= value < np.inf:
            raise RequestError(f"{name} is {value}: give a number, 0 or more")
    return Tolerance(atol or 0.0, rtol or 0.0)
