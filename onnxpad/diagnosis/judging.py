"""Whether a model gives a reference: as it is, or with a plan applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.model.comparing.networks import Network
from onnxpad.validation.agreement import UNTELLING
from onnxpad.validation.bench import Bench
from onnxpad.validation.reference import against_reference, own_rounding
from onnxpad.validation.report import OutputRow, Verdict

Array = NDArray[Any]
_UNKNOWN, _LEAST = 1e-4, 2e-6
# Beyond this part of the largest value, what rounding may do can hide a padding error.
PRECISE = 1e-3


@dataclass(frozen=True, slots=True)
class Judgement:
    """A model against the reference: the rows of `validate`, and its verdict.

    `residual` and `allowed` are the largest difference and the largest bound over the largest
    reference value; None where the model did not run or sizes differ.
    """

    verdict: Verdict
    reason: str
    rows: tuple[OutputRow, ...]
    residual: float | None
    allowed: float | None

    @property
    def agrees(self) -> bool:
        """Whether nothing but rounding is left."""
        return self.verdict in (Verdict.IDENTICAL, Verdict.ROUNDING)


def judged(
    bench: Bench,
    network: Network,
    samples: Sequence[Mapping[str, Array]],
    expected: Mapping[str, Sequence[Array]],
) -> Judgement:
    """Compare every sample, within what rounding may do."""
    rows, verdict, reason, _ = against_reference(bench, network, samples, expected)
    off = [row for row in rows if row.level == "off"]
    known, allowed = [], []
    for row in off:
        size = size_of(expected[row.output][row.sample])
        if row.max_abs is not None and np.isfinite(row.max_abs):
            known.append(row.max_abs / size)
            allowed.append((row.bound or 0.0) / size)
    complete = bool(off) and len(known) == len(off)
    return Judgement(
        verdict,
        reason,
        tuple(off),
        max(known) if complete else None,
        max(allowed) if allowed else None,
    )


def tolerances(present: Judgement, sample: int, right: Mapping[str, Array]) -> dict[str, float]:
    """How near a try has to come to be judged: twice the bound of `judged`, for the other padding.

    `present` judges the model as it is. At most what still tells padding; where it does not run,
    a ten thousandth of the largest value.
    """
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
