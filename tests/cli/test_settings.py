"""[tool.onnxpad] in pyproject.toml: found upwards, below the command line, and never in silence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onnxpad.cli.options import OPTIONS
from onnxpad.cli.settings import LARGEST
from tests.cli.processes import SAME, onnxpad
from tests.cli.test_targets import STRINGS
from tests.command import run

Captured = pytest.CaptureFixture[str]
OPENCV = '[tool.onnxpad]\ntarget = "opencv"\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "deep" / "down").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "down")
    return tmp_path / "pyproject.toml"


def inspects(*options: str, before: tuple[str, ...] = ()) -> int:
    return run([*before, "inspect", str(SAME), *options])


def test_no_file_says_what_is_read_and_written_and_lifts_a_limit() -> None:
    settable = {row.setting for row in OPTIONS if "set" in row.more}
    unsafe = {"in-place", "output", "plan", "write-baseline", "timeout", "memory", "data", "live"}
    assert settable
    assert not settable & unsafe


def test_it_is_found_upwards(capsys: Captured, project: Path) -> None:
    assert inspects() == 0
    project.write_text(OPENCV)
    assert inspects() == 1
    assert "target opencv 5.0: " in capsys.readouterr().out


def test_a_nearer_file_about_other_tools_is_passed_over(project: Path) -> None:
    project.write_text(OPENCV)
    nearer = project.parent / "deep" / "pyproject.toml"
    for text in ("[project]\nname = 'x'", "[project]\ndependencies = ['onnxpad']", "[tool.ruff]"):
        nearer.write_text(text)
        assert inspects() == 1
    nearer.write_text("[tool.onnxpad]\n")
    assert inspects() == 0


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["--fail-on", "refuse"], "'refuse' is not one of"),
        (["--fail-on=refuse"], "'refuse' is not one of"),
        (["--exclude", "nobody"], "--exclude 'nobody' matches none of the models"),
        (["--exclude", "*", str(STRINGS)], "no model is left: exclude '*'"),
    ],
)
def test_what_is_typed_is_not_blamed_on_the_file(
    capsys: Captured, project: Path, typed: list[str], message: str
) -> None:
    project.write_text('[tool.onnxpad]\nfail-on = "refused"\nexclude = ["*", "broken"]\n')
    assert inspects(*typed) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "pyproject" not in said


def test_what_is_no_file_or_too_large_holds_nothing_up(capsys: Captured, project: Path) -> None:
    os.mkfifo(project.parent / "deep" / "pyproject.toml")
    assert inspects() == 0
    project.write_text("#" * (LARGEST + 1))
    assert inspects() == 2
    assert f"cannot read {os.path.relpath(project)}: 1048577 bytes" in capsys.readouterr().err


def test_help_does_without_the_file(capsys: Captured, project: Path) -> None:
    project.write_text("[tool.onnxpad")
    assert inspects("--help") == 0
    assert run(["--version"]) == 0
    assert "error" not in capsys.readouterr().err


def test_a_folder_that_is_gone_has_no_file(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = onnxpad("explain", "opencv", folder=gone)
    assert done.returncode == 0
