"""What the options of each command do, within one process."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from onnxpad import validation
from tests.cli.processes import SAME
from tests.command import run

Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize("verdict", ["different", "unverified"])
def test_a_verdict_that_is_not_ok_writes_nothing(
    verdict: str, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime")
    genuine = validation.validate

    def pessimist(*models: object, **options: object) -> validation.Validation:
        found = genuine(*models, **options)  # type: ignore[arg-type]
        return replace(found, verdict=validation.Verdict(verdict), reason="told so")

    monkeypatch.setattr(validation, "validate", pessimist)
    out = tmp_path / "o.onnx"
    options = ["--validate", "--device", "cpu", "--samples", "1"]
    assert run(["rewrite", str(SAME), "-o", str(out), *options]) == 1
    captured = capsys.readouterr()
    assert f"nothing written for {SAME}" in captured.err
    assert f"validation: {verdict}: told so" in captured.out
    assert "told so" not in captured.err
    assert not out.exists()


@pytest.mark.parametrize("command", [["rewrite"], ["retarget", "--to", "tensorflow"]])
def test_folders_that_are_missing_are_made_for_what_is_written_alone(
    command: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "absent" / "deep" / "o.onnx"
    unread = tmp_path / "unread.onnx"
    unread.write_bytes(b"none")
    for fails in (
        [*command, str(unread), "-o", str(out)],
        [*command, str(SAME), "--node", "nobody", "-o", str(out)],
        [*command, str(SAME), "--dry-run", "-o", str(out)],
    ):
        run(fails)
        assert not (tmp_path / "absent").exists()
    assert run([*command, str(SAME), "-o", str(out)]) == 0
    assert out.exists()


@pytest.mark.parametrize("command", [["rewrite"], ["retarget", "--to", "tensorflow"]])
def test_a_folder_that_takes_no_files_is_said_before_there_is_work_to_lose(
    command: list[str], capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("onnxpad.rewriting.rewrite.rewrite", never)
    monkeypatch.setattr("onnxpad.retargeting.retarget", never)
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, how: path != tmp_path and real(path, how))
    out = str(tmp_path / "absent" / "o.onnx")
    assert run([*command, str(SAME), "--validate", "-o", out]) == 2
    assert f"'{tmp_path}' is write-protected" in capsys.readouterr().err
    assert not (tmp_path / "absent").exists()


@pytest.mark.parametrize("place", [(validation, "validate"), (os, "replace")])
def test_an_interrupt_leaves_nothing(
    place: tuple[object, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime")
    interrupted = []

    def interrupting(*_: object, **__: object) -> None:
        interrupted.append(True)
        raise KeyboardInterrupt

    monkeypatch.setattr(*place, interrupting)
    options = ["--validate", "--device", "cpu", "--samples", "1"]
    assert run(["rewrite", str(SAME), "-o", str(tmp_path / "o.onnx"), *options]) == 130
    assert interrupted
    assert list(tmp_path.iterdir()) == []


def test_ambiguous_reaches_the_validation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, object] = {}

    def asked(*_: object, **options: object) -> None:
        given.update(options)
        raise KeyboardInterrupt

    monkeypatch.setattr(validation, "validate", asked)
    options = ["--validate", "--ambiguous", "pads", "-o", str(tmp_path / "o.onnx")]
    assert run(["rewrite", str(SAME), *options]) == 130
    assert given["ambiguous"] == "pads"
