"""Whether a model gives a reference: as it is, or with a plan applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.graph.comparison.networks import Network
from onnxpad.runtime import RunFailure
from onnxpad.validation.bench import Bench
from onnxpad.validation.reference import FOREIGN, against_reference, own_rounding
from onnxpad.validation.report import OutputRow, Verdict

Array = NDArray[Any]
_UNKNOWN, _LEAST, _MOST = 1e-4, 2e-6, 1e-3


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
        size = _size(expected[row.output][row.sample])
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


def tolerances(
    bench: Bench,
    network: Network,
    feeds: Mapping[str, Array],
    right: Mapping[str, Array],
) -> dict[str, float]:
    """How near a try has to come to be looked at closely: twice what rounding may do.

    Where the model as it is does not run, a ten thousandth of the largest value.
    """
    clean = bench.run(network, feeds, tuple(right))
    bounds = None
    if not isinstance(clean, RunFailure):
        bounds = bench.noise(network, feeds, {name: clean[name] for name in right})
    found = {}
    for name, value in right.items():
        size = _size(value)
        if bounds is None:
            found[name] = _UNKNOWN * size
        else:
            found[name] = float(np.clip(2 * FOREIGN * bounds[name], _LEAST * size, _MOST * size))
        found[name] += own_rounding(value)
    return found


def _size(value: Array) -> float:
    wide = np.abs(value.astype(np.float64))
    return float(wide[np.isfinite(wide)].max(initial=0.0)) or 1.0
