"""Validations as pages: the verdict, where outputs differ, and what shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from onnxpad.inspection import with_far_pad
from onnxpad.padding.chain import AutoPad, Chain, Skip
from onnxpad.padding.effective_pads import effective_pads
from onnxpad.retargeting.labels import label_of
from onnxpad.show.pages.changes import Changed, changes_section
from onnxpad.show.pages.drawings import drawing_of, pads_in_front
from onnxpad.show.pages.figures import reads_figure
from onnxpad.show.pages.heatmaps import heatmap, said
from onnxpad.show.pages.page import Card, Page, Picture, Section, Table
from onnxpad.show.validations import proof_lines, rests_on, row_cells
from onnxpad.show.wording import onnx_pads_text, shape_text, visible
from onnxpad.validation import OutputRow, Validation, Verdict
from onnxpad.validation.changed_padding import ChangedPadding
from onnxpad.validation.difference_maps import DifferenceMap

STATES = {
    Verdict.PROVED: "fine",
    Verdict.IDENTICAL: "fine",
    Verdict.ROUNDING: "fine",
    Verdict.TOLERATED: "open",
    Verdict.UNVERIFIED: "open",
    Verdict.DIFFERENT: "wrong",
}
_ROWS = ("sample", "output", "optimised")
_MORE = ("difference", "allowed", "where")
_PARTS = ("changed tensor", "computed from", "sizes tried")


def validation_page(
    found: Validation,
    names: Sequence[str],
    changes: Sequence[ChangedPadding] = (),
    undrawn: str = "",
) -> Page:
    """The page about two models, or a model and a reference.

    `changes` are padded nodes that the models do not have alike, which are drawn; `undrawn` says
    why they are not.
    """
    missing = [visible(f"the changed nodes are not drawn: {undrawn}")] * bool(undrawn)
    return Page(
        "Validation of",
        visible(" against ".join(names)),
        STATES[found.verdict],
        visible(f"{found.verdict}: {found.reason}"),
        (*_lines(found), *missing),
        tuple(map(visible, found.hints)),
        (_changed(changes), *validation_sections(found)),
    )


def _changed(changes: Sequence[ChangedPadding]) -> Section:
    """Both forms of each changed node side by side, those first that read other cells."""
    told = []
    for one in changes:
        before, after = (None if c is None else with_far_pad(c) for c in (one.before, one.after))
        written = "written " * any(c and isinstance(c.padding, AutoPad) for c in (before, after))
        was, is_now = (
            _pads(chain, nodes, written)
            for chain, nodes in zip((before, after), one.nodes, strict=True)
        )
        told.append(Changed(one.label, one.op, "changed", was, is_now, before, after))
    told.sort(key=lambda one: _reads_alike(one.before, one.after))
    title = "The changed nodes, before and after"
    return changes_section(told, title)


def _reads_alike(before: Chain | None, after: Chain | None) -> bool:
    if before is None or after is None:
        return False
    return drawing_of(before) == drawing_of(after)


def _pads(chain: Chain | None, nodes: Sequence[str], written: str) -> str:
    """How a node pads, in words; of a place without it, what stands there.

    `written` is what explicit pads are called.
    """
    if chain is None:
        return ", ".join(nodes) or "nothing in its place"
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


def _lines(found: Validation) -> Iterator[str]:
    """What the text says under its tables."""
    yield from filter(None, map(visible, rests_on(found)))
    yield from (visible(f"warning: {one}") for one in found.warnings)


def validation_sections(found: Validation) -> Iterator[Section]:
    """Counterexample, heatmaps, comparisons and proved parts."""
    yield Section(
        "counterexample",
        "An input that shows it",
        lines=tuple(_counterexample(found)),
        cards=tuple(_readings(found)),
        wide=True,
    )
    yield _located(found)
    yield differing(found.outputs, found.compared)
    headers = (*_ROWS, *found.compared, *_MORE)
    rows = tuple(tuple(map(visible, row_cells(row))) for row in found.outputs)
    yield Section("outputs", "Comparisons", table=Table("outputs by sample", headers, rows))
    if found.proof is not None:
        parts = tuple(
            (visible(", ".join(one.outputs)), visible(", ".join(sorted(one.cuts))), str(one.sizes))
            for one in found.proof.regions
        )
        lines = tuple(map(visible, proof_lines(found)))
        yield Section("proof", "Proof", lines, table=Table("changed parts", _PARTS, parts))


def _located(found: Validation) -> Section:
    """A heatmap of the first tensor that differs: nothing behind it smears a border."""
    first, cards = found.first_difference, list[Card]()
    if first is not None and first.difference is not None:
        name = visible(f"{first.node}, tensor {first.tensor}")
        text = f"{_capital(first.where)}. " if first.where else ""
        cards.append(map_card("first", name, text, first.difference))
    title = "Where the difference begins"
    return Section("located", title, cards=tuple(cards), wide=True)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def differing(rows: Sequence[OutputRow], compared: Sequence[str]) -> Section:
    """Heatmaps of the rows that have a map."""
    cards: list[Card] = []
    told: set[tuple[int, str]] = set()
    for row in sorted(rows, key=lambda row: row.level != "off"):
        if row.difference is not None and (row.sample, row.output) not in told:
            told.add((row.sample, row.output))
            name = visible(f"output {row.output}, sample {row.sample}, optimisations {row.level}")
            text = f"{_capital(row.where)}. " if row.where else ""
            cards.append(map_card(f"difference-{len(cards) + 1}", name, text, row.difference))
    lines = [f"How far {compared[1]} is from {compared[0]}, at most."] * bool(cards)
    lines += dict.fromkeys(_other_shape(row, compared) for row in rows if row.other_shape)
    return Section(
        "differences", "Where outputs differ", tuple(lines), cards=tuple(cards), wide=True
    )


def _other_shape(row: OutputRow, compared: Sequence[str]) -> str:
    shapes = zip((row.shape_before, row.shape_after), compared, strict=True)
    said = " and ".join(f"{shape_text(shape)} in '{name}'" for shape, name in shapes)
    return visible(f"Output {row.output} is {said}: of other shapes there is no heatmap.")


def map_card(anchor: str, name: str, text: str, found: DifferenceMap) -> Card:
    """A heatmap with its words."""
    said_of_it = visible(f"{text}{_capital(said(found))}.")
    return Card(anchor, name, said_of_it, heatmap(found, name=name))


_PART = r"(?:\d+:\d+|\d+|\((?:\d+, )*\d+\))"


def _cells_of(name: str, said: str) -> list[range] | None:
    """The cells of each axis of an input in 'x[0, 2:5]'; those between as well."""
    match = re.search(rf"(?:^| and ){re.escape(name)}\[({_PART}(?:, {_PART})*)\]", said)
    if match is None:
        return None
    axes = [[int(n) for n in re.findall(r"\d+", part)] for part in re.findall(_PART, match[1])]
    parts = zip(re.findall(_PART, match[1]), axes, strict=True)
    return [range(n[0], n[-1] if ":" in part else n[-1] + 1) for part, n in parts]


def _readings(found: Validation) -> Iterator[Card]:
    """What each model reads of each input for the cell that differs."""
    shown = found.proof.counterexample if found.proof else None
    if shown is None or shown.cell is None:
        return
    one, other = found.compared
    for number, (name, value) in enumerate(shown.inputs.items(), 1):
        cells = [_cells_of(name, said) for said in shown.reads]
        if cells[0] and cells[1] and value.ndim and len(cells[0]) == len(cells[1]) == value.ndim:
            what = f"{name}: in red what '{one}' reads for that cell, in green what '{other}' reads"
            svg = reads_figure(value.shape, cells[0], cells[1], title=what)
            yield Card(f"reads-{number}", visible(f"input {name}"), visible(what), (Picture(svg),))


def _counterexample(found: Validation) -> Iterator[str]:
    shown = found.proof.counterexample if found.proof else None
    if shown is None:
        return
    yield visible(shown.text)
    first, second = shown.reads
    if first or second:
        yield visible(f"For that cell '{found.compared[0]}' reads {first}.")
        yield visible(f"For that cell '{found.compared[1]}' reads {second}.")
    for name, value in shown.inputs.items():
        yield visible(f"input {name} {shape_text(value.shape)}")
    yield "onnxpad validate ... --counterexample FILE writes the inputs."
