"""Answers that are kept on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from onnxpad.runtimes.running import cache


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_the_oldest_go_where_it_is_too_much(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_EVERY", 10)
    monkeypatch.setattr(cache, "MOST", 50)
    for number in range(100):
        cache.keep(str(number), {"text": "x" * 1000})
    assert 50 <= len(files(folder)) <= 60
    assert cache.kept("99") is not None
    assert cache.kept("0") is None
