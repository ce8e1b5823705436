"""onnxpad port."""

from __future__ import annotations

import sys
from typing import Any

import click

from onnxpad.cli import arguments
from onnxpad.cli.exits import FINDINGS, FINE
from onnxpad.cli.streams import show, working
from onnxpad.errors import RequestError

_HELP = """Write every padded operator as code of a framework, so that its weights compute the same.

\b
onnxpad port model.onnx --as pytorch
onnxpad port model.onnx --as tensorflow --dim height=224 --node 'stem/*'

Each block takes x, and weight and bias where it has them. A Pad in front of an operator is part of
its block. Exit codes: 0 all are written; 1 some are not, and a comment says why.
"""


@click.command(help=_HELP, short_help="Write padded operators as code of a framework.")
@click.argument("model", type=arguments.MODEL)
@click.option(
    "--as",
    "language",
    required=True,
    metavar="FRAMEWORK",
    help="What to write: pytorch (torch) or tensorflow (tf, keras).",
)
@arguments.dims
@arguments.nodes
@arguments.ambiguous
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Write operators that can pad and write no padding as well.",
)
@arguments.timeout
@arguments.memory
@arguments.spoken
def port(*, model: str, language: str, as_json: bool, **options: Any) -> int:  # noqa: ANN401 - click gives every option by name
    """Port and print the code."""
    from onnxpad import porting  # loads onnx
    from onnxpad.show import portings
    from onnxpad.show.pasting import language_called

    try:
        language = language_called(language)
    except RequestError as error:
        raise click.BadParameter(error.told, param_hint="--as") from None
    options["nodes"] = list(options["nodes"]) or None
    with working(model):
        found = porting.port(model, **options)
    if as_json:
        from onnxpad.reports import json_line

        plain = found.to_json()
        for node, one in zip(plain["nodes"], found.nodes, strict=True):
            node.update(portings.record(one, language))
        sys.stdout.write(json_line({"file": model, "language": language, **plain}))
    else:
        from onnxpad.show.document import document_text

        show(document_text(portings.porting_document(found, language, model)))
    return FINE if portings.complete(found, language) else FINDINGS
