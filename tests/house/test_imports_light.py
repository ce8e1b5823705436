"""What is loaded by when: help, versions and wrong usage must stay as cheap as parsing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
MODEL = str(ROOT / "models" / "pd_same_static_op13.onnx")
HEAVY = ("onnx", "numpy", "onnxruntime", "onnx_graphsurgeon", "rich")
READING_ONLY = ("onnx_graphsurgeon", "onnxruntime", "rich", "difflib")
NOT_FOR_ONE_MODEL = (
    "onnxpad.cli.edits",
    "onnxpad.cli.reports",
    "onnxpad.cli.settings",
    "onnxpad.cli.validate",
    "onnxpad.integrations",
    "onnxpad.model.editing.session",
    "onnxpad.model.files.atomic",
    "onnxpad.model.files.delivery",
    "onnxpad.model.shapes.shape_inference",
    "onnxpad.padding.expansion",
    "onnxpad.reproducing",
    "onnxpad.rewriting",
    "onnxpad.runtimes.targets",
    "onnxpad.sessions",
    "onnxpad.show.sarif",
    "onnxpad.validation",
    "concurrent",
    "queue",
    "subprocess",
)
"""What only several models, settings, targets or a file to write need, or onnx itself."""
LAYER = "onnxpad.resolve('tf', 'conv', input_shape=(1, 3, 8, 8), weight_shape=(4, 3, 3, 3))"
LINES = (
    "--help",
    "--version",
    "rewrite --help",
    "inspect --help",
    "validate --help",
    "explain --help",
    "resolve --help",
    "resolve tf conv --input 1,3,8,8 --kernel 3",
    "",
    "inspect",
    "frobnicate",
    f"inspect --dim nonsense {MODEL}",
    f"rewrite {MODEL}",
    f"rewrite {MODEL} -o out.onnx --in-place",
)


def ran(line: str) -> str:
    return f"from onnxpad.cli import run; run({line.split()!r})"


class Step(NamedTuple):
    """Code, prefixes of what it may not have loaded, and what it must have loaded."""

    code: str
    light: tuple[str, ...]
    needs: tuple[str, ...] = ()


SESSIONS = {
    "parsing": [
        Step("import onnxpad; onnxpad.OnnxpadError, onnxpad.__version__", (*HEAVY, "click")),
        Step("onnxpad.explain('Conv')", (*HEAVY, "click")),
        Step(f"{LAYER}.steps", (*HEAVY, "click")),
        Step("import onnxpad.integrations", HEAVY),
        *(Step(ran(line), HEAVY) for line in LINES),
        Step(ran("explain Conv"), (*HEAVY, "jinja2", "onnxpad.reproducing", "onnxpad.show.site")),
        Step("onnxpad.inspect, onnxpad.rewrite, onnxpad.validate", READING_ONLY[:3], ("onnx",)),
    ],
    "one model": [
        Step("import onnx, numpy", ()),
        Step(ran(f"inspect {MODEL} --json"), (*READING_ONLY, *NOT_FOR_ONE_MODEL)),
        Step(ran(f"inspect {MODEL}"), (*READING_ONLY, *NOT_FOR_ONE_MODEL), ("onnxpad.inspection",)),
        Step(ran(f"inspect {MODEL} --target ncnn"), (), ("onnxpad.runtimes.targets",)),
        Step("open('pyproject.toml', 'a').write('[tool.onnxpad]')", ("onnxpad.cli.settings",)),
        Step(ran(f"inspect {MODEL} --json"), (), ("onnxpad.cli.settings",)),
    ],
    "a rewrite": [
        Step(
            ran(f"rewrite {MODEL} -o out.onnx"),
            (*READING_ONLY[:3], "onnxpad.validation"),
            ("onnxpad.rewriting.rewrite",),
        ),
        Step("import onnxruntime", (), ("onnxruntime",)),
    ],
}


@pytest.mark.parametrize("name", SESSIONS)
def test_what_is_loaded_when(name: str, tmp_path: Path) -> None:
    """One process does one thing after the other and tells what each has loaded."""
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'other'\n")
    steps = SESSIONS[name]
    code = (
        "import json, sys\n"
        f"for code in {[step.code for step in steps]!r}:\n"
        "    before = set(sys.modules)\n"
        "    exec(code)\n"
        "    print('\\nLOADED', json.dumps(sorted(set(sys.modules) - before)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    told = [line for line in result.stdout.splitlines() if line.startswith("LOADED")]
    held: set[str] = set()
    for step, line in zip(steps, told, strict=True):
        loaded = json.loads(line.removeprefix("LOADED"))
        heavy = [one for one in loaded if f"{one}.".startswith(tuple(f"{x}." for x in step.light))]
        assert heavy == [], step.code
        held.update(loaded)
        assert held.issuperset(step.needs), step.code
