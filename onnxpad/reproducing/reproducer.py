"""A reproducer and its files: model, arrays, a script for the runtime, and a text about them."""

from __future__ import annotations

import json
import os
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from onnxpad.model.files.delivery import write_folder
from onnxpad.model.opened import Model
from onnxpad.model.small_models import Array, text_lines
from onnxpad.reports import Report, reported
from onnxpad.runtimes.running.headers import Header, headers_of
from onnxpad.validation.kernel_verdict import arrays_file

_HOW_EXPECTED = """`expected.npz` follows the ONNX text: padded operators are evaluated in float64,
every other one is run alone in onnxruntime without optimisations."""
_ENDS = {
    "refuses": "does not load it, stops with an error, or ends the process",
    "miscomputes": "runs it, and the numbers or sizes are wrong, without a word",
}
FILES = ("model.onnx", "inputs.npz", "expected.npz", "run.py", "README.md")
"""What a folder holds."""


@reported("target", "version", "row", "answer", "what", "evidence", "agrees", "about", "folder")
@dataclass(frozen=True, repr=False)
class Reproducer(Report):
    """What shows that a runtime does not do with a model what the ONNX text says.

    row: the address of the fact among those of the target; `what` its operators and conditions.
    about: what else is worth knowing: other facts that hold for the model as well, or what of the
        user's model was replaced.
    runner: the file or the command of a runtime of the user's own.
    expected: outputs by the ONNX text.
    agrees: what onnxruntime without optimisations makes of the model.
    folder: where it was written.
    """

    target: str
    version: str
    row: str
    answer: str
    what: str
    evidence: str
    about: tuple[str, ...] = ()
    command: str = ""
    runner: str = ""
    model: Model = field(default_factory=Model)
    inputs: Mapping[str, Array] = field(default_factory=dict)
    expected: Mapping[str, Array] = field(default_factory=dict)
    agrees: str = ""
    folder: str = ""

    schema = 1

    def files(self, version: str = "") -> dict[str, bytes]:
        """The contents of the folder by name; the text names this `version` of onnxpad."""
        contents = (
            self.model.SerializeToString(deterministic=True),
            arrays_file(self.inputs),
            arrays_file(self.expected),
            script(self).encode(),
            _text(self, version).encode(),
        )
        return dict(zip(FILES, contents, strict=True))

    @property
    def steps(self) -> str:
        """How to reproduce the fault; includes the run if no adapter runs the target in Python."""
        if self.header or self.runner:
            return "`python run.py`"
        return (
            f"run model.onnx on inputs.npz in {self.target}, save its outputs by name as "
            "results.npz, then `python run.py`"
        )

    @property
    def header(self) -> Header | None:
        """The adapter that runs the target in Python, or None."""
        headers = headers_of(self.target.partition("@")[0])
        return next((header for header in headers if not header.is_javascript), None)

    @property
    def model_lines(self) -> list[str]:
        """The model as text."""
        return text_lines(self.model)

    def save(self, folder: str | os.PathLike[str], version: str = "") -> Reproducer:
        """Write all files into a folder of their own; RequestError where it holds others."""
        write_folder(folder, self.files(version))
        return replace(self, folder=os.fspath(folder))


def script(found: Reproducer) -> str:
    """What runs the model in the runtime and compares; it fails where the fault still shows."""
    header = found.header
    if found.runner:
        text = _own(found)
    elif header is None:
        text = _parts()["other"].format(target=found.target.partition("@")[0])
    else:
        ranks = {value.name: -1 for value in found.model.graph.output}
        ranks |= {name: value.ndim for name, value in found.expected.items()}
        code = header.file.read_text("utf-8")
        text = _python_head(header) + code + _parts()["run"].format(outputs=ranks)
    if found.expected:
        return text + _parts()["compare"]
    return text + _parts()["computes_nothing" if found.answer == "miscomputes" else "only_runs"]


@cache
def _parts() -> Mapping[str, str]:
    """Parts of scripts by name."""
    return tomllib.loads((Path(__file__).parent / "scripts.toml").read_text("utf-8"))


def _own(found: Reproducer) -> str:
    """What runs a runtime of the user's own, from wherever the script lies."""
    if found.runner.endswith(".py") and " " not in found.runner:
        return _parts()["own_file"].format(target=found.target, file=os.path.abspath(found.runner))  # noqa: PTH100
    words = shlex.split(found.runner)
    return _parts()["own_command"].format(target=found.target, words=words, folder=os.getcwd())  # noqa: PTH109


def _python_head(header: Header) -> str:
    """What installs the runtime, for people and by PEP 723, and its variables."""
    listed = json.dumps(header.dependencies)
    lines = ["# /// script", f"# dependencies = {listed}", "# ///", f"# {header.install}"]
    lines += [_parts()["here"]]
    if header.variables:
        lines += [f"os.environ |= {dict(header.variables)}"]
    return "\n".join([*lines, ""])


def _text(found: Reproducer, version: str) -> str:
    lines = [
        f"# {found.version} {found.answer} {found.what}",
        "",
        f"{found.version} {_ENDS[found.answer]}. The model:",
        "",
        *(f"    {line}" for line in found.model_lines),
        "",
        f"To see it: {found.steps}, which fails as long as it is so.",
        "",
        _HOW_EXPECTED,
        f"onnxruntime on the CPU without optimisations {found.agrees.rstrip('.')}.",
        *(f"Note: {line}." for line in found.about),
        "",
        f"Evidence: {found.evidence}.",
        f"Made by {' '.join(filter(None, ('onnxpad', version)))}: `{found.command}`",
        f"Files: {', '.join(FILES)}",
    ]
    return "\n".join(lines) + "\n"
