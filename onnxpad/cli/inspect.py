"""onnxpad inspect."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from onnxpad import __version__
from onnxpad.cli import arguments, gate
from onnxpad.cli.outcomes import FINDINGS, FINE, fail_for
from onnxpad.cli.requests import each_request
from onnxpad.cli.streams import terminal
from onnxpad.errors import OnnxpadError

if TYPE_CHECKING:
    from onnxpad.cli.gate import Judged
    from onnxpad.inspection import Inspection


_HELP = """List the operators that can pad: how their padding is written, and what may go wrong.

\b
onnxpad inspect model.onnx
onnxpad inspect model.onnx --dim 'height%32=0' --node 'stem/*'
onnxpad inspect *.onnx --json | jq .summary.traps
onnxpad inspect model.onnx --target opencv --target ncnn

Nothing is changed and nothing is run. Operators that can pad and write no padding are only
counted. Pads are begin,end for each axis, in cells. 'fits' names the frameworks that can write the
same, first those whose own rule it is (--json has all), 'any' where everybody can; a trap is a
place where a runtime is known to fail or to compute something else. onnxpad explain NAME says more
about both. With --target it says what a runtime does with each operator that can pad, how that is
known, and what rewrite --target would write; it exits 1 where one is refused or computed wrongly.
All other operators are not judged.
"""


@click.command(help=_HELP, short_help="List padded nodes and how their padding is written.")
@arguments.models
@arguments.dims
@arguments.nodes
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
    help="Show findings that are alike one by one, not as one row with a count.",
)
@arguments.targets
@click.option(
    "--device",
    type=click.Choice(["cuda", "cpu"]),
    help="Open the model with onnxruntime and say where each padded node runs; exit 1 where one "
    "leaves the GPU.",
)
@gate.fail_on
@gate.baseline
@gate.write_baseline
@click.option(
    "--sarif",
    is_flag=True,
    help="Print SARIF 2.1.0 about the targets, and with --fail-on trap about traps.",
)
@arguments.timeout
@arguments.memory
@arguments.as_json
def inspect(models: tuple[str, ...], **given: Any) -> int:  # noqa: ANN401
    """Inspect each model and print what was found; FINDINGS where a target refuses a node."""
    from onnxpad import inspection  # loads onnx

    checks = gate.Gate(models, given)
    _check(given["targets"], checks, sarif=given["sarif"], as_json=given["as_json"])
    names = ("device", "ambiguous", "timeout", "memory")
    asked = {"target": given["targets"], **{name: given[name] for name in names}}
    status, reports = FINE, []
    for number, (model, about) in enumerate(each_request(models, given["dims"], given["nodes"])):
        try:
            found = inspection.inspect(model, **about, **asked)
        except OnnxpadError as error:
            status = fail_for(model, error)
            continue
        judged = checks.judged(model, found.findings, found.targets)
        status = max(status, FINDINGS) if judged.failing else status
        if given["sarif"]:
            reports.append((model, found, judged.known))
        else:
            if not given["as_json"] and len(models) > 1:
                sys.stdout.write(_heading(model, first=number == 0))
            sys.stdout.write(_text(model, found, judged, given))
            sys.stdout.flush()  # what is finished is there, whatever happens to the next
        checks.say_why(model, judged)
    if given["sarif"]:
        from onnxpad.show.sarif import Reported, sarif_text

        told = [Reported(*report) for report in reports]
        traps = gate.TRAP in checks.kinds
        sys.stdout.write(sarif_text(told, __version__, traps=traps))
    return checks.concluded(status)


def _check(targets: tuple[str, ...], checks: gate.Gate, *, sarif: bool, as_json: bool) -> None:
    """Errors for targets that do not exist, before any model is read, and for two formats."""
    from onnxpad.runtimes.targets import find_target

    for name in targets:
        find_target(name)
    if sarif and as_json:
        raise click.UsageError("--sarif and --json are two formats: give one of them")
    if sarif and not targets and gate.TRAP not in checks.kinds:
        raise click.UsageError(
            "--sarif reports what targets refuse: add --target T, or --fail-on trap for traps"
        )


def _heading(model: str, *, first: bool) -> str:
    from onnxpad.show.wording import visible

    return f"{'' if first else chr(10)}{visible(model)}\n\n"


def _text(model: str, found: Inspection, judged: Judged, given: Mapping[str, Any]) -> str:
    if given["as_json"]:
        from onnxpad.reports import json_line

        return json_line({"file": model} | found.to_json() | judged.to_json())
    from onnxpad.show.inspections import inspection_text

    return inspection_text(
        found,
        terminal(sys.stdout),
        model=model,
        everything=given["everything"],
        each=given["each"],
    )
