"""What each command loads: help, versions and wrong usage must stay as cheap as parsing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODEL = "models/pd_same_static_op13.onnx"
PARSING_ONLY = {"numpy", "onnx", "onnx_graphsurgeon", "onnxruntime", "rich"}
READING_ONLY = {"onnx_graphsurgeon", "onnxruntime", "rich", "difflib"}


def modules(*lines: tuple[str, ...]) -> dict[str, set[str]]:
    """Modules that a process has loaded after each of these command lines."""
    code = (
        "import sys\n"
        "from onnxpad.cli import run\n"
        f"for line in {lines!r}:\n"
        "    run(list(line))\n"
        "    print('\\nMODULES', ' '.join(line), 'ARE', *sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    told = re.findall(r"^MODULES (.*?) ?ARE (.*)$", result.stdout, re.MULTILINE)
    return {line: set(names.split()) for line, names in told}


def loaded_by(*line: str) -> set[str]:
    (found,) = modules(line).values()
    return found


PARSED = (
    ("--help",),
    ("--version",),
    ("rewrite", "--help"),
    ("inspect", "--help"),
    ("validate", "--help"),
    ("explain", "--help"),
    ("resolve", "--help"),
    ("resolve", "tf", "conv", "--input", "1,3,8,8", "--kernel", "3"),
    (),
    ("inspect",),
    ("frobnicate",),
    ("inspect", "--dim", "nonsense", MODEL),
    ("rewrite", MODEL),
    ("rewrite", MODEL, "-o", "out.onnx", "--in-place"),
)


def test_parsing_loads_nothing_heavy() -> None:
    """One process parses one line after the other and tells what it has loaded after each."""
    loaded = modules(*PARSED)
    assert loaded.keys() == set(map(" ".join, PARSED))
    heavy = {line: names & PARSING_ONLY for line, names in loaded.items()}
    assert heavy == {line: set() for line in loaded}


@pytest.mark.parametrize("options", [("--json",), ()])
def test_inspect_loads_no_runtime_and_nothing_that_writes(options: tuple[str, ...]) -> None:
    loaded = loaded_by("inspect", MODEL, *options)
    assert {"onnx", "onnxpad.inspection"} <= loaded
    assert loaded & READING_ONLY == set()
    unwanted = (
        "onnxpad.validation",
        "onnxpad.rewriting.passes",
        "onnxpad.model.editing.session",
        "onnxpad.sessions",
    )
    assert {name for name in loaded if name.startswith(unwanted)} == set()


def test_inspect_loads_no_targets_where_none_is_asked_for() -> None:
    loaded = loaded_by("inspect", MODEL, "--json")
    unwanted = ("onnxpad.rewriting", "onnxpad.runtimes.targets")
    assert {name for name in loaded if name.startswith(unwanted)} == set()


def test_rewrite_loads_no_runtime(tmp_path: Path) -> None:
    loaded = loaded_by("rewrite", MODEL, "-o", str(tmp_path / "out.onnx"))
    assert "onnxpad.rewriting.rewrite" in loaded
    assert loaded & {"onnxruntime", "rich", "onnx_graphsurgeon", "onnxpad.validation"} == set()


def test_explain_loads_no_onnx() -> None:
    assert loaded_by("explain", "Conv") & {"onnx", "numpy", "rich"} == set()
