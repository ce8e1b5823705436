"""Run a command that makes one model of another, and prove or try that both are the same.

    onnxpad guard -- onnxsim model.onnx simple.onnx
    onnxpad guard --in model.onnx --out small.onnx -- python shrink.py
    onnxpad guard --reproduce wrong/ -- onnxslim model.onnx slim.onnx

The command is run as it stands, without a shell. Which model it reads and which one it writes is
seen from the two of its words that end in .onnx, or said with --in and --out. Both are compared as
by validate; where they are not the same, the changed part that is wrong is named.

Exit codes: 0 where both are the same; 1 where they are not, or nothing shows it; 2 where the
command fails or does not write the model.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import cache, partial
from typing import Any

from onnxpad.cli import outputs
from onnxpad.cli.streams import FINDINGS, FINE, report, working

_OPTIONS = (
    *("before", "after", "reproduce", "device", "samples", "seed", "dims"),
    *("timeout", "memory"),
)


def guard(given: dict[str, Any]) -> int:
    """Guard and print the verdict."""
    from onnxpad.guarding import guard as run_guarded  # loads numpy and onnx
    from onnxpad.show.guardings import guarding_document

    command = given["command"]
    outputs.check_page(given["html"], [*command, given["before"], given["after"]])
    options = {name: given[name] for name in _OPTIONS}
    with ExitStack() as behind:

        @cache
        def line() -> Callable[[str], None]:
            return behind.enter_context(working("comparing"))

        def tell(step: str) -> None:  # not before the command has left the terminal
            line()(step)

        quiet = given["as_json"]
        guarding = run_guarded(command, quiet_stdout=quiet, **options, progress=tell)
    outputs.write_page(given["html"], partial(guarding_document, guarding, draw=True))
    report(given, guarding.to_json, lambda: guarding_document(guarding))
    return FINE if guarding.ok else FINDINGS
