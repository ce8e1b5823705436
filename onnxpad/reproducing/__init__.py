"""Reproducers: the smallest model, input and script that show what a runtime gets wrong.

Idea: a reproducer is a probe that failed, written out. `reproduce` is asked for a row of a target:
the first of the stored models (`specimens.toml`) that falls under it. `reproduce_node` is asked for
a node of a user's model: the judge says what the target does with it, by its table or by a run, and
its probe is written, with the inputs that failed where it was run. `specimens` makes models of
words, `ways` are those of them that have a name, and `reproducer` holds the files and the script.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from os import PathLike

from onnxpad import processes
from onnxpad.errors import RequestError, nearest
from onnxpad.model.excerpt import excerpt, left_out
from onnxpad.model.files.delivery import refuse_folder
from onnxpad.model.opened import ModelLike, open_model
from onnxpad.model.reading.survey import Site, Survey, selection
from onnxpad.model.small_models import with_output_shapes
from onnxpad.padding.operators import Kind
from onnxpad.probing.expected import expected, onnxruntime_agrees
from onnxpad.probing.probes import SIGNS, Probe, alone, outputs_behind, probe, rests
from onnxpad.reproducing.reproducer import FILES, Reproducer
from onnxpad.reproducing.specimens import drafted
from onnxpad.reproducing.ways import rows_over, showing
from onnxpad.rewriting.for_target.judge import Judge
from onnxpad.runtimes.conditions.rows import Row
from onnxpad.runtimes.judge import Judgement, judge
from onnxpad.runtimes.own_targets import Asking, TargetName, asked_as
from onnxpad.runtimes.releases import rows_in
from onnxpad.runtimes.targets import Target, find_target
from onnxpad.verbs import is_text, refuse_unless, verb


def reproduce(target: str, row: str) -> Reproducer:
    """The smallest stored model that falls under one row of a target.

    `row` is an address as `explain TARGET` prints it. A row of older releases is judged in the
    newest one in which it holds. Raises RequestError with the nearest addresses where there is none
    of this name, and where no stored model falls under it.
    """
    refuse_unless(is_text, "a name", "target", target)
    refuse_unless(is_text, "a name", "row", row)
    asked = find_target(target)
    if row not in asked.failures:
        near = " or ".join(map(repr, nearest(row, asked.failures, 3)))
        hint = f": did you mean {near}?" if near else ""
        every = f"(onnxpad explain {asked_as(asked.name)} prints all)"
        raise RequestError(f"{asked.name} has no fact '{row}'{hint} {every}")
    fact = asked.failures[row]
    meant = in_its_release(asked, fact)
    words = None if fact.unshown else showing(meant, row, fact)
    if words is None:
        reason = f"no small model of one operator falls under '{row}' of {asked.name}"
        raise RequestError(f"{reason}: {fact.unshown or fact.what}")
    others = rows_over(meant, words) - {fact}
    model, feeds = drafted(words)
    made = Reproducer(
        target=meant.name,
        version=meant.version,
        row=row,
        answer=str(fact.answer),
        what=fact.what,
        evidence=str(fact.evidence),
        about=tuple(f"it {other.answer.does} as well: {other.what}" for other in others),
        command=f"onnxpad explain {meant.name} --reproduce {row} -o DIR",
    )
    return _of_probe(made, Probe(model, (dict(feeds),), ()))


@verb()
def reproduce_node(  # noqa: PLR0913 - each option is one word of the command line
    model: ModelLike,
    *,
    target: TargetName,
    node: str,
    live: bool | str | PathLike[str] = False,
    dims: Mapping[str, int | str] | None = None,
    timeout: float | None = None,
    memory: int | str | None = None,
) -> Reproducer:
    """A node of a model that a target refuses or computes wrongly, cut out with its padding.

    `node` is its address, or a glob that matches one alone. With `live`, or an own runtime, the
    model and the inputs are those of the run that failed. Weights of more than 64 kB are replaced
    by small numbers. Raises RequestError where the target takes the node or nothing is known of it,
    and where several nodes match; RuntimeUnavailable where the runtime is not installed.
    """
    refuse_unless(is_text, "an address", "node", node)
    asked = find_target(target)
    opened = open_model(model)
    folder = opened.folder
    with processes.limited(timeout, memory), ExitStack() as stack:
        judging = Judge(asked)
        if live or any(part.is_own for part in asked.parts or (asked,)):
            from onnxpad.probing.live import open_live

            judging = replace(judging, live=open_live(asked, Asking(live, cache=False)))
            stack.callback(judging.live.close) if judging.live else None
        site = _one_site(Survey(opened.model, dims=dims, folder=folder), node)
        judgement = judging.site(site)
        if not judgement.answer.fails:
            by = "in a run" if judgement.measured else "by its table"
            does = "is unknown" if judgement.answer.is_open else judgement.answer.does
            nothing = ": ".join(filter(None, (f"{by} {asked.name} {does}", judgement.reason)))
            raise RequestError(f"{site.address.label}: {nothing}; --live asks the runtime itself")
        asking = " --live" if live is True else " --live PYTHON" if live else ""
        rows = (item for item in asked.failures.items() if item[1] in judgement.rows)
        address, row = next(rows, ("", None))
        what = f"{site.chain.op.title} '{site.address.label}' ({judgement.reason})"
        ran = judging.live.ran.get(asked.name) if judging.live and judgement.measured else None
        made = Reproducer(
            target=asked.name,
            version=str(ran or asked.version),
            row=address,
            answer=str(row.answer if row else judgement.answer),
            what=row.what if row else what,
            evidence="; ".join(judgement.evidence),
            command=f"onnxpad inspect MODEL --target {asked_as(asked.name)}{asking} "
            f"--reproduce '{node}' -o DIR",
            runner=asked.runner if ran and isinstance(asked.runner, str) else "",
        )
        failed = judging.live.failure(asked, site) if judging.live else None
        return _of_site(made, asked, site, judgement, failed)


def _one_site(survey: Survey, node: str) -> Site:
    selected = selection(survey, node)
    sites = [site for site in survey.sites_now() if selected(site.address)]
    if len(sites) > 1:
        raise RequestError(
            f"--reproduce is about one node, and '{node}' names {len(sites)}: "
            f"{', '.join(site.address.label for site in sites[:3])}"
        )
    return sites[0]


def _of_site(
    made: Reproducer, target: Target, site: Site, judgement: Judgement, failed: Probe | None
) -> Reproducer:
    """The reproducer with the probe of a node, that of the run which failed if there was one."""
    part = alone(excerpt(site.context, site.node))
    about = [f"it is '{site.address.label}', cut out"]
    about += [f"{one} was replaced by random numbers" for one in left_out(part)]
    if failed is None:
        drawn = probe(part, rests(site.chain), outputs_behind(part), for_people=True)
        telling = drawn.feeds[SIGNS.index(_SIGNS.get(site.chain.op.kind, 0))]
        failed = drawn._replace(feeds=(telling,))
        inner = (one.chain for one in Survey(drawn.model).sites_now() if one.op == site.op)
        if not any(judge(target, one).rows == judgement.rows for one in inner):
            reason = f"alone, not all holds that holds of it in the model ({judgement.reason})"
            about.append(f"{reason}: it may not show the fault")
    return _of_probe(replace(made, about=tuple(about)), failed)


_SIGNS = {Kind.MAX: -1, Kind.AVERAGE: 1, Kind.LP: 1}
"""The sign of the numbers that show how a kind of operator pads."""


def _of_probe(made: Reproducer, one: Probe) -> Reproducer:
    """The reproducer with a model, its inputs and what is right of them."""
    feeds = one.feeds[0]
    outputs, reason = expected(one.model, feeds)
    notes = [f"the ONNX text gives it no meaning: {reason}"] if reason else []
    return replace(
        made,
        model=with_output_shapes(one.model, outputs),
        inputs=feeds,
        expected=outputs,
        agrees=onnxruntime_agrees(one.model, feeds, outputs),
        about=(*made.about, *notes),
    )


def in_its_release(target: Target, row: Row) -> Target:
    """The target in the newest release in which the row holds."""
    holders = [part for part in target.parts or (target,) if row in part.rows]
    if holders or not row.until:
        return holders[0] if holders else target
    older = find_target(f"{target.runtime}@{row.until}")  # perhaps older than all that are known
    return older if row in older.rows else replace(older, rows=rows_in(older.history, (row.until,)))


__all__ = ["FILES", "Reproducer", "refuse_folder", "reproduce", "reproduce_node"]
