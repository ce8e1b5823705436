"""What is told of every edited model, rewritten or moved: its record, its script, skips, sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from onnxpad.errors import counted, few
from onnxpad.model.editing.script import FixSize, SetMetadata, describe_edit, edit_record
from onnxpad.model.editing.session import Edited
from onnxpad.model.shapes.recorded_facts import HOLDS_WHERE
from onnxpad.show.document import Note, Section
from onnxpad.show.wording import assumed_text, limits_text, visible

if TYPE_CHECKING:
    from onnxpad.retargeting import Retargeting
    from onnxpad.rewriting.rewrite import Rewriting
    from onnxpad.validation import Validation
    from onnxpad.validation.distances import Distances

_COMPARED = {"rewrite": "validation", "retarget": "moved"}
"""What the record of a verb calls the runs of both models."""
_DONE = {"rewrite": "rewritten", "retarget": "moved"}
"""What a verb calls a model that it changed."""


def edited_record(  # noqa: PLR0913 - all that one record holds
    verb: str,
    model: str,
    written: str | None,
    found: Rewriting | Retargeting,
    compared: Validation | Distances | None = None,
    *,
    script: bool = False,
    refused: str = "",
) -> dict[str, Any]:
    """The report on one model as plain data; `written` is the file, or null where nothing was.

    `refused` says what spoke against writing it. `status` is 'rewritten' or 'moved', 'would be'
    that where nothing was to be written, 'unchanged' or 'not written'.
    """
    status = "not written" if refused else "unchanged"
    if found.changed and not refused:
        status = _DONE[verb] if written else f"would be {_DONE[verb]}"
    fate = {"status": status, "written": written, "refused": refused or None}
    record: dict[str, Any] = {"file": model} | fate | found.to_json()
    if script:
        record["script"] = [edit_record(edit) for edit in found.script]
    record[_COMPARED[verb]] = None if compared is None else compared.to_json()
    return record


def script_lines(found: Edited) -> Iterator[str]:
    """The edit script, one line for each edit."""
    return (visible(describe_edit(edit)) for edit in found.script)


def skips_section(found: Rewriting | Retargeting) -> Section:
    """Which nodes passes or a convention left, why, and what to try."""
    notes = []
    for skip in found.skips:
        by = getattr(skip, "rule", getattr(found, "to", ""))
        head = f"skip: {by}, {skip.op} '{skip.node.label}'"
        notes.append(Note(head, skip.skip.reason, tuple(skip.skip.hints)))
    return Section("skips", "Left as they were", tuple(notes))


def edited_lines(found: Rewriting | Retargeting) -> Iterator[str]:
    """What was done to the model as a whole, where the result holds, and what the model says."""
    if names := few(found.inlined, 2):
        yield f"note: local functions are written out at every call: {names}"
    yield from limits_text(found.limits_met)
    if not found.changed or not found.relied_on:
        return
    fixed = [f"{edit.dimension}={edit.size}" for edit in found.script if isinstance(edit, FixSize)]
    noted = [edit.value for edit in found.script if isinstance(edit, SetMetadata)]
    said = [f"{', '.join(fixed)} in its inputs"] if fixed else []
    said += [f"{one} in its metadata ({HOLDS_WHERE})" for one in noted]
    yield assumed_text(found.relied_on)
    if said:
        yield f"so the model itself says: {', '.join(said)}"


def although_unfit_text(found: Rewriting) -> str:
    """What writes the nodes for which there is a way, where others are in its way; else ''."""
    plans = found.fitting.plans if found.fitting and found.unfit else ()
    helped = {one.node for one in plans} - {one.node for one in found.unfit}
    nodes = counted(len(helped), "node")
    return f"--although-unfit, which rewrites {nodes} all the same" if helped else ""
