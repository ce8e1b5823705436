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
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from onnxpad import __version__
from onnxpad.batch.facts import facts_about
from onnxpad.cli import batches, outputs
from onnxpad.cli.destinations import inputs_of
from onnxpad.cli.gate import TRAP, Gate
from onnxpad.cli.parser import given_by_hand
from onnxpad.cli.streams import FINE

if TYPE_CHECKING:
    from onnxpad.batch.each import Outcome

ALL = "all"
_OPTIONS = ("target", "device", "ambiguous", "timeout", "memory", "live", "cache")


def inspect(given: dict[str, Any]) -> int:
    """Inspect each model and print what was found; FINDINGS where a target refuses a node."""
    from onnxpad.batch.course import Request

    inputs = inputs_of(given["models"], given["exclude"])
    names = [one.model for one in inputs.jobs]
    gate = Gate(names, given)
    _check_targets(given["target"] or ())
    outcomes: list[Outcome] = []

    def judge(outcome: Outcome) -> Outcome:
        outcomes.append(gate.judge(outcome))
        return outcomes[-1]

    status = FINE
    if given["reproduce"] and names:
        return _reproduced(names, given)
    if names:
        apart = inputs.many or bool(given["dask"]) or given_by_hand("failing")
        many = apart or given["sarif"]
        outputs.check_page(given["html"], names, many=many)
        request = Request("inspect", {name: given[name] for name in _OPTIONS})
        lines = not given["sarif"]
        told = judge, gate.say_why
        status = batches.run(inputs.jobs, request, given, *told, many=many, lines=lines)
        status = gate.conclude(status)
    if given["sarif"]:  # also of no model: what reads it goes on having a log to read
        from onnxpad.show.sarif import sarif_text

        records = [one.record for one in outcomes if not one.error]
        unread = [(one.file, one.error) for one in outcomes if one.error]
        traps = TRAP in gate.kinds
        sys.stdout.write(sarif_text(records, __version__, traps=traps, unread=unread))
    return status


def _check_targets(names: Sequence[str]) -> None:
    """RequestError for a target that does not exist, before any model is read."""
    if names:
        from onnxpad.rewriting.for_target.requests import target_asked

        for name in names:
            if name != ALL:
                target_asked(name)


def _reproduced(models: Sequence[str], given: Mapping[str, Any]) -> int:
    """Write one node of one model as a reproducer for one target."""
    from onnxpad.reproducing import reproduce_node

    if len(models) != 1 or len(given["target"]) != 1 or ALL in given["target"]:
        raise click.UsageError("--reproduce is about one model and one target: give one of each")
    (model,), (target,) = models, given["target"]
    options = {name: given[name] for name in ("live", "timeout", "memory")}
    options["dims"] = facts_about(model, given["dims"], given["input_shapes"])
    node = given["reproduce"]
    return outputs.write_reproducer(
        lambda: reproduce_node(model, target=target, node=node, **options), given
    )
