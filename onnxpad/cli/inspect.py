"""onnxpad inspect."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from onnxpad.cli import arguments
from onnxpad.cli.outcomes import FINE, fail_for
from onnxpad.cli.requests import each_request
from onnxpad.cli.streams import terminal
from onnxpad.errors import OnnxpadError

if TYPE_CHECKING:
    from onnxpad.graph.reading.chains import Preference
    from onnxpad.inspection import Inspection


_HELP = """List every node that pads, how its padding is written, and what may go wrong.

\b
onnxpad inspect model.onnx
onnxpad inspect model.onnx --dim 'height%32=0' --node 'stem/*'
onnxpad inspect *.onnx --json | jq .summary.traps

Nothing is changed and nothing is run. Operators that could pad and do not are only counted.
 Pads are begin,end for each axis, in cells. 'fits' names
the conventions that can write the same, 'any' all of them; a trap is a place where a runtime is
known to fail or to compute something else. onnxpad explain NAME says more about both.
"""


@click.command(help=_HELP, short_help="List padded nodes and how their padding is written.")
@arguments.models
@arguments.dims
@arguments.nodes
@arguments.ambiguous
@click.option(
    "--all", "everything", is_flag=True, help="Show operators that could pad and do not as well."
)
@arguments.as_json
def inspect(
    *,
    models: tuple[str, ...],
    dims: dict[str, int | str],
    nodes: tuple[str, ...],
    ambiguous: Preference,
    everything: bool,
    as_json: bool,
) -> int:
    """Inspect each model and print what was found."""
    from onnxpad import inspection  # loads onnx

    status = FINE
    for number, (model, given) in enumerate(each_request(models, dims, nodes)):
        try:
            found = inspection.inspect(model, **given, ambiguous=ambiguous)
        except OnnxpadError as error:
            status = fail_for(model, error)
            continue
        if not as_json and len(models) > 1:
            sys.stdout.write(_heading(model, first=number == 0))
        sys.stdout.write(_text(model, found, as_json=as_json, everything=everything))
    return status


def _heading(model: str, *, first: bool) -> str:
    from onnxpad.render.wording import visible

    return f"{'' if first else chr(10)}{visible(model)}\n\n"


def _text(model: str, found: Inspection, *, as_json: bool, everything: bool) -> str:
    if as_json:
        from onnxpad.render.jsons import json_line

        return json_line({"file": model} | found.to_json())
    from onnxpad.render.inspections import inspection_text

    return inspection_text(found, terminal(sys.stdout), everything=everything)
