"""The README's commands are run, and what they print is what it shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from onnx import helper

from onnxpad.retargeting.plan import KEYS
from tests.house.readme_tables import README, filled

ROOT = README.parent
TEXT = README.read_text()
CONV = "node_Conv_95"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# Digits of rounding differ from processor to processor, and so does time.
ROUNDING = re.compile(r"\d+(\.\d+)?e-\d+|\d+(\.\d+)? %|in \d+\.\d s")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "models", made / "models")
    return made


def run(command: str, folder: Path) -> str:
    binaries = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["/bin/bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": binaries, "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr + done.stdout if "try" in done.stderr else done.stdout + done.stderr


def commands(block: str) -> list[tuple[str, str]]:
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in parts]


def blocks(language: str) -> list[str]:
    return [text for found, text in BLOCK.findall(TEXT) if found == language]


def test_the_first_command_rewrites_and_proves(folder: Path) -> None:
    """What stands behind the installation, which `.ci/run` and `tests/check.py` do for real."""
    install, main = blocks("sh")[0].strip().rsplit(" && ", 1)
    assert install == "python3 -m venv .venv && .venv/bin/pip install '.[gpu]'"
    printed = run(main.replace(".venv/bin/", ""), folder)
    assert "validation: proved: both are the same function" in printed
    assert (folder / "yolo-explicit.onnx").exists()


def test_the_second_command_is_what_ci_runs() -> None:
    second = blocks("sh")[1].strip()
    assert second == "python3 tests/check.py"
    assert "tests/check.py" in (ROOT / ".ci" / "run").read_text()


def test_the_console_shows_what_is_printed(folder: Path) -> None:
    checked = 0
    for block in blocks("console"):
        for command, shown in commands(block):
            printed = run(command, folder)
            assert ROUNDING.sub("#", printed.strip()) == ROUNDING.sub("#", shown.strip()), command
            checked += 1
    assert checked >= 7


def test_the_plan_is_taken_and_its_fields_are_those_of_the_code(folder: Path) -> None:
    (plan,) = blocks("json")
    (folder / "own.json").write_text(plan)
    command = "onnxpad retarget models/kt_net_even.onnx --plan own.json -o own.onnx"
    assert "2 nodes moved as planned, 0 unchanged, 0 skipped" in run(command, folder)
    nodes = {node.name: node for node in onnx.load(folder / "own.onnx").graph.node}
    attributes = {one.name: helper.get_attribute_value(one) for one in nodes[CONV].attribute}
    assert attributes["auto_pad"] == b"SAME_LOWER"
    rows = re.findall(
        r"^\| `(\w+)` \|", TEXT.partition("### Plan files")[2].partition("##")[0], re.MULTILINE
    )
    assert rows == ["node", *KEYS, "conventions"]


def test_the_python_example_runs(folder: Path) -> None:
    (folder / "example.py").write_text(blocks("python")[0])
    printed = run("python example.py", folder)
    assert printed.splitlines()[0] == "10 padded operators"
    assert printed.splitlines()[-1].endswith("proved")


def test_the_settings_are_taken(folder: Path) -> None:
    project = folder / "project"
    shutil.copytree(folder / "models", project / "models")
    (project / "pyproject.toml").write_text(blocks("toml")[0])
    run("onnxpad inspect models/*.onnx --write-baseline", project)
    assert "known findings in known.json" in run("onnxpad inspect models/*.onnx", project)


def test_the_example_of_many_models_runs(folder: Path) -> None:
    (folder / "many.py").write_text(blocks("python")[1])
    assert run("python many.py", folder).startswith(
        "{'rewritten': 3, 'refused': 2, 'unchanged': 5} [("
    )


def test_the_tables_are_those_of_the_code() -> None:
    assert filled(TEXT) == TEXT, "run python -m tests.house.readme_tables"
