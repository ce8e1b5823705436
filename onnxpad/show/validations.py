"""Validations: the verdict, what it rests on, and where outputs differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, isnan

from onnxpad.errors import counted, either
from onnxpad.show.document import Document, Section, Table
from onnxpad.show.pages.heatmaps import maps_section
from onnxpad.show.wording import ran_text, runs_text, shape_text, visible
from onnxpad.validation import OutputRow, Validation, Verdict
from onnxpad.validation.report import ToleranceReport

STATES = {
    Verdict.PROVED: "fine",
    Verdict.IDENTICAL: "fine",
    Verdict.ROUNDING: "fine",
    Verdict.TOLERATED: "open",
    Verdict.UNVERIFIED: "open",
    Verdict.DIFFERENT: "wrong",
}


def validation_document(
    found: Validation,
    names: Sequence[str] = (),
    *,
    each: bool = False,
) -> Document:
    """The verdict, outputs that differ, the worst first, and what was proved and run.

    Every comparison is told with `each`.
    """
    unproved = _undecided(found) if found.ok else ()
    return Document(
        "Validation of",
        " against ".join(names),
        f"{found.verdict}: {found.reason}",
        (f"  try     {either(found.hints)}" if found.hints else "",),
        (
            maps_section(found.outputs, found.first_difference),
            _outputs(found, each=each),
            Section("basis", "", (*_warnings(found), *_basis(found))),
        ),
        STATES[found.verdict],
        "" if each else "--json",
        line=visible(
            "; ".join((f"{', '.join(names)}: {found.verdict}: {found.reason}", *unproved))
        ),
    )


def validated_lines(found: Validation) -> Iterator[str]:
    """The verdict on what another command wrote, why what was run is not proved, and warnings."""
    yield f"validation: {found.verdict}: {found.reason}"
    yield from _undecided(found) if found.ok else ()
    yield from _warnings(found)


def _warnings(found: Validation) -> Iterator[str]:
    return (f"warning: {warning}" for warning in found.warnings)


def _undecided(found: Validation) -> Iterator[str]:
    if found.proof is not None and found.proof.verdict == "undecided":
        yield f"not proved and not refuted: {found.proof.obstacle}"


def _outputs(found: Validation, *, each: bool) -> Section:
    """Comparisons that differ, the worst first; of one model alone, where none is proved."""
    allowed = 0 if found.verdict is Verdict.PROVED else 1
    apart = (
        row
        for row in found.outputs
        if not row.equal and (row.shape_before, row.shape_after).count(None) <= allowed
    )
    rows = map(_row, found.outputs if each else sorted(apart, key=_badness, reverse=True))
    headers = ("sample", "output", "optimised", *found.compared, "difference", "allowed")
    return Section("outputs", "Comparisons", table=Table(headers, tuple(rows), "outputs by sample"))


def _row(row: OutputRow) -> tuple[str, ...]:
    difference = "shape" if row.other_shape else _number(row.max_abs)
    return (
        str(row.sample),
        row.output,
        row.level,
        *("-" if s is None else shape_text(s) for s in (row.shape_before, row.shape_after)),
        "none" if row.equal else difference,
        "-" if row.bound is None else _number(row.bound),
    )


def _badness(row: OutputRow) -> tuple[bool, bool, float]:
    """Another shape is worse than a number, and what lies beyond its bound than what does not."""
    gap = row.max_abs
    if row.other_shape or gap is None:
        return True, True, 0.0
    return False, row.bound is None or not gap <= row.bound, inf if isnan(gap) else gap


def _basis(found: Validation) -> Iterator[str]:
    """What differs first, what was proved, what was run, and what was allowed."""
    first, proof = found.first_difference, found.proof
    if first is not None and f"'{first.tensor}'" not in found.reason:
        gap = "" if first.max_abs is None else f", {_number(first.max_abs)}"
        where = f", {first.where}" if first.where else ""
        yield f"first difference: {first.node}, tensor '{first.tensor}'{gap}{where}"
    yield from (f"reading: {one}" for one in (proof.readings if proof else ()))
    if proof is not None and proof.verdict == "proved":
        error = f"with a probability of error of {proof.probability:.1e}"
        parts = f"{counted(len(proof.regions), 'changed part')} proved over the reals, {error}"
        yield parts if proof.regions else "nothing changed, nothing to prove"
    elif found.verdict is not Verdict.UNVERIFIED:
        yield from _undecided(found)
    if found.run is None:
        yield "nothing was run"
    elif found.providers or not found.runtimes:
        ran = ran_text(found.providers)
        equal = sum(row.equal for row in found.outputs)
        parts = f"device {found.device}{f': {ran}' if ran else ''}"
        parts += "" if found.seed is None else f"; random inputs of seed {found.seed}"
        yield parts + f"; {counted(equal, 'comparison')} without a difference" * bool(equal)
    yield from (said for said in runs_text(found.runtimes) if said != found.reason)
    if found.tolerance is not None:
        yield tolerance_line(found.tolerance)


def tolerance_line(asked: ToleranceReport) -> str:
    """What was asked for, and how much of it was used."""
    return (
        f"tolerance: atol {asked.atol:g}, rtol {asked.rtol:g}; the largest difference is "
        f"{_number(asked.share)} of it"
    )


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g}"
