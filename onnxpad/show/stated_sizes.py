"""What an edited model says of the sizes that its user stated."""

from __future__ import annotations

from onnxpad.model.editing.script import FixSize, SetMetadata
from onnxpad.model.editing.session import Edited
from onnxpad.model.editing.stated_sizes import HOLDS_WHERE
from onnxpad.show.wording import assumed_text, paragraph, visible


def relied_text(found: Edited) -> str:
    """Where the result holds, and what of that the model itself says from now on."""
    if not found.changed or not found.relied_on:
        return ""
    fixed = [f"{edit.dimension}={edit.size}" for edit in found.script if isinstance(edit, FixSize)]
    noted = [edit.value for edit in found.script if isinstance(edit, SetMetadata)]
    said = [f"{', '.join(fixed)} in its inputs"] if fixed else []
    said += [f"{one} in its metadata ({HOLDS_WHERE})" for one in noted]
    written = f"so the model itself says: {', '.join(said)}" if said else ""
    return paragraph([assumed_text(found.relied_on), visible(written)])
