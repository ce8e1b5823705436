"""`inspect`: models one by one, what fails, and SARIF or a reproducer instead."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from onnxpad import __version__
from onnxpad.batch.facts import facts_of_each
from onnxpad.cli import batches, outputs
from onnxpad.cli.gate import Gate
from onnxpad.cli.parser import given_by_hand
from onnxpad.cli.streams import FINE, keywords
from onnxpad.inspection import TRAP

if TYPE_CHECKING:
    from onnxpad.batch.each import Outcome

ALL = "all"


def inspect(given: dict[str, Any]) -> int:
    """Inspect each model and print what was found; FINDINGS where a target refuses a node."""
    from onnxpad.batch.course import Task

    inputs = batches.models_of(given)
    names = [one.model for one in inputs.jobs]
    gate = Gate(names, given)
    for name in given["target"] or ():
        if name != ALL:
            from onnxpad.runtimes.targets import find_target

            find_target(name)  # before any model is read
    if given["reproduce"] and names:
        return _reproduced(names, given)
    outcomes: list[Outcome] = []

    def judge(outcome: Outcome) -> Outcome:
        outcomes.append(gate.judge(outcome))
        return outcomes[-1]

    status = FINE
    if names:
        many = inputs.many or bool(given["dask"] or given["sarif"]) or given_by_hand("failing")
        task = Task("inspect", keywords("inspect", given))
        told = judge, gate.say_why
        lines = not given["sarif"]
        status = batches.run(inputs.jobs, task, given, *told, many=many, lines=lines)
        status = gate.conclude(status)
    if given["sarif"]:  # also of no model: what reads it goes on having a log to read
        from onnxpad.show.sarif import sarif_text

        records = [one.record for one in outcomes if not one.error]
        unread = [(one.file, one.error) for one in outcomes if one.error]
        traps = TRAP in gate.kinds
        sys.stdout.write(sarif_text(records, __version__, traps=traps, unread=unread))
    return status


def _reproduced(models: list[str], given: dict[str, Any]) -> int:
    """Write one node of one model as a reproducer for one target."""
    from onnxpad.reproducing import reproduce_node

    if len(models) != 1 or len(given["target"]) != 1 or ALL in given["target"]:
        raise click.UsageError("--reproduce is about one model and one target: give one of each")
    (model,), (target,) = models, given["target"]
    ((dims, _),), _ = facts_of_each(models, given["dims"], shapes=given["input_shapes"])
    options = {name: given[name] for name in ("live", "timeout", "memory")} | {"dims": dims}
    node = given["reproduce"]
    return outputs.write_reproducer(
        lambda: reproduce_node(model, target=target, node=node, **options), given
    )
