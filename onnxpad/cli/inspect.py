"""onnxpad inspect."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from onnxpad import __version__
from onnxpad.batch.inputs import facts_about
from onnxpad.cli import arguments, gate, html_files
from onnxpad.cli.destinations import Exclusions, found_in
from onnxpad.cli.exits import FINDINGS, FINE, fail_for
from onnxpad.cli.streams import show, terminal, working
from onnxpad.errors import OnnxpadError

if TYPE_CHECKING:
    from onnxpad.batch.each import Outcome
    from onnxpad.cli.gate import Gated
    from onnxpad.inspection import Finding, Inspection
    from onnxpad.reproducing import Reproducer
    from onnxpad.show.document import Document


ALL = "all"
_HELP = """List the operators that can pad: how their padding is written, and what may go wrong.

\b
onnxpad inspect model.onnx
onnxpad inspect model.onnx --dim 'height%32=0' --node 'stem/*'
onnxpad inspect models/ -j 4
onnxpad inspect *.onnx --json | jq .summary.traps
onnxpad inspect model.onnx --target opencv --target ncnn
onnxpad inspect model.onnx --target all
onnxpad inspect model.onnx --target opencv --live
onnxpad inspect model.onnx --target 'python run_npu.py {model} {inputs} {outputs}'
onnxpad inspect model.onnx --html report.html
onnxpad inspect *.onnx --target opencv --fail-on unknown --baseline known.json
onnxpad inspect model.onnx --target opencv --reproduce stem/conv -o DIR

