"""rewrite: the same padding in another form; the numbers that a model computes stay the same."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property, partial
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

from onnxpad import processes
from onnxpad.errors import ModelError
from onnxpad.model.editing.script import InsertNode, RemoveAttribute, Resize, SetAttribute
from onnxpad.model.editing.session import Edited, EditSession, finish
from onnxpad.model.facts import kinds_that_cannot_pad, operators_of
from onnxpad.model.graph.broken import UnknownOperator, unknown_operators
from onnxpad.model.opened import (
    Model,
    ModelLike,
    ModelOrGraph,
    Opened,
    open_model,
    untouched,
)
from onnxpad.model.reading.divisors import hanging_on_sizes, settling_facts
from onnxpad.model.reading.survey import without_collections
from onnxpad.model.stated_sizes import stale_sizes, stated
from onnxpad.padding.chain import Mark, Preference, Preferences, Skip
from onnxpad.padding.effective_pads import rests_text
from onnxpad.padding.operators import Kind
from onnxpad.reports import Report, plain, reported
from onnxpad.rewriting.for_target.report import can_pad
from onnxpad.rewriting.for_target.requests import names_of, planner, runtimes_asked
from onnxpad.rewriting.passes import find_pass
from onnxpad.rewriting.pipeline import (
    Change,
    Refusal,
    standing,
)
from onnxpad.rewriting.wanted import Wanted
from onnxpad.runtimes.own_targets import Asking, TargetName
from onnxpad.verbs import verb

if TYPE_CHECKING:
    from onnxpad.probing.live import Live
    from onnxpad.probing.whole import WholeRun
    from onnxpad.rewriting.for_target.fit import Fitted
    from onnxpad.rewriting.for_target.report import NodeVerdict


class OperatorCounts(NamedTuple):
    """Numbers of nodes, with bodies and functions; `change` has differences other than 0."""

    before: int
    after: int
    change: Mapping[str, int]


DEFAULT_PASSES = ("explicit-pads",)
_NAMED = 2
Progress = Callable[[str, int, int], None]


@reported(
    *("passes", "changed", "assumed", "relied_on", "changes", "skips", "notes"),
    *("fitted as target", "operators", "limits_met", "inlined", "not_judged"),
    *("unknown_operators", "runs"),
)
@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Rewriting(Edited, Report):
    """What a rewrite did.

    skips: nodes that a pass left alone, with the reason.
    notes: nodes that need no rewrite, with a hint.
    fitting: the changes for `target`.
    relied_on: sizes that the user stated and the result depends on. Sizes of inputs are written
        into the model, other facts into its metadata as `onnxpad.holds_where`.
    operators: counts before and after; None for a graphsurgeon Graph.
    unknown_operators: operators of ONNX's domain that their opset does not have.
    runs: runs of the whole model, one for each runtime that was asked.
    """

    passes: tuple[str, ...]
    changes: tuple[Change, ...]
    skips: tuple[Refusal, ...]
    notes: tuple[Refusal, ...] = ()
    target: str = ""
    fitting: Fitted | None = None
    original: Callable[[], ModelOrGraph] | None = None
    unknown_operators: tuple[UnknownOperator, ...] = ()
    runs: tuple[WholeRun, ...] = ()

    schema = 5

    @property
    def run(self) -> WholeRun | None:
        """The first run that is not right, else the first run; None without runs."""
        return next((whole for whole in self.runs if not whole.ok), next(iter(self.runs), None))

    @cached_property
    def operators(self) -> OperatorCounts | None:
        """Counts before and after; the model is read once more for them, where it was a file."""
        before = self.original() if self.original else None
        if not isinstance(before, Model) or not isinstance(self.edited, Model):
            return None
        was, now = operators_of(before), operators_of(self.edited)
        change = {kind: now[kind] - was[kind] for kind in sorted(was | now)}
        left = {kind: number for kind, number in change.items() if number}
        return OperatorCounts(was.total(), now.total(), left)

    @cached_property
    def not_judged(self) -> tuple[str, ...]:
        """Kinds of operators that cannot pad, which the target was not asked about."""
        if self.fitting is None or not isinstance(self.edited, Model):
            return ()
        judged = (*self.fitting.no_way, *self.fitting.granted)
        told = {one.op.rpartition(".")[2] for one in judged if not can_pad(one.op)}
        return tuple(kind for kind in kinds_that_cannot_pad(self.edited) if kind not in told)

    @property
    def unfit(self) -> tuple[NodeVerdict, ...]:
        """Nodes that the target still refuses or computes wrongly, as the model is now.

        str() of one says what the target does, why, and what to try; its `with_sizes` has the
        arguments with which there is a way for it, and `reason` the reason alone.
        `save` writes nothing where there are some, unless it is asked to.
        Of what the passes brought, nodes as well of which nothing is known; where the device is
        required, those that are left to the CPU.
        """
        return self.fitting.unfit if self.fitting else ()

    @property
    def stuck(self) -> tuple[NodeVerdict, ...]:
        """Those of `unfit` that the model came with; all of them where passes wrote every one."""
        written = {edit.address.id for edit in self.script if isinstance(edit, InsertNode)}
        own = [one for one in self.unfit if not one.brought_by and one.node.id not in written]
        return tuple(own) or self.unfit

    def save(
        self,
        path: str | PathLike[str],
        *,
        in_place: bool = False,
        although_unfit: bool = False,
    ) -> None:
        """Write the model: byte for byte the input where nothing changed.

        External data stays where it is when the folder is the same, and is copied otherwise.
        Raises RequestError where `path` is the file that the model was given as, which is
        overwritten `in_place` alone, and ModelError where the target cannot be written, and where
        there are `unfit` nodes, unless it is to be written `although_unfit`; nothing half-written
        stays.
        """
        if (stuck := self.stuck) and not although_unfit:
            named = "; ".join(str(one) for one in stuck[:_NAMED])
            more = len(stuck) - _NAMED
            others = f"; and {more} more, which .unfit has" if more > 0 else ""
            raise ModelError(
                f"{self.target} does not take {len(stuck)} of the nodes, so nothing is "
                f"written: {named}{others}. save(path, although_unfit=True) writes it as it is"
            )
        super().save(path, in_place=in_place)

    @property
    def fitted(self) -> dict[str, Any] | None:
        """`fitting` and the name of the target as plain data; None without a target."""
        return {"name": self.target, **plain(self.fitting)} if self.fitting else None


@without_collections()
@verb()
def rewrite(  # noqa: PLR0913  one option each
    model: ModelLike,
    *,
    passes: str | Sequence[str] | None = None,
    target: TargetName | Sequence[TargetName] | None = None,
    live: bool | str | PathLike[str] = False,
    cache: bool = True,
    prefer: str | Sequence[str] | None = None,
    exclude: str | Sequence[str] | None = None,
    allow_unknown: bool = False,
    require_device: bool = False,
    dims: Mapping[str, int | str] | None = None,
    nodes: str | Sequence[str] | None = None,
    ambiguous: Preference = None,
    legacy_split: bool = False,
    strict: bool = False,
    timeout: float | None = None,
    memory: int | str | None = None,
    progress: Progress | None = None,
) -> Rewriting:
    """Rewrite the padding of a model without changing what it computes.

    `passes` is a name or names in the order given (default: explicit-pads, without a target; an
    empty list: none). `target` is a runtime or several (`onnxpad explain` lists them): what one of
    them refuses or computes wrongly is written in a cheap form that all take; `unfit` has
    nodes, those that `passes` wrote included, for which there is none. A runtime may be the user's
    own: the path of a .py or .toml file, a command with {model} {inputs} {outputs}, or a function.
    `live` asks the runtime itself, in this Python or in the one at a path, about each node and
    each candidate, and runs the whole model at last (`run`); without `cache` no earlier answers
    are read or kept. `prefer` are passes that
    cost nothing in that choice, `exclude` passes that are not used, `allow_unknown` takes unknown
    things for granted, `require_device` rewrites as well what a target would leave to the CPU.
    `nodes` are globs over node addresses, `dims` what is known of dimensions ({'height': 640},
    '%32=0' for what it is divisible by), `ambiguous` which of auto_pad and pads holds where a node
    has both. `legacy_split` reads auto_pad and output_shape of ConvTranspose as the text of opsets
    1 to 10 has it and onnxruntime before 1.13 computed output_shape: the odd cell is cropped at the
    other side. `strict` raises ModelError where a pass skips a node or the target fails one, and
    changes nothing. `timeout` (seconds) and `memory` (bytes, or '4G') limit child processes;
    `limits_met` says so. `progress` is called with what is being done, how much of it is done, and
    of how much. Only a Graph is edited in place. Raises RequestError, and ModelError.
    """
    with ExitStack() as stack:
        tell = (lambda step: progress(step, 0, 0)) if progress else None
        runtimes = runtimes_asked(stack, target, Asking(live, cache, timeout, tell))
        work = stack.enter_context(processes.limited(timeout, memory))
        opened = open_model(model)
        granted: dict[str, Any] = {"allow_unknown": allow_unknown, "require_device": require_device}
        granted |= {"prefer": prefer, "exclude": exclude, "live": runtimes}
        asked = planner(target, **granted)
        default = () if asked else DEFAULT_PASSES
        rules = [find_pass(name) for name in (default if passes is None else names_of(passes))]
        # As it was, to work on once more: without the sizes, or with some that a target waits for.
        kept = replace(opened, owned=False) if dims or asked else opened
        wanted = Wanted(kept, rules, asked, Preferences(ambiguous, legacy_split), nodes)
        done = wanted.opened_up(wanted.done(dims, progress), dims)
        session, log, fitting = done.session, done.log, done.fitting
        skips = _with_divisors(standing(session, log), session)
        log.changes += fitting.changes if fitting else ()
        name = asked.judge.target.name if asked else ""
        if strict:
            _refuse_rest(skips, fitting, name)
        relied = wanted.relied(done, dims)
        session.restate(stated(kept.model, session.script, relied, whole=kept.surgeon is None))
        session.restate(_corrections(session, log.changes))
        result = finish(session, opened) if session.script else untouched(opened)
        report = Rewriting(
            edited=result,
            passes=tuple(rule.name for rule in rules),
            changes=tuple(log.changes),
            skips=tuple(one for one in skips if not one.skip.moot),
            notes=tuple(one for one in skips if one.skip.moot),
            script=tuple(session.script),
            assumed=dict(dims or {}),
            relied_on=relied,
            target=name,
            fitting=fitting,
            source=opened.source,
            original=partial(untouched, opened),
            carried=opened.carried,
            limits_met=tuple(work.met.values()),
            inlined=session.inlined,
            unknown_operators=unknown_operators(session.document),
        )
        if runtimes is None:
            return report
        return replace(report, runs=_whole_runs(report, runtimes, tell, timeout))


def _whole_runs(
    report: Rewriting,
    runtimes: Live,
    tell: Callable[[str], None] | None,
    seconds: float | None,
) -> tuple[WholeRun, ...]:
    """The rewritten model, whole, in every runtime; none of a model that stays unfit."""
    if report.unfit or report.original is None:
        return ()
    from onnxpad.probing.whole import run_whole

    before = Opened(report.original(), report.source, owned=False) if report.source else None
    original = report.original() if before is None else before
    with tempfile.TemporaryDirectory(prefix="onnxpad-") as folder:
        path = os.path.join(folder, "model.onnx")  # noqa: PTH118 - a text
        report.save(path)
        options: dict[str, Any] = {"dims": report.assumed, "seconds": seconds, "tell": tell}
        return tuple(
            run_whole(original, path, name, trials.runner, **options)
            for name, trials in runtimes.trials.items()
        )


def _refuse_rest(skips: Sequence[Refusal], fitting: Fitted | None, target: str) -> None:
    """ModelError where a node was left as it was that the request is about."""
    if skips:
        raise ModelError(f"strict allows no skips, and there are {len(skips)}: {skips[0]}")
    if fitting and (unfit := fitting.unfit):
        raise ModelError(f"strict: {target} does not take {len(unfit)} of the nodes; {unfit[0]}")


def _with_divisors(skips: Sequence[Refusal], session: EditSession) -> list[Refusal]:
    """The same with the weakest fact that settles computed pads beside numbers that do."""
    hanging = {id(one) for one in skips if one.skip.hints and hanging_on_sizes(one.chain)}
    facts = settling_facts(session) if hanging else ()

    def settled(skip: Skip) -> Skip:
        return replace(skip, hints=(*skip.hints, rests_text(facts)), settled_by=facts)

    if not facts:
        return list(skips)
    return [replace(one, skip=settled(one.skip)) if id(one) in hanging else one for one in skips]


def _corrections(session: EditSession, changes: Sequence[Change]) -> list[Resize]:
    """Edits of stated sizes that inference found for the original alone, and that are wrong.

    It counts windows of ceil_mode that only read padding, takes output_shape of ConvTranspose for
    the whole shape of the result, and pads of less than 0 in all for none.
    """
    before = [change.before for change in changes]
    declared = [one for one in before if Mark.DECLARED_OTHERWISE in one.around.marks]
    disputed = [one for one in before if one.ceil_mode or one.op.kind is Kind.TRANSPOSED]
    if not declared and not disputed:
        return []
    edits = [edit for change in changes for edit in change.edits]
    edited = [edit.node for edit in edits if isinstance(edit, SetAttribute | RemoveAttribute)]
    edited += [edit.address for edit in edits if isinstance(edit, InsertNode)]
    edited += [edit.maker for edit in edits if isinstance(edit, Resize)]
    both = declared and disputed
    return stale_sizes(session.document, edited, "none" if both else "uncontradicted")
