"""Retargetings as pages: which nodes moved, drawn before and after, and where outputs moved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from onnxpad.errors import either
from onnxpad.inspection import with_far_pad
from onnxpad.retargeting import Retargeting
from onnxpad.show.pages.changes import Changed, changes_section
from onnxpad.show.pages.page import Page, Section, Table
from onnxpad.show.pages.validations import map_card
from onnxpad.show.retargetings import (
    HEADERS,
    MOVED,
    kept_row,
    moved_row,
    retargeting_text,
    summary_text,
)
from onnxpad.show.wording import visible

if TYPE_CHECKING:
    from onnxpad.validation.distances import Distances

_SKIPS = ("node", "operator", "why it is as it was", "try")
_MAPS = 8


def retargeting_page(
    model: str, written: str | None, found: Retargeting, moved: Distances | None, objection: str
) -> Page:
    """The page about one model; `objection` is why nothing was written."""
    text = retargeting_text(model, written, found, refused=bool(objection))
    kept = tuple(tuple(map(visible, kept_row(one))) for one in found.unchanged)
    skips = tuple(
        tuple(map(visible, (one.node.label, one.op, one.skip.reason, either(one.skip.hints))))
        for one in found.skips
    )
    return Page(
        "Retargeting of",
        visible(model),
        *_verdict(found, objection, done=written is not None),
        tuple(text.rstrip("\n").split("\n\n")[0].splitlines()),
        (),
        (
            Section("breaks", "What would break", lines=tuple(map(visible, found.breaks))),
            changes_section(_changes(found)),
            Section("skips", "Left as they were", table=Table("skipped nodes", _SKIPS, skips)),
            Section(
                "unchanged",
                "Padded as asked already",
                table=Table("unchanged nodes", HEADERS, kept),
            ),
            *(_moved(moved) if moved else ()),
        ),
    )


def _verdict(found: Retargeting, objection: str, *, done: bool) -> tuple[str, str]:
    if objection:
        return "wrong", visible(f"nothing was written: {objection}")
    return "open" if found.skips else "fine", visible(summary_text(found, done=done))


def _changes(found: Retargeting) -> Iterator[Changed]:
    for one in found.changes:
        before, after = map(with_far_pad, one.chains)
        yield Changed(one.node.label, one.op, found.to, one.before, one.after, before, after)


def _moved(moved: Distances) -> Iterator[Section]:
    rows = tuple(tuple(map(visible, moved_row(row))) for row in moved.rows)
    told = [row for row in moved.rows if row.difference is not None]
    told.sort(key=lambda row: -(row.max_abs or 0.0))
    cards = tuple(
        map_card(
            f"difference-{number}",
            visible(f"sample {row.sample}, output {row.output}"),
            "",
            row.difference,
        )
        for number, row in enumerate(told[:_MAPS], 1)
        if row.difference is not None
    )
    yield Section("differences", "Where outputs moved", cards=cards, wide=True)
    lines = tuple(visible(f"warning: {one}") for one in moved.warnings)
    yield Section(
        "outputs", "How far outputs moved", lines, Table("outputs by sample", MOVED, rows)
    )
