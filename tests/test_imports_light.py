"""What each command loads: help, versions and wrong usage must stay as cheap as parsing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODEL = "models/pd_same_static_op13.onnx"
PARSING_ONLY = {"numpy", "onnx", "onnx_graphsurgeon", "onnxruntime", "rich"}
READING_ONLY = {"onnx_graphsurgeon", "onnxruntime", "rich", "difflib"}


def modules(*arguments: str) -> set[str]:
    """Modules that a process running this command line has loaded when it ends."""
    code = (
        "import sys\n"
        "from onnxpad.cli import run\n"
        f"status = run({list(arguments)!r})\n"
        "print('MODULES', status, *sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(result.stdout.split("MODULES")[-1].split())


@pytest.mark.parametrize(
    "arguments",
    [
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
    ],
    ids=" ".join,
)
def test_parsing_loads_nothing_heavy(arguments: tuple[str, ...]) -> None:
    assert modules(*arguments) & PARSING_ONLY == set()


@pytest.mark.parametrize("options", [("--json",), ()])
def test_inspect_loads_no_runtime_and_nothing_that_writes(options: tuple[str, ...]) -> None:
    loaded = modules("inspect", MODEL, *options)
    assert {"onnx", "onnxpad.inspection"} <= loaded
    assert loaded & READING_ONLY == set()
    unwanted = (
        "onnxpad.validation",
        "onnxpad.rewriting.passes",
        "onnxpad.model.editing.session",
        "onnxpad.sessions",
    )
    assert {name for name in loaded if name.startswith(unwanted)} == set()


def test_rewrite_loads_no_runtime(tmp_path: Path) -> None:
    loaded = modules("rewrite", MODEL, "-o", str(tmp_path / "out.onnx"))
    assert "onnxpad.rewriting.rewrite" in loaded
    assert loaded & {"onnxruntime", "rich", "onnx_graphsurgeon", "onnxpad.validation"} == set()


def test_explain_loads_no_onnx() -> None:
    assert modules("explain", "Conv") & {"onnx", "numpy", "rich"} == set()
