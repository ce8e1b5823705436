"""Validations: the verdict, what it rests on, and where outputs differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import inf, isnan

from onnxpad.errors import counted
from onnxpad.inspection import with_far_pad
from onnxpad.padding.chain import AutoPad, Chain, Skip
from onnxpad.padding.effective_pads import effective_pads
from onnxpad.retargeting.labels import label_of
from onnxpad.show.document import Card, Document, Medium, Section, Table
from onnxpad.show.pages.changes import Changed, changes_section
from onnxpad.show.pages.drawings import drawing_of, pads_in_front
from onnxpad.show.wording import onnx_pads_text, runs_text, shape_text
from onnxpad.validation import OutputRow, Validation, Verdict
from onnxpad.validation.changed_padding import ChangedPadding
from onnxpad.validation.report import ToleranceReport

STATES = {
    Verdict.PROVED: "fine",
    Verdict.IDENTICAL: "fine",
    Verdict.ROUNDING: "fine",
    Verdict.TOLERATED: "open",
    Verdict.UNVERIFIED: "open",
    Verdict.DIFFERENT: "wrong",
}
_FIRST, _LAST = ("sample", "output", "optimised"), ("difference", "allowed", "where")
_ROWS_SHOWN = 10
_NEITHER = None, None
_REGION = ("changed tensor", "computed from", "sizes tried")


def validation_document(
    found: Validation,
    names: Sequence[str] = (),
    changes: Sequence[ChangedPadding] = (),
    undrawn: str = "",
    *,
    each: bool = False,
) -> Document:
    """The verdict, outputs that differ, the worst first, and what was proved and run.

    `changes` are padded nodes that the models do not have alike, which are drawn; `undrawn` says
    why they are not. Every comparison and every proved part is told with `each`.
    """
    sections = validation_sections(found, each=each)
    return Document(
        "Validation of",
        " against ".join(names),
        f"{found.verdict}: {found.reason}",
        (),
        (_changed(changes, undrawn), *sections, *basis_sections(found)),
        STATES[found.verdict],
        hints=found.hints,
    )


def basis_sections(found: Validation) -> tuple[Section, ...]:
    """Warnings, and what the verdict rests on."""
    warnings = tuple(f"warning: {warning}" for warning in found.warnings)
    return Section("warnings", "", warnings), Section("basis", "", tuple(_basis(found)))


def validation_sections(found: Validation, *, each: bool = False) -> Iterator[Section]:
    """Counterexample, heatmaps, comparisons and proved parts."""
    yield Section(
        "counterexample",
        "An input that shows it",
        tuple(_counterexample(found)),
        medium=Medium.PAGE,
    )
    yield _located(found)
    yield differing(found.outputs, found.compared)
    yield _outputs(found, each=each)
    yield _parts(found, each=each)


def _outputs(found: Validation, *, each: bool) -> Section:
    """Comparisons; of outputs that one model did not give none where both are proved the same."""
    headers = (*_FIRST, *found.compared, *_LAST)
    names = ("output", *found.compared, "where")
    shapes = ((row, (row.shape_before, row.shape_after)) for row in found.outputs)
    is_proved = found.verdict is Verdict.PROVED
    ran = (row for row, both in shapes if not (None in both if is_proved else both == _NEITHER))
    apart = sorted((row for row in ran if not row.equal), key=_badness, reverse=True)
    shown = found.outputs if each else apart[:_ROWS_SHOWN]
    rows = Table(headers, tuple(map(_row, shown)), "outputs by sample", names)
    left = 0 if each else len(apart) - len(shown)
    more = f"and {counted(left, 'more comparison')} with a difference" if left else ""
    return Section("outputs", "Comparisons", table=rows, notes=(more,))


def _parts(found: Validation, *, each: bool) -> Section:
    """The changed parts that were proved; a terminal has them where nothing was run."""
    regions = found.proof.regions if found.proof else ()
    shown = regions if each else regions[:_ROWS_SHOWN]
    rows = tuple(
        (", ".join(one.outputs), ", ".join(sorted(one.cuts)), str(one.sizes)) for one in shown
    )
    left = len(regions) - len(shown)
    more = f"and {counted(left, 'more part')}" if left else ""
    medium = Medium.PAGE if found.run else Medium.EVERYWHERE
    parts = Table(_REGION, rows, "changed parts", _REGION[:2])
    return Section("proof", "Proof", table=parts, notes=(more,), medium=medium)


def _badness(row: OutputRow) -> tuple[bool, bool, float]:
    """Another shape is worse than a number, and what lies beyond its bound than what does not."""
    gap = row.max_abs
    if row.other_shape or gap is None:
        return True, True, 0.0
    beyond = row.bound is None or not gap <= row.bound
    return False, beyond, inf if isnan(gap) else gap


def _basis(validation: Validation) -> Iterator[str]:
    """What differs first, what was proved, what was run, and what was allowed."""
    yield _first_difference(validation)
    if validation.proof is not None:
        yield from _proof_lines(validation)
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


def _proof_lines(validation: Validation) -> Iterator[str]:
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


def _row(row: OutputRow) -> tuple[str, ...]:
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


def _changed(changes: Sequence[ChangedPadding], undrawn: str) -> Section:
    """Both forms of each changed node side by side, those first that read other cells."""
    missing = f"the changed nodes are not drawn: {undrawn}" if undrawn else ""
    title = "The changed nodes, before and after"
    return changes_section(partial(_changed_nodes, changes), title, (missing,))


def _changed_nodes(changes: Sequence[ChangedPadding]) -> Sequence[Changed]:
    told = []
    for one in changes:
        before, after = (None if c is None else with_far_pad(c) for c in (one.before, one.after))
        written = "written " * any(c and isinstance(c.padding, AutoPad) for c in (before, after))
        was, is_now = _pads(before, written), _pads(after, written)
        told.append(Changed(one.label, one.op, "changed", was, is_now, before, after))
    told.sort(key=lambda one: _reads_alike(one.before, one.after))
    return told


def _reads_alike(before: Chain | None, after: Chain | None) -> bool:
    if before is None or after is None:
        return False
    return drawing_of(before) == drawing_of(after)


def _pads(chain: Chain | None, written: str) -> str:
    """How a node pads, in words; `written` is what explicit pads are called."""
    if chain is None:
        return "no such node in its place"
    pads = effective_pads(chain)
    if isinstance(pads, Skip) or not chain.axes:
        return label_of(chain)
    said = f"pads {onnx_pads_text(pads.flat)}"
    if isinstance(chain.padding, AutoPad):
        said = f"auto_pad {chain.padding}, which gives {said}"
    else:
        said = f"{written}{said}"
    front = pads_in_front(chain)
    said += ", rounding up" if chain.ceil_mode else ""
    said += ", counting padding" if chain.counts_padding and any(pads.flat) else ""
    return said + (f", behind a Pad of {onnx_pads_text(front.flat)}" if any(front.flat) else "")


def _located(found: Validation) -> Section:
    """A heatmap of the first tensor that differs: nothing behind it smears a border."""
    title = "Where the difference begins"
    return Section(
        "located", title, cards=partial(_first_map, found), wide=True, medium=Medium.PAGE
    )


def _first_map(found: Validation) -> Iterator[Card]:
    from onnxpad.show.pages.heatmaps import capital, map_card

    first = found.first_difference
    if first is not None and first.difference is not None:
        name = f"{first.node}, tensor {first.tensor}"
        text = f"{capital(first.where)}. " if first.where else ""
        yield map_card("first", name, text, first.difference)


def differing(rows: Sequence[OutputRow], compared: Sequence[str]) -> Section:
    """Heatmaps of the rows that have a map."""
    drawn = any(row.difference is not None for row in rows)
    lines = [f"How far {compared[1]} is from {compared[0]}, at most."] * drawn
    lines += dict.fromkeys(_other_shape(row, compared) for row in rows if row.other_shape)
    return Section(
        "differences",
        "Where outputs differ",
        tuple(lines),
        cards=partial(_maps, rows),
        wide=True,
        medium=Medium.PAGE,
    )


def _maps(rows: Sequence[OutputRow]) -> Iterator[Card]:
    """A heatmap for each output of a sample, without optimisations where there is one."""
    from onnxpad.show.pages.heatmaps import capital, map_card

    drawn: set[tuple[int, str]] = set()
    for row in sorted(rows, key=lambda row: row.level != "off"):
        if row.difference is not None and (row.sample, row.output) not in drawn:
            drawn.add((row.sample, row.output))
            name = f"output {row.output}, sample {row.sample}, optimisations {row.level}"
            text = f"{capital(row.where)}. " if row.where else ""
            yield map_card(f"difference-{len(drawn)}", name, text, row.difference)


def _other_shape(row: OutputRow, compared: Sequence[str]) -> str:
    shapes = zip((row.shape_before, row.shape_after), compared, strict=True)
    said = " and ".join(f"{shape_text(shape)} in '{name}'" for shape, name in shapes)
    return f"Output {row.output} is {said}: of other shapes there is no heatmap."


def _counterexample(found: Validation) -> Iterator[str]:
    shown = found.proof.counterexample if found.proof else None
    if shown is None:
        return
    yield shown.text
    first, second = shown.reads
    if first or second:
        yield f"For that cell '{found.compared[0]}' reads {first}."
        yield f"For that cell '{found.compared[1]}' reads {second}."
    for name, value in shown.inputs.items():
        yield f"input {name} {shape_text(value.shape)}"
    yield "onnxpad validate ... --counterexample FILE writes the inputs."
