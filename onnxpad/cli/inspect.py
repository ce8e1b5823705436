"""List the operators that can pad: how their padding is written, and what may go wrong.

    onnxpad inspect model.onnx --dim 'height%32=0' --node 'stem/*'
    onnxpad inspect models/ -j 4
    onnxpad inspect model.onnx --target opencv --target ncnn
    onnxpad inspect model.onnx --target opencv --live
    onnxpad inspect model.onnx --target 'python run_npu.py {model} {inputs} {outputs}'
    onnxpad inspect *.onnx --target opencv --fail-on unknown --baseline known.txt
    onnxpad inspect model.onnx --target opencv --reproduce stem/conv -o DIR

Nothing is changed, and nothing is run without --live. Pads are begin,end for each axis, in cells.
'fits' names the frameworks that can write the same padding, first those whose own rule it is. A
trap is a place where a runtime is known to fail or to compute something else. With --target it
says what a runtime does with each operator that can pad, how that is known, and what rewrite
--target would write; it exits 1 where one is refused or computed wrongly, or as --fail-on says.
Only padding is judged.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import click

from onnxpad import __version__
from onnxpad.batch.facts import facts_about
from onnxpad.cli import outputs
from onnxpad.cli.destinations import inputs_of
from onnxpad.cli.gate import TRAP, Gate
from onnxpad.cli.parser import given_by_hand
from onnxpad.cli.streams import FINDINGS, FINE, fail_for, report, working
from onnxpad.errors import OnnxpadError

if TYPE_CHECKING:
    from onnxpad.batch.each import Outcome
    from onnxpad.show.document import Document


ALL = "all"
_OPTIONS = ("target", "device", "ambiguous", "timeout", "memory", "live", "cache")


def inspect(given: dict[str, Any]) -> int:
    """Inspect each model and print what was found; FINDINGS where a target refuses a node."""
    inputs = inputs_of(given["models"], given["exclude"])
    names = [one.model for one in inputs.models]
    gate = Gate(names, given)
    _check_targets(given["target"] or ())
    if not names:
        if given["sarif"]:  # what reads it goes on having a log to read
            _write_sarif(gate, [], [])
        return FINE
    if given["reproduce"]:
        return _reproduced(names, given)
    many = inputs.many or bool(given["dask"]) or given_by_hand("failing")
    outputs.check_page(given["html"], names, many=many or given["sarif"])
    if given["sarif"]:
        return _sarif(names, given, gate)
    return _many(names, given, gate) if many else _one(names[0], given, gate)


def _check_targets(names: Sequence[str]) -> None:
    """RequestError for a target that does not exist, before any model is read."""
    if names:
        from onnxpad.rewriting.for_target.requests import target_asked

        for name in names:
            if name != ALL:
                target_asked(name)


def _one(model: str, given: Mapping[str, Any], gate: Gate) -> int:
    """Inspect one model and print the whole report."""
    from onnxpad.inspection import inspect, inspected_status  # loads onnx

    options = {name: given[name] for name in _OPTIONS} | {"nodes": given["nodes"]}
    try:
        with working(f"inspecting {model}") as tell:
            dims = facts_about(model, given["dims"], given["input_shapes"])
            inspection = inspect(model, dims=dims, **options, progress=tell)
    except OnnxpadError as error:
        gate.leave_out(model)
        return gate.conclude(fail_for(model, error, as_json=given["as_json"]))
    gated = gate.judge(model, inspection.findings, inspection.targets)
    plain = cache(inspection.to_json)

    def record() -> dict[str, Any]:
        fails, knows = bool(gated.failing), bool(gated.known)
        head = {"file": model, "status": inspected_status(plain(), fails=fails, knows=knows)}
        return head | plain() | gated.to_json()

    def document(**options: Any) -> Document:  # noqa: ANN401 - those of the document
        from onnxpad.show.inspections import inspection_document

        return inspection_document(inspection, model, **options)

    outputs.write_page(given["html"], partial(document, page=True))
    shown = {name: given[name] for name in ("everything", "each")}
    report(given, record, partial(document, **shown))
    if gated.failing:
        following = inspection.following.to_json() if inspection.following else {}
        about = plain() | {"following": following, "live": inspection.live}
        gate.say_why(model, gated, about)
    return gate.conclude(FINDINGS if gated.failing else FINE)


def _reproduced(models: Sequence[str], given: Mapping[str, Any]) -> int:
    """Write one node of one model as a reproducer for one target."""
    from onnxpad.reproducing import reproduce_node

    if len(models) != 1 or len(given["target"]) != 1 or ALL in given["target"]:
        raise click.UsageError("--reproduce is about one model and one target: give one of each")
    (model,), (target,) = models, given["target"]
    options = {name: given[name] for name in ("live", "timeout", "memory")}
    node = given["reproduce"]
    try:
        dims = facts_about(model, given["dims"], given["input_shapes"])
        made = partial(reproduce_node, model, target=target, node=node, dims=dims, **options)
        return outputs.write_reproducer(made, given)
    except OnnxpadError as error:
        return fail_for(model, error, as_json=given["as_json"])


def _many(
    models: Sequence[str],
    given: Mapping[str, Any],
    gate: Gate,
    *,
    lines: bool = True,
    heard: Callable[[Outcome], object] = lambda _outcome: None,
) -> int:
    """A line for each model; what a worker has found is judged here, where the baseline is.

    `heard` is called with each outcome after that.
    """
    from onnxpad.batch.course import Request
    from onnxpad.batch.inputs import Job
    from onnxpad.cli import batches
    from onnxpad.inspection import Finding, inspected_status
    from onnxpad.runtimes.own_targets import live_words

    live = live_words(given["live"])

    def judge(outcome: Outcome) -> tuple[Outcome, Callable[[], None]]:
        if outcome.error:
            gate.leave_out(outcome.file)
            heard(outcome)
            return outcome, lambda: None
        record = {**outcome.record, "following": outcome.following, "live": live}
        findings = tuple(Finding(**{"reason": "", **one}) for one in record["findings"])
        gated = gate.judge(outcome.file, findings, record["targets"])
        fails, knows = bool(gated.failing), bool(gated.known)
        status = inspected_status(record, fails=fails, knows=knows)
        outcome = outcome._replace(
            result=status,
            code=FINDINGS if fails else FINE,
            record={**outcome.record, **gated.to_json(), "status": status},
        )
        heard(outcome)
        return outcome, partial(gate.say_why, outcome.file, gated, record, many=True)

    jobs = [Job(model) for model in models]
    request = Request("inspect", {name: given[name] for name in _OPTIONS})
    return gate.conclude(batches.run(jobs, request, given, judge=judge, lines=lines))


def _sarif(models: Sequence[str], given: Mapping[str, Any], gate: Gate) -> int:
    """One log about all models; an error about one of them does not hold up the next."""
    outcomes: list[Outcome] = []
    status = _many(models, given, gate, lines=False, heard=outcomes.append)
    records = [one.record for one in outcomes if not one.error]
    _write_sarif(gate, records, [(one.file, one.told) for one in outcomes if one.error])
    return status


def _write_sarif(
    gate: Gate, records: Sequence[Mapping[str, Any]], unread: Sequence[tuple[str, str]]
) -> None:
    from onnxpad.show.sarif import sarif_text

    traps = TRAP in gate.kinds
    sys.stdout.write(sarif_text(records, __version__, traps=traps, unread=unread))
