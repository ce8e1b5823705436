"""Validations: the verdict and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isnan

from onnxpad.errors import counted, either
from onnxpad.show.tables import Terminal, table
from onnxpad.show.wording import paragraph, runs_text, shape_text, visible
from onnxpad.validation import OutputRow, ProofReport, Validation, Verdict
from onnxpad.validation.report import ToleranceReport

_FIRST, _LAST = ("sample", "output", "optimised"), ("difference", "allowed", "where")
_ROWS_SHOWN = 10
_NEITHER = None, None
_REGION = ("changed tensor", "computed from", "sizes tried")


def validation_text(validation: Validation, terminal: Terminal | None = None) -> str:
    """The verdict, outputs that differ, the worst first, and what was proved and run.

    Of outputs that one model did not give nothing is told where both are proved to be the same.
    """
    headers = (*_FIRST, *validation.compared, *_LAST)
    names = ("output", *validation.compared, "where")
    shapes = ((row, (row.shape_before, row.shape_after)) for row in validation.outputs)
    is_proved = validation.verdict is Verdict.PROVED
    ran = (row for row, both in shapes if not (None in both if is_proved else both == _NEITHER))
    apart = sorted((row for row in ran if not row.equal), key=_badness, reverse=True)
    rows = [row_cells(row) for row in apart[:_ROWS_SHOWN]]
    more = len(apart) - len(rows)
    parts = [
        paragraph(map(visible, _verdict(validation))),
        table(headers, rows, terminal, names=names)
        + (f"\nand {counted(more, 'more comparison')} with a difference" if more else ""),
        "" if validation.run else _proved_parts(validation.proof, terminal),
        paragraph(visible(f"warning: {warning}") for warning in validation.warnings),
        paragraph(visible(line) for line in rests_on(validation)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _badness(row: OutputRow) -> tuple[bool, bool, float]:
    """Another shape is worse than a number, and what lies beyond its bound than what does not."""
    gap = row.max_abs
    if row.other_shape or gap is None:
        return True, True, 0.0
    beyond = row.bound is None or not gap <= row.bound
    return False, beyond, inf if isnan(gap) else gap


def _verdict(validation: Validation) -> Iterator[str]:
    yield f"{validation.verdict}: {validation.reason}"
    if validation.hints:
        yield f"  try     {either(validation.hints)}"


def rests_on(validation: Validation) -> Iterator[str]:
    """What differs first, what was proved, what was run, and what was allowed."""
    yield _first_difference(validation)
    if validation.proof is not None:
        yield from proof_lines(validation)
    if validation.run is not None and (validation.providers or not validation.runtimes):
        yield _run(validation)
    runs = validation.runtimes
    yield from (
        said
        for ran, said in zip(runs, runs_text(runs), strict=True)
        if ran.sentence != validation.reason
    )
    if (asked := validation.tolerance) is not None:
        yield tolerance_line(asked)


def tolerance_line(asked: ToleranceReport) -> str:
    """What was asked for, and how much of it was used."""
    return (
        f"tolerance: atol {asked.atol:g}, rtol {asked.rtol:g}; the largest difference is "
        f"{_number(asked.share)} of it"
    )


def _proved_parts(proof: ProofReport | None, terminal: Terminal | None) -> str:
    """The changed parts that were proved, as a table."""
    if proof is None:
        return ""
    rows = [
        (", ".join(one.outputs), ", ".join(sorted(one.cuts)), str(one.sizes))
        for one in proof.regions
    ]
    shown = table(_REGION, rows[:_ROWS_SHOWN], terminal, names=_REGION[:2])
    more = len(rows) - _ROWS_SHOWN
    return shown + (f"\nand {counted(more, 'more part')}" if more > 0 else "")


def proof_lines(validation: Validation) -> Iterator[str]:
    """What the proof rests on; it is read beside the verdict."""
    proof = validation.proof
    if proof is None:
        return
    yield from (f"reading: {one}" for one in proof.readings)
    alone = "" if validation.run else "; nothing was run"
    proved = counted(len(proof.regions), "changed part") if proof.regions else "nothing"
    parts = f"{proved} proved"
    if proof.verdict == "refuted":
        rest = f"; {counted(len(proof.regions), 'other changed part')} proved"
        parts = "refuted: an input shows that the models differ" + rest * bool(proof.regions)
    if proof.verdict == "proved":
        parts += f" over the reals, with a probability of error of {proof.probability:.1e}"
        parts = parts if proof.regions else "nothing changed, nothing to prove"
    elif proof.verdict == "undecided" and validation.verdict is not Verdict.UNVERIFIED:
        parts = f"not proved and not refuted: {proof.obstacle}"
    yield parts + alone


def row_cells(row: OutputRow) -> tuple[str, ...]:
    """What stands in the row of a comparison."""
    return (
        str(row.sample),
        row.output,
        row.level,
        "-" if row.shape_before is None else shape_text(row.shape_before),
        "-" if row.shape_after is None else shape_text(row.shape_after),
        _difference(row),
        "-" if row.bound is None else _number(row.bound),
        row.where or "-",
    )


def _difference(row: OutputRow) -> str:
    if row.equal:
        return "none"
    return "shape" if row.other_shape else _number(row.max_abs)


def _first_difference(validation: Validation) -> str:
    first = validation.first_difference
    if first is None:
        return ""
    known = first.max_abs is not None and not _says_shapes(first.where)
    gap = f", {_number(first.max_abs)}" if known else ""
    where = f", {first.where}" if first.where else ""
    names = {row.output for row in validation.outputs}
    if validation.compared[:1] == ("reference",) and names == {first.tensor}:
        return f"compared: '{first.tensor}' alone, so where the difference begins is not known"
    return f"first difference: {first.node}, tensor '{first.tensor}'{gap}{where}"


def _run(validation: Validation) -> str:
    """What was run where, and how much of it agrees to the bit."""
    ran = [f"{role} on {', '.join(names)}" for role, names in validation.providers.items()]
    text = f"device {validation.device}"
    text += f": {'; '.join(ran)}" if ran else ""
    text += "" if validation.seed is None else f"; random inputs of seed {validation.seed}"
    equal = sum(row.equal for row in validation.outputs)
    return f"{text}; {counted(equal, 'comparison')} without a difference" if equal else text


def _says_shapes(where: str) -> bool:
    return where.startswith("shape ")


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g}"
