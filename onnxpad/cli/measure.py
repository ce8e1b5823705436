"""onnxpad measure."""

from __future__ import annotations

import sys
from typing import Any

import click

from onnxpad.cli import arguments, destinations
from onnxpad.cli.exits import FINE, STANDARD
from onnxpad.cli.streams import report_stream, show, terminal, working

_HELP = """Run drawn models on a runtime, and learn the rules of what it gets wrong.

\b
onnxpad measure opencv -o opencv-here.toml
onnxpad measure openvino --live ov/bin/python -o openvino-here.toml
onnxpad measure ./npu.py -o npu.toml
onnxpad measure 'python run_npu.py {model} {inputs} {outputs}' --count 600 -o npu.toml

TARGET is a target that Python can run, or a runtime of your own: a .py file with run(model,
inputs), or a command that reads and writes .npz files. A command is started for each model: at a
second a start, --count 600 takes about 15 minutes; a .py file is started once. The file that -o
names is a target then: onnxpad inspect MODEL --target npu.toml. Models are small: one operator that
pads, with one Pad in front at most. Exit codes: 0 fine; 2 wrong usage, or a runtime that does not
start or computes no model right.
"""


@click.command(help=_HELP, short_help="Learn what a runtime gets wrong by running drawn models.")
@click.argument("target", metavar="TARGET", shell_complete=arguments.completed("target"))
@click.option(
    "--live",
    is_flag=False,
    flag_value=arguments.HERE,
    metavar="[PYTHON]",
    callback=lambda _context, _option, value: arguments.live_option(value) or None,
    help="The Python that has the runtime; a folder with node_modules for one of npm. "
    "[default: this Python]",
)
@click.option("-o", "--output", metavar="FILE.toml", help="The target file to write.")
@click.option(
    "--count",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many models are drawn, besides those of the conformance table. [default: 4000]",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the drawn models.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="How long one model may take on the runtime. [default: 10]",
)
@click.option("--no-cache", is_flag=True, help="Run every model, also those run before.")
@arguments.spoken
def measure(
    *,
    target: str,
    output: str | None,
    no_cache: bool,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - click gives every option by name
) -> int:
    """Measure, print what came out, and write the target file."""
    from onnxpad import measuring  # loads numpy and onnx

    destinations.refuse_overwriting(output, [target], "give another -o")
    if output is not None:
        measuring.check_place(output)
    given = {name: value for name, value in options.items() if value is not None}
    with working(f"starting {target}") as tell:
        found = measuring.measure(target, cache=not no_cache, progress=tell, **given)
    if output is not None:
        found.save(output)
    stream = report_stream(model_on_stdout=output == STANDARD)
    if as_json:
        from onnxpad.reports import json_line

        stream.write(json_line(found.to_json()))
    else:
        from onnxpad.show.document import document_text
        from onnxpad.show.measurements import measurement_document

        show(document_text(measurement_document(found, output), terminal(stream)), stream)
    sys.stdout.flush()
    return FINE
