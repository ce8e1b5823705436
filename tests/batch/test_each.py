"""`onnxpad.each`: many models on any executor, and what becomes of those that fail."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import onnx
import pytest

import onnxpad
from onnxpad import RequestError, processes
from onnxpad.batch.course import Task, answer
from onnxpad.batch.inputs import Job
from tests.batch.folders import PLAIN, SAME, accidents, save
from tests.command import run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save(tmp_path / "in", a=SAME, b=PLAIN, c="", deep__d=SAME)


def results(batch: onnxpad.Batch) -> list[tuple[str, str, int]]:
    return [(Path(one.file).stem, one.result, one.code) for one in batch.outcomes]


EXPECTED = [
    ("a", "rewritten", 0),
    ("b", "unchanged", 0),
    ("c", "error", 2),
    ("d", "rewritten", 0),
]


def here() -> None:
    """No executor."""


@pytest.mark.parametrize("executor", [here, lambda: ThreadPoolExecutor(3)], ids=["here", "threads"])
def test_every_model_has_an_outcome(
    executor: Callable[[], Executor | None], folder: Path, tmp_path: Path
) -> None:
    told: list[tuple[int, int]] = []
    found = onnxpad.each(
        "rewrite",
        folder,
        output=tmp_path / "out",
        executor=executor(),
        progress=lambda _model, done, total: told.append((done, total)),
    )
    assert results(found) == EXPECTED
    assert ([one.code for one in found], len(found)) == ([0, 0, 2, 0], 4)
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert (found.code, found.summary) == (2, {"rewritten": 2, "unchanged": 1, "error": 1})
    assert sorted(p.relative_to(tmp_path).as_posix() for p in (tmp_path / "out").rglob("*.*")) == [
        "out/a.onnx",
        "out/b.onnx",
        "out/deep/d.onnx",
    ]
    (refused,) = found.refused
    assert refused.error.startswith(str(folder / "c.onnx"))
    assert refused.record["error"] == {"kind": "ModelError", "message": refused.error}
    assert repr(found) == "<Batch of 4: 2 rewritten, 1 unchanged, 1 error>"
    assert repr(refused) == f"<Outcome error: {refused.error}>"
    assert [one.record["status"] for one in found] == [one.result for one in found]
    assert json.loads(json.dumps(found.to_json()))["models"][0]["changes"]


def test_models_and_passes_are_left_out(folder: Path) -> None:
    exclude = ["c.onnx", "explicit-pads"]
    found = onnxpad.each("rewrite", folder, exclude=exclude, target="onnx2torch")
    assert found.summary == {"would be rewritten": 2, "unchanged": 1}
    assert "(split-pads 1)" in found.outcomes[0].line
    assert onnxpad.each("rewrite", folder, exclude="c*").summary == {
        "would be rewritten": 2,
        "unchanged": 1,
    }
    for verb, paths in (("rewrite", folder), ("validate", (folder, folder))):
        with pytest.raises(RequestError, match="exclude 'explicit' matches none of the models"):
            onnxpad.each(verb, paths, exclude="explicit")


def test_records_are_those_of_the_reports(folder: Path) -> None:
    (found,) = onnxpad.each("inspect", [folder / "a.onnx"]).records
    head = {"file": str(folder / "a.onnx"), "status": "fine"}
    assert found == head | onnxpad.inspect(folder / "a.onnx").to_json()


def test_nothing_is_written_unless_asked_for(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*.onnx")}
    found = onnxpad.each("rewrite", folder)
    assert found.outcomes[0].result == "would be rewritten"
    assert {path: path.read_bytes() for path in folder.rglob("*.onnx")} == before
    done = onnxpad.each("rewrite", folder, in_place=True, validate=True)
    assert results(done) == EXPECTED
    assert done.outcomes[0].record["validation"]["verdict"] in {"proved", "identical"}
    assert onnxpad.inspect(folder / "a.onnx").summary["forms"]["auto_pad"] == 0


def test_the_line_is_what_the_command_prints_refusals_too(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(folder, odd=SAME.replace("SAME_UPPER", "NEITHER"))
    found = onnxpad.each("rewrite", folder, strict=True, output=tmp_path / "out")
    assert {(one.result, one.code) for one in found.refused} == {("not written", 1), ("error", 2)}
    assert all(one.line == one.error for one in found.refused)
    assert any("--strict allows no skips" in one.line for one in found.refused)
    again = str(tmp_path / "again")
    assert run(["rewrite", str(folder), "--strict", "-o", again]) == found.code
    printed = " ".join("".join(capsys.readouterr()).split())  # long lines are broken
    for one in found:
        said = one.line.replace(str(tmp_path / "out"), again).partition("\n  try")[0]
        assert " ".join(said.split()) in printed


def test_pairs_are_validated(folder: Path, tmp_path: Path) -> None:
    onnxpad.each("rewrite", folder, output=tmp_path / "out")
    found = onnxpad.each("validate", [(folder, tmp_path / "out")], samples=1)
    assert [one.code for one in found.outcomes] == [0, 0, 2, 0]
    assert "the second folder has no such model" in found.outcomes[2].error
    pair = onnxpad.each("validate", (folder, tmp_path / "out"), samples=1)
    assert [one.code for one in pair.outcomes] == [0, 0, 2, 0]


def test_a_worker_that_is_killed_costs_its_model_another_try(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = onnxpad.each("rewrite", folder, output=tmp_path / "alone")
    accidents(tmp_path / "site", monkeypatch, a=100, d=1)
    found = onnxpad.each("rewrite", folder, output=tmp_path / "out", processes=2)
    assert results(found) == [("a", "error", 2), *EXPECTED[1:]]
    assert "no worker finished it (ChildEnded: " in found.outcomes[0].error
    assert len(list((tmp_path / "site" / "marks").iterdir())) == 2 + 1
    written = (tmp_path / "out" / "deep" / "d.onnx").read_bytes()
    assert written == (tmp_path / "alone" / "deep" / "d.onnx").read_bytes()
    changes = [batch.records[3]["changes"] for batch in (alone, found)]
    assert changes[0] == changes[1]
    assert not [child for child in processes.running() if child.module.startswith("onnxpad.batch")]


def test_a_model_that_was_replaced_is_not_replaced_again(folder: Path) -> None:
    path = str(folder / "a.onnx")
    asked = Task("rewrite", {}).about(Job(path, path))._asdict()
    assert answer(asked)["result"] == "rewritten"
    again = answer(asked)
    assert again["result"] == "error"
    assert "the file has changed since the work on it began" in again["error"]


class Broken(Executor):
    """An executor whose workers have all gone after the first model."""

    def __init__(self) -> None:
        self.done = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **_more: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.done += 1
        if self.done > 2:
            raise RuntimeError("takes no more")
        if self.done == 2:
            future.set_exception(OSError("gone"))
        else:
            future.set_result(fn(*args))
        return future


def test_an_executor_that_fails_loses_no_outcome(folder: Path) -> None:
    found = onnxpad.each("inspect", folder, executor=Broken())
    assert [one.result for one in found.outcomes] == ["fine", "error", "error", "error"]
    assert "no worker finished it (OSError: gone)" in found.outcomes[1].error
    assert "no worker finished it (RuntimeError: takes no more)" in found.outcomes[2].error


def test_a_worker_of_another_version_refuses(folder: Path) -> None:
    asked = Task("inspect", {}).about(Job(str(folder / "a.onnx")))._asdict()
    found = answer(asked | {"version": "0.0.1"})
    assert (found["result"], found["code"]) == ("error", 2)
    assert "the request is from 0.0.1: install the same" in found["error"]


def test_a_worker_in_another_folder_finds_the_files(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    asked = Task("rewrite", {}).about(Job("a.onnx", "new/a.onnx"))._asdict()
    monkeypatch.chdir(tmp_path)
    found = answer(asked)
    assert (found["file"], found["written"]) == ("a.onnx", "new/a.onnx")
    assert (folder / "new" / "a.onnx").exists()


@pytest.mark.parametrize(
    ("verb", "arguments", "said"),
    [
        ("diagnose", {}, "each does inspect, rewrite, retarget, validate"),
        ("inspect", {"targets": "opencv"}, "has no argument 'targets'; did you mean target"),
        ("inspect", {"output": "x"}, "inspect writes no model"),
        ("rewrite", {"output": "x", "in_place": True}, "contradict each other"),
        ("rewrite", {"processes": 0}, "at least one"),
        ("rewrite", {"processes": 2, "executor": ThreadPoolExecutor(1)}, "or an executor"),
        ("rewrite", {"dims": {"nobody": 4}}, "no model has a dimension 'nobody'"),
        ("rewrite", {"nodes": "nobody"}, "no model has a padded node that matches 'nobody'"),
        ("rewrite", {"passes": [object()]}, "cannot be sent to a worker"),
        ("validate", {}, "needs pairs"),
        ("inspect", {"paths": [onnx.ModelProto()]}, "paths has a ModelProto: each takes names of"),
        ("inspect", {"paths": 3}, "paths has a int"),
        ("retarget", {"plan": "missing.json"}, "cannot read the plan"),
    ],
)
def test_a_wrong_request_is_refused_before_any_work(
    verb: str, arguments: dict[str, Any], said: str, folder: Path
) -> None:
    with pytest.raises(RequestError) as error:
        onnxpad.each(verb, **{"paths": folder} | arguments)
    assert said in str(error.value)
