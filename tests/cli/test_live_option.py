"""--live takes the next word only where that is a Python."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from onnxpad.cli import commands
from onnxpad.cli.values import HERE, settled_live


@pytest.mark.parametrize("name", ["model.pb", "model", "net.ort"])
def test_a_model_that_is_marked_as_a_program_is_not_started(tmp_path: Path, name: str) -> None:
    model = tmp_path / name
    model.write_text("#!/bin/sh\n")
    model.chmod(0o755)
    assert settled_live(["--live", str(model)]) == [f"--live={HERE}", str(model)]


def test_a_python_and_the_folder_of_an_environment_are_taken(tmp_path: Path) -> None:
    assert settled_live(["--live", sys.executable]) == [f"--live={sys.executable}"]
    (tmp_path / "pyvenv.cfg").touch()
    assert settled_live(["--live", str(tmp_path)]) == [f"--live={tmp_path}"]


def test_measure_takes_live_without_a_python() -> None:
    measure = commands.commands["measure"]
    options = measure.make_context("measure", ["onnxruntime", f"--live={HERE}"]).params
    assert options["live"] is True
    assert measure.make_context("measure", ["onnxruntime"]).params["live"] is False
