"""Validations: the verdict and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator

from onnxpad.show.tables import Terminal, table
from onnxpad.show.wording import counted, either, paragraph, shape_text, visible
from onnxpad.validation import OutputRow, ProofReport, Validation

_FIRST, _LAST = ("sample", "output", "optimised"), ("difference", "allowed", "where")
_PARTS_SHOWN = 10
_REGION = ("changed tensor", "computed from", "sizes tried")


def validation_text(validation: Validation, terminal: Terminal | None = None) -> str:
    """The outputs compared, the parts that differ, and the verdict."""
    headers = (*_FIRST, *validation.compared, *_LAST)
    names = ("output", *validation.compared, "where")
    parts = [
        table(headers, [_row(row) for row in validation.outputs], terminal, names=names),
        _proved_parts(validation.proof, terminal),
        paragraph(visible(line) for line in _parts(validation)),
        paragraph(visible(f"warning: {warning}") for warning in validation.warnings),
        paragraph(visible(line) for line in _conclusion(validation)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _conclusion(validation: Validation) -> tuple[str, ...]:
    hints = f"  try     {either(validation.hints)}" if validation.hints else ""
    rests_on = (_run(validation),) if validation.proof is None else _proof(validation.proof)
    return _first_difference(validation), *rests_on, verdict_line(validation), hints


def _proved_parts(proof: ProofReport | None, terminal: Terminal | None) -> str:
    """The changed parts that were proved, as a table."""
    if proof is None:
        return ""
    rows = [
        (", ".join(one.outputs), ", ".join(sorted(one.cuts)), str(one.sizes))
        for one in proof.regions
    ]
    shown = table(_REGION, rows[:_PARTS_SHOWN], terminal, names=_REGION[:2])
    more = len(rows) - _PARTS_SHOWN
    return shown + (f"\nand {counted(more, 'more part')}" if more > 0 else "")


def _proof(proof: ProofReport) -> tuple[str, ...]:
    """What the proof rests on; it is read beside its verdict."""
    parts = counted(len(proof.regions), "changed part")
    readings = (f"reading: {one}" for one in proof.readings)
    if proof.verdict != "proved":
        return *readings, f"{parts} proved; nothing was run"
    risk = f", with a probability of error of {proof.probability:.1e}" if proof.regions else ""
    return *readings, f"{parts} proved over the reals{risk}; nothing was run"


def verdict_line(validation: Validation) -> str:
    """'rounding: ...', with the reason."""
    return f"{validation.verdict}: {validation.reason}"


def _row(row: OutputRow) -> tuple[str, ...]:
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


def _parts(validation: Validation) -> Iterator[str]:
    """Parts that differ; behind the first of another shape the others say little."""
    shapes = [index for index, row in enumerate(validation.regions) if _says_shapes(row.where)]
    shown = min([_PARTS_SHOWN, *(index + 1 for index in shapes)])
    for row in validation.regions[:shown]:
        nodes = f"{', '.join(row.before)} against {', '.join(row.after)}"
        gap = "" if row.max_abs is None else f", difference {_number(row.max_abs)}"
        gap = f", {row.where}" if _says_shapes(row.where) else gap
        reason = f" ({row.reason})" if row.reason else ""
        yield f"sample {row.sample}, {row.verdict}: {nodes}{gap}, judged by {row.judge}{reason}"
    more = len(validation.regions) - shown
    if more > 0:
        yield f"and {counted(more, 'more part')}"


def _first_difference(validation: Validation) -> str:
    first = validation.first_difference
    if first is None:
        return ""
    known = first.max_abs is not None and not _says_shapes(first.where)
    gap = f", {_number(first.max_abs)}" if known else ""
    where = f", {first.where}" if first.where else ""
    return f"first difference: {first.node}, tensor '{first.tensor}'{gap}{where}"


def _run(validation: Validation) -> str:
    ran = [f"{role} on {', '.join(names)}" for role, names in validation.providers.items()]
    text = f"device {validation.device}"
    text += f": {'; '.join(ran)}" if ran else ""
    return text if validation.seed is None else f"{text}; random inputs of seed {validation.seed}"


def _says_shapes(where: str) -> bool:
    return where.startswith("shape ")


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g}"
