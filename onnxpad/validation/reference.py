"""A model against outputs that somebody else computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.model.comparing.networks import Network
from onnxpad.probing.agreement import largest, magnitudes, untelling
from onnxpad.sessions import RunFailure
from onnxpad.validation.bench import UNITS, Bench
from onnxpad.validation.judging import Finding, row_of
from onnxpad.validation.report import FirstDifference, OutputRow, Verdict

Array = NDArray[Any]
FOREIGN = 4.0
"""The reference rounds too, by algorithms that are not known here."""
_WHERE_IT_DOES_NOT_RUN = ("onnxpad rewrite --target onnxruntime, and validate what that writes",)


def against_reference(
    bench: Bench,
    network: Network,
    samples: Sequence[Mapping[str, Array]],
    expected: Mapping[str, Sequence[Array]],
    *,
    hold_optimised: bool = True,
) -> Finding:
    """What the samples show, with the first tensor in the model's order that differs.

    The bound is the measured effect of rounding on each tensor, and as much again for the
    reference (`FOREIGN`); a reference saved as float16 is rounded once more. `hold_optimised`
    holds runs with optimisations against the tolerance that was asked for as well.
    """
    names = sorted(expected, key=lambda name: network.producers.get(name, -1))
    off_rows, on_rows = list[OutputRow](), list[OutputRow]()
    for index, feeds in enumerate(samples):
        off = bench.run(network, feeds, tuple(names))
        if isinstance(off, RunFailure):
            why = f"onnxruntime does not {off.stage} the model: {off}"
            return Finding((), Verdict.UNVERIFIED, why, hints=_WHERE_IT_DOES_NOT_RUN)
        clean = {name: off[name] for name in names}
        right = {name: expected[name][index] for name in names}
        bench.look(right, clean)
        noise = bench.noise(network, feeds, clean, foreign=True)
        if noise is None:
            why = "how far rounding may go in this model could not be measured"
            return Finding((), Verdict.UNVERIFIED, why)
        bounds = {
            name: FOREIGN * largest(noise[name]) + own_rounding(right[name]) for name in names
        }
        rows = [row_of(index, name, "off", (right, clean), bounds[name]) for name in names]
        on = bench.run(network, feeds, optimise=True)
        if hold_optimised:
            bench.look(right, on)
        if isinstance(on, RunFailure):
            bench.warn(f"onnxruntime's default optimiser breaks the model ({on})")
        else:
            among = [row for row in rows if row.output in on]
            more = [row_of(index, r.output, "on", (right, on), r.bound) for r in among]
            _warn_of_levels(bench, among, more)
            on_rows += more
        off_rows += rows
    return _concluded(network, off_rows, on_rows, expected)


def own_rounding(right: Array) -> float:
    """By how much a reference that was saved as float16 is rounded at most."""
    return UNITS["float16"] * largest(magnitudes(right)) if right.dtype == np.float16 else 0.0


def _concluded(
    network: Network,
    off: Sequence[OutputRow],
    on: Sequence[OutputRow],
    expected: Mapping[str, Sequence[Array]],
) -> Finding:
    rows = (*off, *on)
    if row := next((row for row in off if not _is_fine(row)), None):
        label = network.label(row.output)
        first = FirstDifference(label, row.output, row.max_abs, row.where, row.difference)
        reason = f"'{first.tensor}' differs from the reference{first.amount()}"
        return Finding(rows, Verdict.DIFFERENT, reason, first)
    if all(row.equal for row in off):
        return Finding(rows, Verdict.IDENTICAL, "every element equals the reference")
    for row in off:
        if not row.equal and untelling(expected[row.output][row.sample], row.bound or 0.0):
            why = (
                f"'{row.output}' is {row.max_abs:.3g} off the reference, and rounding alone may "
                f"move it by {row.bound:.3g}: too much to see padding (a quantised model?)"
            )
            return Finding(rows, Verdict.UNVERIFIED, why)
    most = max(row.max_abs or 0.0 for row in off)
    reason = f"apart from the reference by rounding, {most:.3g} at most"
    return Finding(rows, Verdict.ROUNDING, reason)


def _warn_of_levels(bench: Bench, off: Sequence[OutputRow], on: Sequence[OutputRow]) -> None:
    """A warning wherever runs with optimisations tell another story."""
    for row, optimised in zip(off, on, strict=True):
        if _is_fine(row) and not _is_fine(optimised):
            bench.warn(
                f"onnxruntime's default optimiser moves '{row.output}' away from the reference"
            )
        if _is_fine(optimised) and not _is_fine(row):
            bench.warn(
                f"'{row.output}' agrees with the reference only under onnxruntime's default "
                "optimisations: was the reference made with them?"
            )


def _is_fine(row: OutputRow) -> bool:
    return row.max_abs is not None and row.max_abs <= (row.bound or 0.0)
