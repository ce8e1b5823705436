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

import numpy as np

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
_SHOWN = "{fault}. The model:", "To see it: {program}, which fails as long as it is so."
_NOT_SHOWN = (
    "What is known: {fault}. This model did not show it:",
    "{program} runs it, and fails where the fault shows after all.",
)
"""How the text begins, and how the script is to be understood."""
FILES = (
    *("model.onnx", "inputs.npz", "expected.npz", "run.py", "README.md"),
    *("inputs.json", "expected.json", "run.mjs"),
)
"""What a folder may hold; the last three for a runtime of JavaScript alone."""


@reported("target", "version", "row", "answer", "what", "evidence", "agrees", "about", "folder")
@dataclass(frozen=True, repr=False)
class Reproducer(Report):
    """What shows that a runtime does not do with a model what the ONNX text says.

    row: the address of the fact among those of the target; `what` its operators and conditions.
    about: what else is worth knowing: other facts that hold for the model as well, or what of the
        user's model was replaced.
    shown: False where the runtime was run with this model and others of the kind, and none showed
        the fault.
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
    shown: bool = True
    runner: str = ""
    model: Model = field(default_factory=Model)
    inputs: Mapping[str, Array] = field(default_factory=dict)
    expected: Mapping[str, Array] = field(default_factory=dict)
    agrees: str = ""
    folder: str = ""

    schema = 1

    def files(self, version: str = "") -> dict[str, bytes]:
        """The contents of the folder by name: model, arrays, script, and what to say about it.

        `version` is that of onnxpad, which the text names.
        """
        made = {
            "model.onnx": self.model.SerializeToString(deterministic=True),
            "inputs.npz": arrays_file(self.inputs),
            "expected.npz": arrays_file(self.expected),
        }
        name = self.program.split()[1]
        if name == "run.mjs":
            made["inputs.json"] = _as_json(self.inputs)
            made["expected.json"] = _as_json(self.expected)
        made[name] = script(self).encode()
        made["README.md"] = _text(self, version, [*made, "README.md"]).encode()
        return made

    @property
    def program(self) -> str:
        """What to type in the folder to see it."""
        return "node run.mjs" if self.header and self.header.is_javascript else "python run.py"

    @property
    def steps(self) -> str:
        """What to do to see it; of a target that nothing here runs, the run itself as well."""
        if self.header or self.runner:
            return f"`{self.program}`"
        return (
            f"run model.onnx on inputs.npz in {self.target}, save its outputs by name as "
            f"results.npz, then `{self.program}`"
        )

    @property
    def header(self) -> Header | None:
        """The adapter that runs the target; None where nothing here does."""
        return next(iter(headers_of(self.target.partition("@")[0])), None)

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
    elif header.is_javascript:
        lines = [f"process.env.{name} = {json.dumps(x)};\n" for name, x in header.variables.items()]
        compared = Path(__file__).parent / "compare.mjs"
        return "".join(
            [f"// {header.install}\n", *lines, header.code, "\n", compared.read_text("utf-8")]
        )
    else:
        names = [value.name for value in found.model.graph.output]
        ranks = {
            name: found.expected[name].ndim if name in found.expected else -1 for name in names
        }
        text = _python_head(header) + header.code + _parts()["run"].format(outputs=ranks)
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


def _as_json(arrays: Mapping[str, Array]) -> bytes:
    """Type, values and sizes of each."""
    listed = {
        name: [str(value.dtype), value.astype(np.float64).ravel().tolist(), list(value.shape)]
        for name, value in arrays.items()
    }
    return json.dumps(listed).encode()


def _text(found: Reproducer, version: str, names: list[str]) -> str:
    starts, runs = _SHOWN if found.shown else _NOT_SHOWN
    lines = [
        f"# {found.version} {found.answer} {found.what}",
        "",
        starts.format(fault=f"{found.version} {_ENDS[found.answer]}"),
        "",
        *(f"    {line}" for line in found.model_lines),
        "",
        runs.format(program=found.steps),
        "",
        _HOW_EXPECTED,
        f"onnxruntime on the CPU without optimisations {found.agrees.rstrip('.')}.",
        *(f"Note: {line}." for line in found.about),
        "",
        f"Evidence: {found.evidence}.",
        f"Made by {' '.join(filter(None, ('onnxpad', version)))}: `{found.command}`",
        f"Files: {', '.join(names)}",
    ]
    return "\n".join(lines) + "\n"