Nothing is changed, and nothing is run without --live. Operators that can pad and write no padding
are only counted. Pads are begin,end for each axis, in cells. 'fits' names the frameworks that can
write the same, first those whose own rule it is (--json has all), 'any' where everybody can; a trap
is a place where a runtime is known to fail or to compute something else. onnxpad explain NAME says
more about both. With --target it says what a runtime does with each operator that can pad, how that
is known, and what rewrite --target would write; it exits 1 where one is refused or computed
wrongly, or as --fail-on says. All other operators are not judged.
"""


@click.command(help=_HELP, short_help="List padded nodes and how their padding is written.")
@arguments.models
@arguments.dims
@arguments.input_shapes
@arguments.nodes
@arguments.excluded()
@arguments.ambiguous
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Show operators that can pad and write no padding as well.",
)
@click.option(
    "--each",
    is_flag=True,
    help="Show findings that are alike one by one, not as one row with a count; of many models, "
    "name every node that fails.",
)
@click.option(
    "--failing",
    is_flag=True,
    help="List only models that fail, a line for each, without a target for their traps; the last "
    "line counts all of them.",
)
@arguments.targets
@arguments.live
@click.option(
    "--device",
    type=click.Choice(["cuda", "cpu"]),
    help="Open the model with onnxruntime and say where each padded node runs; exit 1 where one "
    "leaves the GPU.",
)
@gate.fail_on
@gate.baseline
@gate.write_baseline
@gate.prune_baseline
@click.option(
    "--sarif",
    is_flag=True,
    help="Print SARIF 2.1.0 about the targets; about traps with --fail-on trap, and where there is "
    "no target.",
)
@click.option(
    "--reproduce",
    metavar="NODE",
    help="Cut out this node, of which the one --target fails, and write it with an input, the "
    "expected output and a script for that runtime into the folder -o DIR.",
)
@click.option("-o", "folder", type=click.Path(), metavar="DIR", help="The folder for --reproduce.")
@html_files.html
@arguments.timeout
@arguments.memory
@arguments.jobs
@arguments.dask
@arguments.spoken
def inspect(models: tuple[str, ...], **given: Any) -> int:  # noqa: ANN401
    """Inspect each model and print what was found; FINDINGS where a target refuses a node."""
    from onnxpad import inspection  # loads onnx

    found = found_in(models, Exclusions(given["exclude"]))
    names = [one.model for one in found.models]
    checks = gate.Gate(names, given)
    _check(given["targets"], sarif=given["sarif"], as_json=given["as_json"])
    if not names:
        return _nothing_left(given, checks)
    if given["reproduce"] is not None or given["folder"] is not None:
        return _reproduced(names, given)
    many = found.many or bool(given["dask"]) or arguments.given_by_hand("failing")
    html_files.check(given["html"], names, many=many or given["sarif"])
    options = ("device", "ambiguous", "timeout", "memory")
    asked = {"target": given["targets"] or None, **{name: given[name] for name in options}}
    asked |= arguments.live_options(given)
    if given["sarif"]:
        return _sarif(names, given, asked, checks)
    if many:
        return _many(names, given, asked, checks)
    (model,) = names
    about: dict[str, Any] = {"nodes": list(given["nodes"]) or None}
    try:
        with working(f"inspecting {model}") as tell:
            about["dims"] = facts_about(model, given["dims"], given["input_shapes"])
            report = inspection.inspect(model, **about, **asked, progress=tell)
    except OnnxpadError as error:
        checks.leave_out(model)
        return checks.concluded(fail_for(model, error, as_json=given["as_json"]))

    def record() -> dict[str, Any]:
        following = report.following.to_json() if report.following else {}
        return report.to_json() | {"following": following, "live": report.live}

    gated = checks.gated(model, report.findings, record)
    html_files.write(given["html"], partial(_page, report, model))
    _tell(model, report, gated, given)
    if gated.failing:
        checks.say_why(model, gated, record())
    return checks.concluded(FINDINGS if gated.failing else FINE)


def _nothing_left(given: Mapping[str, Any], checks: gate.Gate) -> int:
    """What reads SARIF goes on having a log to read."""
    if given["sarif"]:
        from onnxpad.show.sarif import sarif_text

        sys.stdout.write(sarif_text([], __version__, traps=gate.TRAP in checks.kinds, unread=[]))
    return FINE


def _reproduced(models: Sequence[str], given: dict[str, Any]) -> int:
    """Write one node of one model as a reproducer for one target."""
    targets, node, folder = given["targets"], given["reproduce"], given["folder"]
    if len(models) != 1 or len(targets) != 1 or ALL in targets or node is None or folder is None:
        raise click.UsageError(
            "a reproducer needs a model, a target, a node and a folder: "
            "onnxpad inspect MODEL --target T --reproduce NODE -o DIR"
        )
    from onnxpad.cli.reproducers import written
    from onnxpad.reproducing import reproduce_node

    options = {name: given[name] for name in ("live", "timeout", "memory")}

    def made() -> Reproducer:
        dims = facts_about(models[0], given["dims"], given["input_shapes"])
        return reproduce_node(models[0], target=targets[0], node=node, dims=dims, **options)

    try:
        return written(made, folder, as_json=given["as_json"])
    except OnnxpadError as error:
        return fail_for(models[0], error, as_json=given["as_json"])


def _page(found: Inspection, model: str) -> Document:
    from onnxpad.show.inspections import inspection_document

    return inspection_document(found, model, page=True)


def _many(
    models: Sequence[str], given: dict[str, Any], asked: dict[str, Any], checks: gate.Gate
) -> int:
    """A line for each model; what a worker has found is judged here, where the baseline is."""
    from onnxpad.batch.course import Request
    from onnxpad.batch.inputs import Job
    from onnxpad.cli import batches
    from onnxpad.runtimes.own_targets import live_words

    jobs = [(Job(model), None) for model in models]
    gated = partial(_gated, checks, live_words(given["live"]))
    return checks.concluded(batches.run(jobs, Request("inspect", asked), given, gated=gated))


def _gated(checks: gate.Gate, live: str, outcome: Outcome) -> tuple[Outcome, Callable[[], None]]:
    """An outcome with what fails and what is known, and what says more about it."""
    from onnxpad.inspection import inspected_status

    if outcome.error:
        checks.leave_out(outcome.file)
        return outcome, _nothing
    record = {**outcome.record, "following": outcome.following, "live": live}
    told = checks.gated(outcome.file, _found(outcome.record), lambda: record)
    status = inspected_status(record, fails=bool(told.failing), knows=bool(told.known))
    outcome = outcome._replace(
        result=status,
        code=FINDINGS if told.failing else FINE,
        record={**outcome.record, **told.to_json(), "status": status},
    )
    return outcome, partial(checks.say_of_one, outcome.file, told, record)


def _found(record: Mapping[str, Any]) -> tuple[Finding, ...]:
    from onnxpad.inspection import Finding

    return tuple(Finding(**{"reason": "", **one}) for one in record["findings"])


def _nothing() -> None:
    """Nothing is to be said."""


def _sarif(
    models: Sequence[str], given: dict[str, Any], asked: dict[str, Any], checks: gate.Gate
) -> int:
    """One log about all models; an error about one of them does not hold up the next."""
    from onnxpad.batch.course import Request
    from onnxpad.batch.inputs import Job
    from onnxpad.cli import batches
    from onnxpad.runtimes.own_targets import live_words
    from onnxpad.show.sarif import sarif_text

    records: list[Mapping[str, Any]] = []
    unread: list[tuple[str, str]] = []

    def kept(outcome: Outcome) -> tuple[Outcome, Callable[[], None]]:
        outcome, say_more = _gated(checks, live_words(given["live"]), outcome)
        if outcome.error:
            unread.append((outcome.file, outcome.told))
        else:
            records.append(outcome.record)
        return outcome, say_more

    jobs = [(Job(model), None) for model in models]
    request = Request("inspect", asked)
    status = batches.run(jobs, request, given, gated=kept, lines=False)
    traps = gate.TRAP in checks.kinds
    sys.stdout.write(sarif_text(records, __version__, traps=traps, unread=unread))
    return checks.concluded(status)


def _check(targets: tuple[str, ...], *, sarif: bool, as_json: bool) -> None:
    """Errors for targets that do not exist, before any model is read, and for two formats."""
    if targets:
        from onnxpad.rewriting.for_target.names import target_asked

        for name in targets:
            if name != ALL:
                target_asked(name)
    if sarif and as_json:
        raise click.UsageError("--sarif and --json are two formats: give one of them")


def _tell(model: str, found: Inspection, gated: Gated, given: Mapping[str, Any]) -> None:
    if given["as_json"]:
        from onnxpad.inspection import inspected_status
        from onnxpad.reports import json_line

        record = found.to_json()
        status = inspected_status(record, fails=bool(gated.failing), knows=bool(gated.known))
        record = {"file": model, "status": status} | record | gated.to_json()
        sys.stdout.write(json_line(record))
        sys.stdout.flush()
        return
    from onnxpad.show.document import document_text
    from onnxpad.show.inspections import inspection_document

    options = {name: given[name] for name in ("everything", "each")}
    show(document_text(inspection_document(found, model, **options), terminal(sys.stdout)))
