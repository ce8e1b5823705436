"""Retargetings: which nodes moved, which stayed and why, what breaks, how far outputs moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from onnxpad.errors import counted, few
from onnxpad.retargeting import Kept, Move, Retargeting
from onnxpad.show.edited import inlined_text, relied_text, script_text, skip_text
from onnxpad.show.tables import Terminal, table
from onnxpad.show.wording import (
    idle_text,
    limits_text,
    paragraph,
    route_text,
    shape_text,
    visible,
)

if TYPE_CHECKING:
    from onnxpad.validation.distances import Distance, Distances

_LONGEST_SIZE = 16
_ALONE = 3
"""So many nodes that stay for one reason are a row each."""
HEADERS = ("node", "operator", "before", "after", "output")
MOVED = ("sample", "output", "before", "after", "moved by", "relative", "elements")


def retargeting_text(  # noqa: PLR0913 - all that one report shows
    model: str,
    written: str | None,
    found: Retargeting,
    moved: Distances | None = None,
    *,
    script: bool = False,
    compared: bool = True,
    refused: bool = False,
    each: bool = False,
    terminal: Terminal | None = None,
) -> str:
    """The report on one model: a summary, what breaks, nodes, its edit script, and skips.

    `compared` is False where a comparison was asked for and there was nothing to compare, `refused`
    says that something spoke against writing the model. Many nodes that stay for one reason are a
    row, unless `each` is asked for.
    """
    summary = [
        visible(
            f"{route_text(model, written)}: {'nothing written; ' if refused else ''}"
            f"{summary_text(found, done=written is not None)}"
        ),
        paragraph(visible(f"breaks: {one}") for one in found.breaks),
        idle_text(in_vain=not found.changed and bool(found.skips), compared=compared),
        inlined_text(found),
        *limits_text(found.limits_met),
        relied_text(found),
    ]
    names: dict[str, str] = {}
    parts = [
        paragraph(summary),
        table(HEADERS, _rows(found, names, each=each), terminal, names=("node",)),
        paragraph(visible(f"{name} = {size}") for size, name in names.items()),
        script_text(found) if script else "",
        paragraph(skip_text(one, found.to) for one in found.skips),
        _moved_text(moved, terminal),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def summary_text(found: Retargeting, *, done: bool) -> str:
    """'3 nodes moved to tensorflow, 8 unchanged, 0 skipped'; 'would be' if nothing is written."""
    verb = "moved" if done else "would be moved"
    goal = "as planned" if found.to == "plan" else f"to {found.to}"
    text = f"{counted(len(found.changes), 'node')} {verb} {goal}"
    may = sum(one.may_be_resized for one in found.changes)
    resized = sum(one.resized for one in found.changes) - may
    sizes = [f"{resized} with another output size"] if resized else []
    sizes += [f"{may} whose output may have another size"] if may else []
    text += f" ({', '.join(sizes)})" if sizes else ""
    return f"{text}, {len(found.unchanged)} unchanged, {len(found.skips)} skipped"


def _rows(found: Retargeting, names: dict[str, str], *, each: bool) -> list[Sequence[str]]:
    """A row for each node that moves, and for those that stay; `names` get long sizes."""
    moved = [_move_row(move, names) for move in found.changes]
    kept = [list(kept_row(one)) for one in found.unchanged]
    return [*moved, *(kept if each else _together(kept))]


def _together(rows: Sequence[list[str]]) -> Iterator[list[str]]:
    """Rows that say the same of many nodes as one, which names the first of them."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, *said in rows:
        alike.setdefault(tuple(said), []).append(name)
    for cells, nodes in alike.items():
        if len(nodes) > _ALONE:
            yield [f"{few(nodes, 1)} (--each)", *cells]
        else:
            yield from ([name, *cells] for name in nodes)


def _move_row(move: Move, names: dict[str, str]) -> Sequence[str]:
    size = f"{_sizes(move.output_before, names)} -> " if move.resized else ""
    size += _sizes(move.output_after, names)
    if move.same_values:
        size += ", same values"
    return (move.node.label, move.op, move.before, move.after, size)


def _sizes(sizes: Sequence[str], names: dict[str, str]) -> str:
    """'1x8xs1xs1': what is too long for a cell has a name."""
    return "x".join(
        size if len(size) <= _LONGEST_SIZE else names.setdefault(size, f"s{len(names) + 1}")
        for size in sizes
    )


def kept_row(kept: Kept) -> Sequence[str]:
    """The row of a node that pads as asked already."""
    return (kept.node.label, kept.op, kept.padding, "unchanged", kept.why)


def _moved_text(moved: Distances | None, terminal: Terminal | None) -> str:
    if moved is None:
        return ""
    rows = [moved_row(row) for row in moved.rows]
    lines = [visible(f"{row.output}: {row.why}") for row in moved.rows if row.why]
    lines += [visible(f"warning: {warning}") for warning in moved.warnings]
    ran = [f"{role} on {', '.join(names)}" for role, names in moved.providers.items()]
    return paragraph([table(MOVED, rows, terminal, names=("output",)), *lines, "; ".join(ran)])


def moved_row(row: Distance) -> Sequence[str]:
    """The row of an output in a sample."""
    shapes = [
        "-" if shape is None else shape_text(shape) for shape in (row.shape_before, row.shape_after)
    ]
    if row.max_abs is None or row.relative is None or row.share is None:
        other = row.shape_before != row.shape_after and not row.why
        return (str(row.sample), row.output, *shapes, "another shape" if other else "-", "-", "-")
    share = f"{100 * row.share:.1f} %"
    return (
        str(row.sample),
        row.output,
        *shapes,
        f"{row.max_abs:.3g}",
        f"{row.relative:.3g}",
        share,
    )
