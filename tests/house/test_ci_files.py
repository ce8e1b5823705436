"""What other projects' checks read of this one: hooks of pre-commit, an action."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.processes import ROOT, SAME
from tests.cli.test_targets import STRINGS
from tests.command import run
from tests.house.documents import DOCUMENTS, of

ACTION = ROOT / ".github" / "actions" / "inspect"
STEPS: dict[str, Any] = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
CI = DOCUMENTS["ci"].read_text(encoding="utf-8")
Captured = pytest.CaptureFixture[str]


def hook(name: str, *files: Path, args: tuple[str, ...] | None = None) -> int:
    """What pre-commit runs: the entry, the arguments (the user's in place of the hook's), files."""
    (found,) = [one for one in HOOKS if one["id"] == name]
    program, *words = found["entry"].split()
    assert program == "onnxpad"
    assert found["language"] == "python"
    given = found.get("args", []) if args is None else args
    return run([*words, *given, *map(str, files)])


def test_the_hook_fails_for_what_a_target_refuses_and_for_traps_where_there_is_none() -> None:
    assert hook("onnxpad-inspect", SAME) == 0
    assert hook("onnxpad-inspect", SAME, STRINGS) == 1
    assert hook("onnxpad-inspect", SAME, args=("--target", "opencv")) == 1
    assert hook("onnxpad-inspect", STRINGS, args=("--target", "tvm")) == 0
    assert hook("onnxpad-inspect", STRINGS, args=("--target", "tvm", "--fail-on", "trap")) == 1


def test_the_hook_does_as_the_project_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(STRINGS, tmp_path / "a.onnx")
    shutil.copy(STRINGS, tmp_path / "broken.onnx")
    text = "[tool.onnxpad]\ntarget = 'tvm'\nfail-on = 'wrong'\nexclude = 'broken*'\n"
    (tmp_path / "pyproject.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert hook("onnxpad-inspect", Path("a.onnx")) == 0
    assert hook("onnxpad-inspect", Path("broken.onnx")) == 0
    (tmp_path / "pyproject.toml").write_text(text.replace("'wrong'", "['wrong', 'trap']"))
    assert hook("onnxpad-inspect", Path("a.onnx")) == 1


def test_the_guide_names_the_inputs_of_the_action_and_its_file(capsys: Captured) -> None:
    assert run(["explain", "ci"]) == 0
    said = " ".join(capsys.readouterr().out.partition("for GitHub")[2].split())
    *names, last = STEPS["inputs"]
    assert f"takes {', '.join(names)} and {last}, and writes" in said
    assert f"into {STEPS['inputs']['sarif']['default']}." in said


def test_the_files_that_the_guide_shows_ask_for_what_is_there() -> None:
    hooks, workflow = map(yaml.safe_load, of("ci", "yaml"))
    (repo,) = hooks["repos"]
    assert repo.keys() == {"repo", "rev", "hooks"}
    for asked in repo["hooks"]:
        assert asked.keys() <= {"id", "args", "exclude"}
        assert hook(asked["id"], SAME, args=tuple(asked["args"])) == 0
    (job,) = workflow["jobs"].values()
    assert job["permissions"] == {"contents": "read", "security-events": "write"}
    _, action, upload = job["steps"]
    assert ACTION.relative_to(ROOT).as_posix() in action["uses"]
    assert action["with"].keys() <= STEPS["inputs"].keys()
    assert upload["if"] == "always()"
    assert upload["with"] == {"sarif_file": STEPS["inputs"]["sarif"]["default"]}


def test_the_guide_names_what_a_project_cannot_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    (told,) = re.findall(r"limits: (--.*?) and the like", " ".join(CI.split()))
    monkeypatch.chdir(tmp_path)
    for option in told.split(", "):
        name = option.removeprefix("--")
        (tmp_path / "pyproject.toml").write_text(f"[tool.onnxpad]\n{name} = 5\n")
        assert run(["inspect", str(SAME)]) == 2
        assert f"takes no '{name}'" in capsys.readouterr().err
        assert run(["inspect", "--help"]) == 0
        assert option in capsys.readouterr().out


def test_the_hooks_are_run_once_and_print_what_fails(capsys: Captured) -> None:
    """pre-commit names one file or many, and splits them unless that is said."""
    assert all(one["require_serial"] for one in HOOKS)
    assert hook("onnxpad-inspect", SAME) == 0
    assert capsys.readouterr().out == "1 model: 1 fine\n"
    assert hook("onnxpad-inspect", SAME, STRINGS) == 1
    assert str(SAME) not in capsys.readouterr().out


def test_the_other_hook_rewrites_in_place_and_then_has_nothing_to_do(tmp_path: Path) -> None:
    model = tmp_path / "net.onnx"
    shutil.copy(SAME, model)
    assert hook("onnxpad-rewrite", model) == 0
    written = model.read_bytes()
    assert written != SAME.read_bytes()
    assert hook("onnxpad-rewrite", model) == 0
    assert model.read_bytes() == written


def acted(folder: Path, **inputs: str) -> tuple[int, str, dict[str, Any]]:
    """The action's last step as a runner does it: exit code, what it logs, the SARIF."""
    assert inputs.keys() <= STEPS["inputs"].keys()
    step = STEPS["runs"]["steps"][-1]
    values = {name: inputs.get(name, one["default"]) for name, one in STEPS["inputs"].items()}
    wanted = {key: value.removeprefix("${{ inputs.") for key, value in step["env"].items()}
    env = {key: values[name.removesuffix(" }}")] for key, name in wanted.items()}
    tool = folder / "runner" / "onnxpad" / "bin" / "onnxpad"
    tool.parent.mkdir(parents=True)
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m onnxpad "$@"\n')
    tool.chmod(0o755)
    own = {"RUNNER_TEMP": str(folder / "runner"), "GITHUB_OUTPUT": str(folder / "output")}
    done = subprocess.run(
        ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env={**os.environ, **env, **own, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    name = values["sarif"]
    assert (folder / "output").read_text() == f"sarif={name}\n"
    return done.returncode, done.stderr, json.loads((folder / name).read_text() or "{}")


def test_the_action_writes_sarif_and_fails_for_findings(tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    for model in (SAME, STRINGS):
        shutil.copy(model, tmp_path / "a b")
    models = f"a b/{SAME.name}\na b/{STRINGS.name}\n"
    code, said, log = acted(tmp_path, models=models, target="opencv tvm", **{"fail-on": "trap"})
    assert code == 1
    assert f"fails: a b/{STRINGS.name}: same-with-dilation '/f/f.2/Conv'" in said
    places = [one["locations"][0]["physicalLocation"] for one in log["runs"][0]["results"]]
    assert {one["artifactLocation"]["uri"] for one in places} == {
        f"a%20b/{SAME.name}",
        f"a%20b/{STRINGS.name}",
    }


def test_the_action_passes_where_nothing_is_found(tmp_path: Path) -> None:
    shutil.copy(SAME, tmp_path / "a.onnx")
    code, said, log = acted(tmp_path, models="a.onnx", target="tvm", sarif="out.sarif")
    assert (code, said, log["runs"][0]["results"]) == (0, "", [])


def test_the_action_installs_this_project() -> None:
    install = STEPS["runs"]["steps"][0]["run"]
    assert 'pip install --quiet "$GITHUB_ACTION_PATH/../../.."' in install
    assert (ACTION / "../../.." / "pyproject.toml").resolve() == ROOT / "pyproject.toml"
