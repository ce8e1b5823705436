"""A model against outputs that somebody else computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad.model.comparing.networks import Network
from onnxpad.model.comparing.pieces import with_written_pads
from onnxpad.sessions import RunFailure
from onnxpad.validation.agreement import untelling
from onnxpad.validation.bench import Bench, Results
from onnxpad.validation.judging import Finding, row_of
from onnxpad.validation.noise import noise
from onnxpad.validation.report import FirstDifference, OutputRow, Verdict
from onnxpad.validation.verdicts import apart_when_optimised

Array = NDArray[Any]
FOREIGN = 4.0
"""The reference rounds too, by algorithms that are not known here."""
_WHERE_IT_DOES_NOT_RUN = ("onnxpad rewrite --target onnxruntime, and validate what that writes",)
_AS_PADS = (
    "; run with SAME written as pads, which is the same by the ONNX text, since onnxruntime does "
    "not run it as it is: onnxpad rewrite --target onnxruntime writes that"
)


def against_reference(
    bench: Bench,
    network: Network,
    samples: Sequence[Mapping[str, Array]],
    expected: Mapping[str, Sequence[Array]],
    *,
    hold_optimised: bool = True,
    in_pads: bool = False,
) -> Finding:
    """What the samples show, with the first tensor in the model's order that differs.

    The bound is the measured effect of rounding on each tensor, and as much again for the
    reference (`FOREIGN`); a reference saved as float16 is rounded once more. `hold_optimised`
    holds runs with optimisations against the tolerance that was asked for as well. With `in_pads` a
    model that onnxruntime does not run for the sake of SAME is run with the pads it stands for.
    """
    names = sorted(expected, key=lambda name: network.producers.get(name, -1))
    rows, refused = list[OutputRow](), False
    for index, feeds in enumerate(samples):
        ran, off = network, bench.run(network, feeds, tuple(names))
        if isinstance(off, RunFailure) and in_pads and (written := with_written_pads(ran, feeds)):
            ran, refusal, off = written, off, bench.run(written, feeds, tuple(names))
            bench.warn(f"onnxruntime does not {refusal.stage} the model as it is: {refusal}")
            refused = True
        if isinstance(off, RunFailure):
            why = f"onnxruntime does not {off.stage} the model: {off}"
            return Finding(tuple(rows), Verdict.UNVERIFIED, why, hints=_WHERE_IT_DOES_NOT_RUN)
        clean = {name: off[name] for name in names}
        right = {name: expected[name][index] for name in names}
        bench.look(right, clean)
        measured = noise(bench, ran, feeds, clean, foreign=True)
        if measured is None:
            why = "how far rounding may go in this model could not be measured"
            return Finding(tuple(rows), Verdict.UNVERIFIED, why)
        bounds = {
            name: FOREIGN * float(measured[name].max(initial=0.0)) + own_rounding(right[name])
            for name in names
        }
        rows += [row_of(index, name, "off", (right, clean), bounds[name]) for name in names]
        on = bench.run(ran, feeds, optimise=True)
        if hold_optimised:
            bench.look(right, on)
        rows += _on_rows(bench, rows[-len(names) :], right, on)
    found = _concluded(network, rows, expected)
    return replace(found, reason=found.reason + _AS_PADS * refused)


def own_rounding(right: Array) -> float:
    """By how much a reference that was saved as float16 is rounded at most."""
    if right.dtype != np.float16 or not np.isfinite(right).any():
        return 0.0
    return 2.0**-11 * float(np.abs(right[np.isfinite(right)].astype(np.float64)).max())


def _concluded(
    network: Network, rows: list[OutputRow], expected: Mapping[str, Sequence[Array]]
) -> Finding:
    off, on = ([row for row in rows if row.level == level] for level in ("off", "on"))
    if row := next((row for row in off if not _is_fine(row)), None):
        index = network.producers.get(row.output)
        label = "" if index is None else network.operation(index).label
        first = FirstDifference(label, row.output, row.max_abs, row.where)
        said = f"'{first.tensor}' differs from the reference{first.amount()}"
        return Finding(tuple(rows), Verdict.DIFFERENT, said, first)
    more = apart_when_optimised(off, on)
    if all(row.equal for row in off):
        return Finding(tuple(rows), Verdict.IDENTICAL, f"every element equals the reference{more}")
    for row in off:
        if not row.equal and untelling(expected[row.output][row.sample], row.bound or 0.0):
            why = (
                f"'{row.output}' is {row.max_abs:.3g} off the reference, and rounding alone may "
                f"move it by {row.bound:.3g}: too much to see padding (a quantised model?)"
            )
            return Finding(tuple(rows), Verdict.UNVERIFIED, why)
    worst = max(row.max_abs or 0.0 for row in rows if _is_fine(row))
    more += ", which is more than rounding" * (not all(map(_is_fine, on)))
    reason = f"apart from the reference by rounding, {worst:.3g} at most{more}"
    return Finding(tuple(rows), Verdict.ROUNDING, reason)


def _on_rows(
    bench: Bench, off_rows: Sequence[OutputRow], right: Mapping[str, Array], on: Results
) -> list[OutputRow]:
    """Rows for the level 'on'; a warning wherever they tell another story than `off_rows`."""
    if isinstance(on, RunFailure):
        bench.warn(f"onnxruntime's default optimiser breaks the model ({on})")
        return []
    rows = []
    for off in off_rows:
        name = off.output
        if name not in on:
            continue
        row = row_of(off.sample, name, "on", ({**right}, on), off.bound)
        rows.append(row)
        if _is_fine(off) and not _is_fine(row):
            bench.warn(f"onnxruntime's default optimiser moves '{name}' away from the reference")
        if _is_fine(row) and not _is_fine(off):
            bench.warn(
                f"'{name}' agrees with the reference only under onnxruntime's default "
                "optimisations: was the reference made with them?"
            )
    return rows


def _is_fine(row: OutputRow) -> bool:
    return row.max_abs is not None and row.max_abs <= (row.bound or 0.0)
