"""[tool.onnxpad] in pyproject.toml: found upwards, below the command line, and never in silence."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from onnxpad.cli import commands, project_files, run
from onnxpad.cli.settings import LARGEST, SETTABLE, found_settings
from tests.cli.processes import SAME, onnxpad
from tests.cli.test_targets import STRINGS

Captured = pytest.CaptureFixture[str]
OPENCV = '[tool.onnxpad]\ntarget = "opencv"\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "deep" / "down").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "down")
    return tmp_path / "pyproject.toml"


def inspects(*options: str, before: tuple[str, ...] = ()) -> int:
    return run([*before, "inspect", str(SAME), *options])


def test_what_may_be_set_is_an_option() -> None:
    known = {
        name
        for options in found_settings(commands, project_files()).verbs.values()
        for name in options
    }
    assert known >= SETTABLE
    unsafe = {"in-place", "output", "plan", "write-baseline", "timeout", "memory", "data"}
    assert not SETTABLE & unsafe


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


def test_the_command_line_wins(project: Path) -> None:
    project.write_text(OPENCV)
    assert inspects("--target", "tvm") == 0
    assert inspects(before=("--isolated",)) == 0


@pytest.mark.parametrize("verb", ["inspect", "rewrite", "retarget", "validate"])
def test_what_is_left_out_by_the_file_alone_is_named(
    capsys: Captured, project: Path, verb: str
) -> None:
    """As with every option the command line wins, and models would come back in silence."""
    project.write_text('[tool.onnxpad]\nexclude = ["a*", "b b*"]\n')
    for name in ("a", "b b", "c", "d"):
        shutil.copy(SAME, f"{name}.onnx")
    more = {"rewrite": ["--check"], "retarget": ["--check", "--to", "pytorch"], "validate": ["."]}
    command = [verb, ".", *more.get(verb, [])]
    note = "note: exclude in [tool.onnxpad] is not used beside --exclude: add "
    assert run([*command, "--exclude", "c*"]) in {0, 1}
    assert f"{note}--exclude 'a*' --exclude 'b b*'\n" in capsys.readouterr().err
    for typed in ((), ("--exclude", "a*", "--exclude", "b b*")):
        assert run([*command, *typed]) in {0, 1}
        assert note not in capsys.readouterr().err


def test_a_table_of_a_verb_wins_over_that_of_all(capsys: Captured, project: Path) -> None:
    project.write_text(f'{OPENCV}node = ["*"]\n[tool.onnxpad.inspect]\ntarget = ["tvm"]\n')
    assert inspects() == 0
    assert run(["rewrite", str(SAME), "--check"]) == 1
    assert "opencv: " in capsys.readouterr().out
    assert found_settings(commands, project_files()).values["rewrite"] == {
        "target": ["opencv"],
        "node": ["*"],
    }


def test_every_kind_of_value_is_taken(project: Path) -> None:
    project.write_text(
        '[tool.onnxpad]\nfail-on = "trap"\nseed = 7\n[tool.onnxpad.inspect]\nall = true\n'
    )
    assert run(["inspect", str(STRINGS)]) == 1
    assert found_settings(commands, project_files()).defaults()["validate"] == {"seed": 7}


def test_the_baseline_lies_beside_the_file(project: Path) -> None:
    project.write_text(f'{OPENCV}baseline = "known.json"\n')
    assert inspects("--write-baseline") == 0
    assert project.with_name("known.json").exists()
    assert inspects() == 0


def test_a_file_of_rules_lies_beside_the_file(capsys: Captured, project: Path) -> None:
    project.write_text('[tool.onnxpad]\ntarget = ["rules/npu.toml", "opencv"]\n')
    project.with_name("rules").mkdir()
    rules = project.with_name("rules") / "npu.toml"
    rules.write_text('[[rule]]\noperators = "all"\nwhen = ["same"]\nanswer = "refuses"\n')
    assert inspects("--json") == 1
    assert set(json.loads(capsys.readouterr().out)["targets"]) == {"npu", "opencv"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.onnxpad", "is not TOML: Expected ']'"),
        ("[tool]\nonnxpad = 3", "tool.onnxpad is 3, and must be a table"),
        ("[tool.onnxpad]\ntargt = 1", "takes no 'targt': did you mean 'target'?"),
        ("[tool.onnxpad]\nfail_on = 1", "takes no 'fail_on': did you mean 'fail-on'?"),
        (
            "[tool.onnxpad]\nqqqq = 1",
            "takes no 'qqqq': it takes all, allow-unknown, although-unfit",
        ),
        ("[tool.onnxpad]\nin-place = true", "'in-place': it is said on the command line alone"),
        ("[tool.onnxpad]\nmemory = '1T'", "'memory': it is said on the command line alone"),
        ("[tool.onnxpad.inspekt]", "is about no verb: did you mean 'inspect'?"),
        ("[tool.onnxpad.inspect]\nstrict = true", "[tool.onnxpad.inspect] takes no 'strict': it"),
        ("[tool.onnxpad.resolve]\nkernel = 3", "'kernel': it is said on the command line alone"),
        ("[tool.onnxpad]\nlive = true", "[tool.onnxpad] takes no 'live'"),
        ("[tool.onnxpad]\ntarget = './x.py'", "target is './x.py', which is a program, and a file"),
        ("[tool.onnxpad]\ntarget = ['opencv', 'x.py']", "target is 'x.py', which is a program"),
        (
            "[tool.onnxpad.rewrite]\ntarget = 'sh x {model} {inputs} {outputs}'",
            "--target 'sh x {model} {inputs} {outputs}' on the command line does",
        ),
        ("[tool.onnxpad]\nfail-on = 3", "fail-on is 3, and must be a text, or a list of texts"),
        ("[tool.onnxpad]\nstrict = 'no'", "strict is 'no', and must be true or false"),
        ("[tool.onnxpad]\nseed = [1]", "seed is [1], and must be a text or a number"),
        (f"{'[' * 5000}tool.onnxpad", "is not TOML"),
    ],
)
def test_what_it_cannot_say_is_an_error_that_names_the_file(
    capsys: Captured, project: Path, text: str, message: str
) -> None:
    project.write_text(text)
    assert inspects() == 2
    said = capsys.readouterr().err
    assert said.startswith(f"error: {os.path.relpath(project)}")
    assert message in said


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ('target = "opnecv"', "did you mean 'opencv'?"),
        ('fail-on = ["odd"]', "'odd' is not one of"),
        ('device = "gpu"', "'gpu' is not one of"),
    ],
)
def test_an_error_about_a_value_says_where_that_stands(
    capsys: Captured, project: Path, setting: str, message: str
) -> None:
    project.write_text(f"[tool.onnxpad]\n{setting}\n")
    assert inspects() == 2
    said = capsys.readouterr().err
    assert message in said
    name = setting.partition(" ")[0]
    assert said.endswith(f"  set as {name} in {os.path.relpath(project)}\n")
    assert inspects("--target", "qqqq", "--device", "cpu", "--fail-on", "trap") == 2
    assert "set as" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["--fail-on", "refuse"], "'refuse' is not one of"),
        (["--fail-on=refuse"], "'refuse' is not one of"),
        (["--exclude", "nobody"], "--exclude 'nobody' is about no model"),
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
