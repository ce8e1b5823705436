"""onnxpad guard."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache, partial
from typing import Any

import click

from onnxpad.cli import arguments, html_files
from onnxpad.cli.exits import FINDINGS, FINE
from onnxpad.cli.streams import show, terminal, working

_HELP = """Run a command that makes one model of another, and prove or try that both are the same.

\b
onnxpad guard -- onnxsim model.onnx simple.onnx
onnxpad guard --in model.onnx --out small.onnx -- python shrink.py
onnxpad guard --reproduce wrong/ -- onnxslim model.onnx slim.onnx

The command is run as it stands, without a shell. Which model it reads and which one it writes is
seen from the two of its words that end in .onnx, or said with --in and --out. Both are compared as
by validate; where they are not the same, the changed part that is wrong is named.

Exit codes: 0 where both are the same; 1 where they are not, or nothing shows it; 2 where the
command fails or does not write the model.
"""


@click.command(
    help=_HELP,
    short_help="Prove what another tool does to a model.",
    context_settings={"allow_interspersed_args": False},
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--in", "before", type=click.Path(), metavar="FILE", help="The model that it reads.")
@click.option("--out", "after", type=click.Path(), metavar="FILE", help="The model that it writes.")
@click.option(
    "--reproduce",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Where the models differ: write the changed part in both forms, and inputs that show it.",
)
@html_files.html
@arguments.device
@arguments.samples
@arguments.seed
@arguments.dims
@arguments.timeout
@arguments.memory
@arguments.spoken
def guard(*, command: tuple[str, ...], as_json: bool, **options: Any) -> int:  # noqa: ANN401 - click gives every option by name
    """Guard and print the verdict."""
    from onnxpad import guarding  # loads numpy and onnx

    page = options.pop("html")
    html_files.check(page, [*command, options["before"], options["after"]])
    with ExitStack() as behind:

        @cache
        def shown() -> Callable[[str], None]:
            return behind.enter_context(working("comparing"))

        def told(step: str) -> None:  # not before the command has left the terminal
            shown()(step)

        found = guarding.guard(command, quiet_stdout=as_json, **options, progress=told)
    from onnxpad.show.guardings import guarding_document

    html_files.write(page, partial(guarding_document, found, draw=True))
    if as_json:
        from onnxpad.reports import json_line

        sys.stdout.write(json_line(found.to_json()))
    else:
        from onnxpad.show.document import document_text

        show(document_text(guarding_document(found), terminal(sys.stdout)))
    return FINE if found.ok else FINDINGS
