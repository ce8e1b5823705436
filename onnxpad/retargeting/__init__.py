"""retarget: moves a model to another framework's padding; the numbers change, and it says where."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, TypeAlias

from onnxpad import processes
from onnxpad.errors import RequestError
from onnxpad.model.editing.session import Edited, EditSession, finish, session_on
from onnxpad.model.files.contents import contents, standard_input
from onnxpad.model.opened import ModelLike, open_model, untouched
from onnxpad.model.reading.survey import known_names, selection
from onnxpad.model.stated_sizes import stated
from onnxpad.padding.chain import Preference, Preferences
from onnxpad.reports import Report, reported
from onnxpad.retargeting.habits import named_convention
from onnxpad.retargeting.plan import Plan
from onnxpad.retargeting.report import Kept, Move, Refused
from onnxpad.retargeting.run import MoveRule, Progress, Run
from onnxpad.verbs import verb

PlanLike: TypeAlias = Plan | Mapping[str, Any] | str | PathLike[str]

LARGEST_PLAN = 64 * 2**20

__all__ = ["Kept", "Move", "Refused", "Retargeting", "read_plan", "retarget"]


@reported(
    *("to", "changed", "assumed", "relied_on", "changes", "unchanged", "skips", "breaks"),
    *("limits_met", "inlined"),
)
@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Retargeting(Edited, Report):
    """What a retarget did.

    `changes` are nodes that were moved, `unchanged` those that pad like this already, `skips`
    those that could not be moved; each has its reason. `breaks` are nodes downstream whose
    inputs do not fit together any more. `relied_on` are the sizes that the user stated,
    where the result would be another without them: sizes of inputs are written into the model,
    other facts into its metadata as `onnxpad.holds_where`.
    """

    to: str
    changes: tuple[Move, ...]
    unchanged: tuple[Kept, ...]
    skips: tuple[Refused, ...]
    breaks: tuple[str, ...]

    schema = 3


@verb()
def retarget(  # noqa: PLR0913 - each option is one word of the command line
    model: ModelLike,
    *,
    to: str | None = None,
    plan: PlanLike | None = None,
    source: str | None = None,
    nodes: str | Sequence[str] | None = None,
    dims: Mapping[str, int | str] | None = None,
    ambiguous: Preference = None,
    timeout: float | None = None,
    memory: int | str | None = None,
    progress: Progress | None = None,
) -> Retargeting:
    """Move the padding of a model to another convention, by what it means.

    `to` is a convention's name, SAME_UPPER, SAME_LOWER or symmetric; `plan` (a Plan, its JSON as a
    dict, or a path) says the padding of single nodes instead. `source` names the convention
    that the model's padding is written in, `nodes` are globs over node addresses, `dims` what
    is known of dimensions, `ambiguous` which of auto_pad and pads holds where a node has both.
    `timeout` (seconds) and `memory` (bytes, or '4G') limit child processes; `limits_met` says
    so. `progress` is called with a node's address, the number of nodes done, and of how many.
    Only a graphsurgeon Graph is edited in place. Raises RequestError for unknown names, plans
    that do not fit, and ModelError for models that cannot be read.
    """
    rule = _rule(to, plan, source)
    with processes.limited(timeout, memory) as work:
        opened = open_model(model)
        kept = replace(opened, owned=False) if dims else opened  # as it was, to work on once more

        def moved(
            sizes: Mapping[str, int | str] | None, progress: Progress | None
        ) -> tuple[EditSession, Run]:
            session = session_on(kept, sizes, Preferences(ambiguous))
            selected = selection(session, nodes)
            known_names(session, rule.names, rule.plan.label if rule.plan else "")
            return session, Run(session, rule, selected, progress)

        session, run = moved(dims, progress)
        rests = dims and session.script and moved(None, None)[0].script != session.script
        relied = dict(dims or {}) if rests else {}
        session.restate(stated(kept.model, session.script, relied, whole=opened.surgeon is None))
        return Retargeting(
            edited=finish(session, opened) if session.script else untouched(opened),
            to=rule.to,
            changes=run.of(Move),
            unchanged=run.of(Kept),
            skips=run.of(Refused),
            breaks=run.breaks,
            script=tuple(session.script),
            assumed=dict(dims or {}),
            relied_on=relied,
            source=opened.source,
            carried=opened.carried,
            limits_met=tuple(work.met.values()),
            inlined=session.inlined,
        )


def _rule(to: str | None, plan: PlanLike | None, source: str | None) -> MoveRule:
    if plan is None and to is not None:
        return MoveRule(named_convention(to), source and named_convention(source))
    if plan is None or to is not None:
        raise RequestError("retarget needs a convention to move to, or a plan, and not both")
    if source is not None:
        raise RequestError(
            "source and plan exclude each other: a plan already gives the padding of each node"
        )
    return MoveRule("plan", plan=read_plan(plan))


def read_plan(plan: PlanLike) -> Plan:
    """A plan from its value, its JSON or a file; RequestError says what is wrong with it."""
    if isinstance(plan, Plan):
        return plan
    if isinstance(plan, Mapping):
        return Plan.from_json(plan)
    try:
        content = standard_input(LARGEST_PLAN) if plan == "-" else contents(plan, LARGEST_PLAN)
        return Plan.from_json(json.loads(content.decode("utf-8-sig")), file=str(plan))
    except (OSError, ValueError, RecursionError) as error:
        raise RequestError(
            f"cannot read the plan '{plan}': {getattr(error, 'strerror', None) or error}\n"
            "  try     write it with diagnose --plan FILE"
        ) from error
