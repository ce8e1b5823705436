"""Cases as text: a model in ONNX text, and what becomes of it.

A file `cases/<pass>.txt` is a list of blocks:

    == name of the case
    dims: {"H": 8}                  options of `rewrite`, one a line, as JSON; by default the pass
    <ir_version: 8, ...> ...        the model
    -- after                        and the model that it becomes, or
    -- skip                         and `NODE: reason` of each node that a pass leaves alone
    -- nothing                      where there is nothing to do

`-- after, not run` marks models that the oracle cannot run. `-- after` is followed by what
is skipped, each as a line `skip: NODE: reason`. Lines `note:` say what a report says
besides; `whole:` what is done to the model for a target.
`pytest tests/rewriting/test_cases.py --record` writes anew what stands behind `--`; read its diff.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
from onnx import parser, printer

from onnxpad import Rewriting, rewrite

FOLDER = Path(__file__).parent / "cases"
_OPTION = re.compile(r"([a-z_]+): (.*)")


@dataclass(frozen=True)
class TextCase:
    """One block of a file. `options` are those of `rewrite`, `answer` what stands behind `--`."""

    path: Path
    name: str
    options: dict[str, Any]
    text: str
    answer: str

    @property
    def model(self) -> onnx.ModelProto:
        """The model before."""
        model: onnx.ModelProto = parser.parse_model(self.text)
        return model

    def rewritten(self, model: onnx.ModelProto) -> Rewriting:
        """What the passes make of a model."""
        passes = {} if "target" in self.options else {"passes": [self.path.stem]}
        return rewrite(model, **(passes | self.options))

    def block(self, answer: str) -> str:
        """The block with another answer."""
        options = [f"{name}: {json.dumps(value)}" for name, value in self.options.items()]
        return "\n".join([f"== {self.name}", *options, self.text, answer]) + "\n"


def cases_in(path: Path) -> list[TextCase]:
    """The blocks of a file, in order."""
    blocks = re.split(r"^== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return [_case(path, block) for block in blocks]


def _case(path: Path, block: str) -> TextCase:
    before, mark, answer = block.rstrip("\n").partition("\n--")
    name, *lines = before.split("\n")
    options = {}
    while lines and (option := _OPTION.fullmatch(lines[0])):
        options[option[1]] = json.loads(option[2])
        lines.pop(0)
    return TextCase(path, name, options, "\n".join(lines), mark.lstrip("\n") + answer)


def answer_of(done: Rewriting, *, runs: bool) -> str:
    """What stands behind `--`: the model after, nodes that were left alone, or nothing."""
    skips = [f"{one.node.label}: {one.skip}" for one in done.skips]
    skips += [f"{one.node.label}: {one}" for one in done.unfit]
    more = [f"note: {one.node.label}: {one.skip}" for one in done.notes]
    if done.fitting is not None:
        more += [f"whole: {one}" for one in done.fitting.prepared]
    if not done.changed:
        return "\n".join([*(["-- skip", *skips] if skips else ["-- nothing"]), *more])
    assert isinstance(done.model, onnx.ModelProto)
    head = "-- after" if runs else "-- after, not run"
    return "\n".join([head, *(f"skip: {one}" for one in skips), *more, model_text(done.model)])


def model_text(model: onnx.ModelProto) -> str:
    """A model as ONNX text."""
    text: str = printer.to_text(model)
    return re.sub(r"[ \t]+$", "", text.replace("\t", "   "), flags=re.MULTILINE).strip("\n")
