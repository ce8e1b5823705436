"""onnxpad explain."""

from __future__ import annotations

import sys

import click

from onnxpad.cli import arguments
from onnxpad.cli.outcomes import FINE
from onnxpad.cli.streams import terminal

_HELP = """Say what a pass, target, form, operator, convention, trap or optimiser is.

Without NAME list all.

\b
onnxpad explain
onnxpad explain split-pads
onnxpad explain AveragePool
onnxpad explain opencv
"""


@click.command(
    help=_HELP,
    short_help="Say what a pass, target, form, operator, convention, trap or optimiser is.",
)
@click.argument("name", required=False)
@arguments.as_json
def explain(*, name: str | None, as_json: bool) -> int:
    """Print one entry, or the list of all."""
    from onnxpad import explaining  # only this verb needs it
    from onnxpad.reports import json_line
    from onnxpad.show import explanations

    found = explaining.entries() if name is None else explaining.explain(name)
    if as_json:
        sys.stdout.writelines(json_line(entry.to_json()) for entry in found)
    elif name is None:
        sys.stdout.write(explanations.list_text(found, terminal(sys.stdout)))
    else:
        sys.stdout.write("\n".join(explanations.explanation_text(entry) for entry in found))
    return FINE
