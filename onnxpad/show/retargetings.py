"""Retargetings: which nodes moved, which stayed and why, what breaks, how far outputs moved."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from onnxpad.errors import counted, few
from onnxpad.inspection import with_far_pad
from onnxpad.retargeting import Retargeting
from onnxpad.show.document import Document, Section, Table
from onnxpad.show.edited import edited_lines, script_lines, skips_section
from onnxpad.show.pages.cards import Changed, changes_section
from onnxpad.show.pages.heatmaps import maps_section
from onnxpad.show.wording import EACH, alike, idle_lines, ran_text, route_text, shape_text

if TYPE_CHECKING:
    from onnxpad.validation.distances import Distance, Distances

_ALONE = 3
"""So many nodes that stay for one reason are a row each."""
_HEADERS = ("node", "operator", "before", "after", "output")
_MOVED = ("sample", "output", "before", "after", "moved by", "relative", "elements")


def retargeting_document(  # noqa: PLR0913 - all that one report shows
    model: str,
    written: str | None,
    found: Retargeting,
    moved: Distances | None = None,
    *,
    script: bool = False,
    compared: bool = True,
    objection: str = "",
    each: bool = False,
) -> Document:
    """The report on one model: a summary, what breaks, nodes, its edit script, and skips.

    `compared` is False where a comparison was asked for and there was nothing to compare,
    `objection` is why nothing was written. Many nodes that stay for one reason are a row, unless
    `each` is asked for.
    """
    refused = f"nothing written: {objection}; " if objection else ""
    rows = Table(_HEADERS, tuple(_rows(found, each=each)), "padded nodes")
    return Document(
        "Retargeting of",
        model,
        f"{route_text(model, written)}: {refused}{summary_text(found, done=written is not None)}",
        (
            *(f"breaks: {one}" for one in found.breaks),
            *idle_lines(in_vain=not found.changed and bool(found.skips), compared=compared),
            *edited_lines(found),
        ),
        (
            changes_section(partial(_changes, found)),
            Section("nodes", "Nodes", table=rows),
            Section("script", "Edit script", code="\n".join(script_lines(found)) * script),
            skips_section(found),
            *((_outputs(moved), maps_section(moved.rows)) if moved else ()),
        ),
        "wrong" if objection else "open" if found.skips else "fine",
        "" if each or script else EACH,
    )


def _changes(found: Retargeting) -> Iterator[Changed]:
    for one in found.changes:
        chains = map(with_far_pad, one.chains)
        yield Changed(one.node.label, one.op, found.to, one.before, one.after, *chains)


def summary_text(found: Retargeting, *, done: bool) -> str:
    """'3 nodes moved to tensorflow, 8 unchanged, 0 skipped'; 'would be' if nothing is written."""
    verb = "moved" if done else "would be moved"
    goal = "as planned" if found.to == "plan" else f"to {found.to}"
    may = sum(one.may_be_resized for one in found.changes)
    resized = sum(one.resized for one in found.changes) - may
    sizes = [f"{resized} with another output size"] if resized else []
    sizes += [f"{may} whose output may have another size"] if may else []
    text = f"{counted(len(found.changes), 'node')} {verb} {goal}"
    text += f" ({', '.join(sizes)})" if sizes else ""
    return f"{text}, {len(found.unchanged)} unchanged, {len(found.skips)} skipped"


def _rows(found: Retargeting, *, each: bool) -> Iterator[tuple[str, ...]]:
    """A row for each node that moves, and for those that stay, of which many are one row."""
    for move in found.changes:
        size = shape_text(move.output_after)
        if move.resized:  # in full: shortened sizes may look alike
            size = f"[{', '.join(move.output_before)}] -> [{', '.join(move.output_after)}]"
        size += ", same values" * move.same_values
        yield move.node.label, move.op, move.before, move.after, size
    for group in alike(found.unchanged, lambda one: (one.op, one.padding, one.why)):
        said = group[0].op, group[0].padding, "unchanged", group[0].why
        nodes = [one.node.label for one in group]
        alone = each or len(nodes) <= _ALONE
        yield from ((name, *said) for name in (nodes if alone else [f"{few(nodes, 1)} (--each)"]))


def _outputs(moved: Distances) -> Section:
    """How far outputs moved."""
    rows = Table(_MOVED, tuple(map(_moved_row, moved.rows)), "outputs by sample")
    notes = (
        *(f"{row.output}: {row.why}" for row in moved.rows if row.why),
        *(f"warning: {warning}" for warning in moved.warnings),
        ran_text(moved.providers),
    )
    return Section("outputs", "How far outputs moved", table=rows, notes=notes)


def _moved_row(row: Distance) -> tuple[str, ...]:
    """The row of an output in a sample."""
    both = row.shape_before, row.shape_after
    shapes = ["-" if shape is None else shape_text(shape) for shape in both]
    if row.max_abs is None or row.relative is None or row.share is None:
        other = "another shape" if both[0] != both[1] and not row.why else "-"
        return str(row.sample), row.output, *shapes, other, "-", "-"
    numbers = f"{row.max_abs:.3g}", f"{row.relative:.3g}", f"{100 * row.share:.1f} %"
    return str(row.sample), row.output, *shapes, *numbers
