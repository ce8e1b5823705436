"""What each command loads: help, versions and wrong usage must stay as cheap as parsing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODEL = "models/pd_same_static_op13.onnx"
PARSING_ONLY = {"numpy", "onnx", "onnx_graphsurgeon", "onnxruntime", "rich"}
READING_ONLY = {"onnx_graphsurgeon", "onnxruntime", "rich", "difflib"}


def modules(*lines: tuple[str, ...], folder: Path = ROOT) -> dict[str, set[str]]:
    """Modules that a process in a folder has loaded after each of these command lines."""
    code = (
        "import sys\n"
        "from onnxpad.cli import run\n"
        f"for line in {lines!r}:\n"
        "    run(list(line))\n"
        "    print('\\nMODULES', ' '.join(line), 'ARE', *sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    told = re.findall(r"^MODULES (.*?) ?ARE (.*)$", result.stdout, re.MULTILINE)
    return {line: set(names.split()) for line, names in told}


def loaded_by(*line: str, folder: Path = ROOT) -> set[str]:
    (found,) = modules(line, folder=folder).values()
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
"""What only several models, settings, targets or a file to write need."""


@pytest.mark.parametrize("options", [("--json",), ()])
def test_inspect_loads_what_one_model_needs(options: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'other'\n")
    loaded = loaded_by("inspect", str(ROOT / MODEL), *options, folder=tmp_path)
    assert {"onnx", "onnxpad.inspection"} <= loaded
    assert loaded & READING_ONLY == set()
    brought = {name for name in loaded if name.startswith(NOT_FOR_ONE_MODEL)}
    assert brought - loaded_by_onnx() == set()


@cache
def loaded_by_onnx() -> set[str]:
    code = "import onnx, sys; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(result.stdout.split())


def test_targets_are_loaded_where_they_are_asked_for(tmp_path: Path) -> None:
    line = ("inspect", str(ROOT / MODEL), "--target", "ncnn")
    assert "onnxpad.runtimes.targets" in loaded_by(*line, folder=tmp_path)


def test_settings_are_loaded_where_a_project_has_some(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.onnxpad]\n")
    loaded = loaded_by("inspect", str(ROOT / MODEL), "--json", folder=tmp_path)
    assert "onnxpad.cli.settings" in loaded


def test_rewrite_loads_no_runtime(tmp_path: Path) -> None:
    loaded = loaded_by("rewrite", MODEL, "-o", str(tmp_path / "out.onnx"))
    assert "onnxpad.rewriting.rewrite" in loaded
    assert loaded & {"onnxruntime", "rich", "onnx_graphsurgeon", "onnxpad.validation"} == set()


def test_a_plugin_of_polygraphy_that_nobody_asks_loads_no_onnx() -> None:
    code = "import onnxpad.integrations, sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) & PARSING_ONLY == set()


def test_explain_loads_no_onnx() -> None:
    loaded = loaded_by("explain", "Conv")
    assert loaded & {"onnx", "numpy", "rich", "jinja2"} == set()
    assert not [
        name for name in loaded if name.startswith(("onnxpad.reproducing", "onnxpad.show.site"))
    ]
