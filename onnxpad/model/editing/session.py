"""One model being worked on: read, changed by edit scripts, read again, handed back."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

from onnx import ModelProto

from onnxpad.errors import RequestError
from onnxpad.model.editing.apply import ProtoApplier
from onnxpad.model.editing.emit import emit
from onnxpad.model.editing.script import Edit, ForgetType, Names
from onnxpad.model.files.contents import is_standard
from onnxpad.model.files.delivery import save, write_unchanged
from onnxpad.model.files.onnx_file import Source, completed
from onnxpad.model.graph.broken import refuse_broken
from onnxpad.model.graph.types import Type
from onnxpad.model.opened import ModelOrGraph, Opened, proto_of
from onnxpad.model.reading.survey import Site, Survey
from onnxpad.padding.chain import NO_PREFERENCE, Chain, Preferences
from onnxpad.padding.expansion import Expansion
from onnxpad.verbs import is_path

if TYPE_CHECKING:
    from onnxpad.model.opened import Carried

Result = TypeVar("Result")


class EditSession(Survey):
    """Holds the document of one model between passes.

    The model is changed in place, from the first edit on; `script` is what was done to it.
    `owned` False makes the session work on a copy as soon as something changes. `source` is
    where the model was read from; `weightless` marks the structure of a Graph, whose weights
    cannot be read.
    """

    def __init__(  # noqa: PLR0913  what a Survey takes, and two of its own
        self,
        model: ModelProto,
        *,
        dims: Mapping[str, int | str] | None = None,
        source: Source | None = None,
        prefer: Preferences = NO_PREFERENCE,
        owned: bool = True,
        weightless: bool = False,
        types: Mapping[str, Type] | None = None,
        keeps_functions: str = "",
    ) -> None:
        folder = source.folder if source else None
        known: dict[str, Any] = {"dims": dims, "folder": folder, "types": types}
        known["keeps_functions"] = keeps_functions
        super().__init__(model, prefer=prefer, **known)
        self._owned = owned
        self._weights = None if weightless else source or Source(None, None)
        self._memory: dict[tuple[str, int], tuple[Chain, Any]] = {}
        self.script: list[Edit] = []
        self._start_editing()

    def fork(self) -> EditSession:
        """A session that goes on from here; before anything has changed, which it leaves as it is.

        It has read the model already, and works on a copy as soon as something changes.
        """
        other: EditSession = copy(self)
        other._owned = False
        other._given = {"": dict(self._types)}
        other.script = []
        return other

    def change(self, site: Site, after: Chain | Expansion) -> list[Edit]:
        """Make the node compute `after`; the edits are applied and remembered."""
        self.own()
        site = {**self._sites, **(self._compounds or {})}[site.address.id]
        self._stale = True
        # What takes the place of the node writes the same types.
        given = self._given.setdefault(site.address.scope, {})
        given |= {name: site.context.type_of(name) for name in site.node.outputs if name}
        edits = self._applier.apply(emit(site, after, self.names))
        for edit in edits:
            if isinstance(edit, ForgetType):
                self._given.get(edit.maker.scope, {}).pop(edit.tensor, None)
        self.script += edits
        return edits

    def restate(self, edits: Sequence[Edit]) -> None:
        """Edits of what the file says of the whole model and of sizes, or of other nodes."""
        if edits:
            self.own()
            self._stale = True
            self.script += self._applier.apply(edits)

    @property
    def is_edited(self) -> bool:
        """Whether there are edits, so that the model is written as it is read."""
        return bool(self.script)

    @property
    def inlined(self) -> tuple[str, ...]:
        """Functions that are written out in what is written."""
        calls = self.document.written_out if self.script else ()
        return tuple(f"{call.domain}:{call.op_type}" for call in calls)

    def remembered(self, name: str, chain: Chain, compute: Callable[[], Result]) -> Result:
        """The result of a pass on a chain, computed once: equal chains are read as one object."""
        key = (name, id(chain))
        if key not in self._memory:
            self._memory[key] = (chain, compute())
        result: Result = self._memory[key][1]
        return result

    def finish(self) -> ModelProto:
        """Write new nodes into the model and give it back."""
        self._applier.finish()
        return self.document.model

    def _start_editing(self) -> None:
        self.names = Names(self.document)
        self._applier = ProtoApplier(self.document, self._weights)

    def own(self) -> None:
        """Edits begin: from here on nodes and names are those of the model that is edited."""
        if self._owned:
            return
        model = ModelProto()
        model.CopyFrom(self.document.model)
        self._owned = True
        self._move_to(model)
        self._start_editing()


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Edited:
    """What was edited and how.

    `edited` is what was worked on: a ModelProto, without its large weights where it was read from
    a file, or the Graph that was given. `script` are the edits, `assumed` the sizes that the user
    stated, `relied_on` the same where the result rests on them: sizes of inputs
    are written into the model, other facts into its metadata as `onnxpad.holds_where`.
    `limits_met` says what of native code was ended at its limit of time or memory. `inlined` are
    the local functions that are written out where they are called, because something was edited.
    """

    edited: ModelOrGraph
    script: tuple[Edit, ...]
    assumed: Mapping[str, int | str]
    relied_on: Mapping[str, int | str] = field(default_factory=dict)
    source: Source | None = None
    limits_met: tuple[str, ...] = ()
    inlined: tuple[str, ...] = ()
    carried: Carried | None = None

    @cached_property
    def model(self) -> Any:  # noqa: ANN401 - what came in comes back
        """The edited model: a ModelProto, or the same kind as what was given.

        A Graph is edited in place.
        """
        if self.carried is not None:
            carried = self.carried
            return carried.back(proto_of(self.edited)) if self.changed else carried.original
        edited = self.edited
        return completed(edited, self.source) if isinstance(edited, ModelProto) else edited

    @property
    def unread(self) -> Any:  # noqa: ANN401 - as `model`, or what rooms of this package open
        """The edited model to be compared, whose large weights are still in its file."""
        if self.source is None or self.carried is not None:
            return self.model
        return Opened(self.edited, self.source, owned=False)

    @property
    def changed(self) -> bool:
        """Whether anything was edited; changes that take each other back are none."""
        return bool(self.script)

    def save(self, path: str | PathLike[str], *, in_place: bool = False) -> None:
        """Write the model: byte for byte the input where nothing changed.

        External data stays where it is when the folder is the same, and is copied otherwise.
        Raises RequestError where `path` is the file that the model was given as, which is
        overwritten `in_place` alone, and ModelError where the target cannot be written; nothing
        half-written stays.
        """
        if not in_place and _is_input(path, self.source):
            raise RequestError(
                f"'{os.fspath(path)}' is the input, which is never overwritten: give another path, "
                "or save(path, in_place=True)"
            )
        if not self.changed and self.source is not None and self.source.data is not None:
            write_unchanged(self.source, path)
        else:
            save(proto_of(self.edited), path, source=self.source)


def _is_input(path: str | PathLike[str], source: Source | None) -> bool:
    """Whether a path leads to the file that a model was read from, by whatever name."""
    if source is None or source.path is None or source.data is None:
        return False
    if not is_path(path) or is_standard(path):
        return False
    with suppress(OSError, ValueError):
        return source.path.samefile(path)
    return False


def session_on(
    opened: Opened,
    dims: Mapping[str, int | str] | None,
    preferences: Preferences,
) -> EditSession:
    """A session on what was opened; a Graph lends it its structure without weights.

    Raises ModelError where a node reads what nothing makes.
    """
    session = EditSession(
        opened.model,
        dims=dims,
        source=opened.source,
        prefer=preferences,
        owned=opened.owned,
        weightless=opened.surgeon is not None,
        keeps_functions=opened.keeps_functions,
    )
    refuse_broken(session.document)
    return session


def finish(session: EditSession, opened: Opened) -> ModelOrGraph:
    """The edited model, or the Graph that was given, which gets the edits in place."""
    model = session.finish()
    if opened.surgeon is None:
        return model
    from onnxpad.model.editing.graphsurgeon import GraphFollower

    GraphFollower(opened.surgeon, session.document).follow(session.script)
    return opened.surgeon
