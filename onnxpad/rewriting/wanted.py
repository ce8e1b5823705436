"""What is to be done with a model: passes and a target, with whatever is known of its sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from onnxpad.errors import ModelError, OnnxpadError, RequestError
from onnxpad.model.editing.session import EditSession, session_on
from onnxpad.model.graph.nodes import Address
from onnxpad.model.opened import Opened
from onnxpad.model.reading.survey import Survey, selection
from onnxpad.padding.chain import Preferences
from onnxpad.rewriting.for_target.requests import beyond_batch
from onnxpad.rewriting.pipeline import PassLog, inserted_by, run

if TYPE_CHECKING:
    from onnxpad.rewriting.for_target.fit import Fitted
    from onnxpad.rewriting.for_target.judge import Judge
    from onnxpad.rewriting.for_target.search import Planner

Progress = Callable[[str, int, int], None]
Dims = Mapping[str, int | str] | None


class Done(NamedTuple):
    """A model that was worked on; `judge` is that of the target, asked about nodes `reached`."""

    session: EditSession
    log: PassLog
    reached: Callable[[Address], bool]
    fitting: Fitted | None = None
    judge: Judge | None = None

    @property
    def came_to(self) -> tuple[object, ...]:
        """The edits, how many nodes the target takes behind them, and how many have no way."""
        script, fitting = tuple(self.session.script), self.fitting
        return (script, fitting.taken, len(fitting.no_way)) if fitting else (script,)


class Wanted(NamedTuple):
    """What is to be done with a model, whatever is known of its sizes."""

    opened: Opened
    rules: Sequence[Any]
    planner: Planner | None
    reading: Preferences
    nodes: str | Sequence[str] | None

    def done(
        self,
        dims: Dims,
        progress: Progress | None = None,
        session: EditSession | None = None,
    ) -> Done:
        """The passes, and then what the target still needs; a `session` has read the model."""
        session = session or session_on(self.opened, dims, self.reading)
        selected = selection(session, self.nodes)
        log = run(session, self.rules, selected, progress)
        if self.planner is None:
            return Done(session, log, selected)
        from onnxpad.rewriting.for_target.fit import fit  # loads every pass

        sizes = beyond_batch(self.opened.model, session.facts)
        planner, made = self.planner.knowing(assumes_sizes=bool(sizes)), inserted_by(log.changes)

        def reached(node: Address) -> bool:
            return selected(node) or node.id in made

        fitting = fit(session, planner, reached, log.changes, progress, self._whole(dims))
        return Done(session, log, reached, fitting, planner.judge)

    def _whole(self, dims: Dims) -> Mapping[str, int | str] | None:
        """The sizes where the model may be changed as a whole; None where chosen nodes alone."""
        return (dims or {}) if self.nodes is None and self.opened.surgeon is None else None

    def relied(self, done: Done, dims: Dims) -> dict[str, int | str]:
        """All sizes stated, where the same does not come without them; {} where it does.

        And where there is nothing to write that they may have decided: no edits, and no verdicts.
        """
        takes_all = done.fitting is not None and not done.fitting.unfit
        if not dims or not (takes_all or done.session.script):
            return {}
        try:
            rests = self.done(None).came_to != done.came_to
        except OnnxpadError:  # without them it is not even possible
            rests = True
        return dict(dims) if rests else {}

    def opened_up(self, done: Done, dims: Dims, seen: Survey | None = None) -> Done:
        """The same with what a user can add to the request, where nodes have no way.

        And with what installed releases do with the nodes that were `seen`, else with those now.
        """
        fitting = done.fitting
        if fitting is None or done.judge is None:
            return done
        from onnxpad.rewriting.for_target.judge import on_installed
        from onnxpad.rewriting.for_target.openings import opening

        if fitting.no_way:
            best = opening(
                done.session,
                fitting.no_way,
                lambda facts: self.tried({**(dims or {}), **facts}),
            )
            fitting = fitting._replace(opening=best, no_way=best.told_to(fitting.no_way))
        installed = tuple(on_installed(seen or done.session, done.judge, done.reached))
        return done._replace(fitting=fitting._replace(installed=installed))

    def tried(self, dims: Mapping[str, int | str]) -> Fitted | None:
        """What a rewrite with these sizes comes to; None where they contradict the model."""
        try:
            return self.done(dims).fitting
        except (ModelError, RequestError):
            return None
