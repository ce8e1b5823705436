"""A model with the edits that a session made in it, and the session that makes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike

from onnxpad.graph.editing.edits import Edit
from onnxpad.graph.editing.session import Session
from onnxpad.graph.models import Opened, Result, proto_of, with_weights
from onnxpad.graph.reading.chains import Preferences
from onnxpad.graph.storage.files import Source, save, write_unchanged


@dataclass(frozen=True, eq=False, kw_only=True)
class Edited:
    """What was edited and how.

    `edited` is what was worked on: a ModelProto, without its large weights where it was read from
    a file, or the Graph that was given. `script` are the edits, `assumed` the sizes that the user
    stated.
    """

    edited: Result
    script: tuple[Edit, ...]
    assumed: Mapping[str, int | str]
    source: Source | None = None

    @cached_property
    def model(self) -> Result:
        """The edited ModelProto, or the Graph that was given, edited in place."""
        return with_weights(self.edited, self.source)

    @property
    def changed(self) -> bool:
        """Whether anything was edited; changes that take each other back are none."""
        return bool(self.script)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model: byte for byte the input where nothing changed.

        External data stays where it is when the folder is the same, and is copied otherwise.
        Raises ModelError where the target cannot be written; nothing half-written stays.
        """
        if not self.changed and self.source is not None:
            write_unchanged(self.source, path)
        else:
            save(proto_of(self.edited), path, source=self.source)


def session_on(
    opened: Opened,
    dims: Mapping[str, int | str] | None,
    preferences: Preferences,
    *,
    thorough: bool = False,
) -> Session:
    """A session on what was opened; a Graph lends it its structure without weights."""
    return Session(
        opened.model,
        dims=dims,
        source=opened.source,
        prefer=preferences,
        owned=opened.owned,
        weightless=opened.surgeon is not None,
        thorough=thorough,
    )


def finish(session: Session, opened: Opened) -> Result:
    """The edited model, or the Graph that was given, which gets the edits in place."""
    model = session.finish()
    if opened.surgeon is None:
        return model
    from onnxpad.graph.surgery.following import apply_script

    apply_script(opened.surgeon, session.script)
    return opened.surgeon
