"""Files, folders and globs become models, and models get places below a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

import onnxpad
from onnxpad import RequestError
from tests.batch.folders import SAME, save

ALL = "m/a m/b m/deep/c m/out/a"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = ("m/b", "m/a", "m/deep/c", "m/out/a", "[x]", "n/a", "n/deep/c", "n/more")
    save(tmp_path, **{name.replace("/", "__"): SAME for name in files})
    (tmp_path / "m" / "notes.txt").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "link.onnx").symlink_to("m/a.onnx")
    monkeypatch.chdir(tmp_path)


def short(*paths: str | None) -> str:
    return " ".join(Path(path).as_posix().removesuffix(".onnx") if path else "-" for path in paths)


@pytest.mark.parametrize(
    ("names", "output", "exclude", "models", "places"),
    [
        ("m", "o", "", ALL, "o/a o/b o/deep/c o/out/a"),
        ("m", "m/out", "", "m/a m/b m/deep/c", "m/out/a m/out/b m/out/deep/c"),
        ("m/**/a.onnx", "m/out/", "", "m/a", "m/out/a"),
        ("m", "", "a.onnx", "m/b m/deep/c", ""),
        ("m", "", "./m/out/", "m/a m/b m/deep/c", ""),
        ("m", "", "out", "m/a m/b m/deep/c", ""),
        ("m", "", "out/a.onnx", "m/a m/b m/deep/c", ""),
        ("m", "", "d*/*", "m/a m/b m/out/a", ""),
        ("m", "", "[a-b].onnx", "m/deep/c", ""),
        ("m/a.onnx m/b.onnx", "", "a*", "m/b", ""),
        ("m/*.onnx", "", "", "m/a m/b", ""),
        ("m/**/*.onnx", "", "", ALL, ""),
        ("m/d*", "", "", "m/deep/c", ""),
        ("m/d*/*", "o", "", "m/deep/c", "o/deep/c"),
        ("m [x].onnx", "o", "", f"{ALL} [x]", "o/a o/b o/deep/c o/out/a o/[x]"),
        ("missing.onnx", "", "", "missing", ""),
        ("m/a.onnx m/*.onnx m/../m/*.onnx", "", "", "m/a m/b", ""),
        ("m/a.onnx m/a.onnx", "", "", "m/a m/a", ""),
    ],
)
def test_names_are_models_with_places(
    names: str, output: str, exclude: str, models: str, places: str
) -> None:
    found = onnxpad.each("rewrite", names.split(), output=output or None, exclude=exclude.split())
    assert short(*(one.file for one in found)) == models
    if places:
        assert short(*(one.written for one in found)) == places


@pytest.mark.parametrize(
    ("names", "output", "said"),
    [
        ("empty", "", r"'empty' has no file \*.onnx"),
        ("m/*.pt", "", "no file matches"),
        ("m/a.onnx m/out/a.onnx", "o", "would both become"),
        ("m/a.onnx m/a.onnx", "o", "would both become"),
        ("m/a.onnx m/b.onnx", "m", "is an input"),
        ("m/a.onnx link.onnx", "", "are one file"),
    ],
)
def test_nothing_there_nothing_twice_and_nothing_over_an_input(
    names: str, output: str, said: str
) -> None:
    with pytest.raises(RequestError, match=said):
        onnxpad.each("rewrite", names.split(), output=output or None, in_place=not output)


@pytest.mark.parametrize(
    ("before", "after", "exclude", "first", "second"),
    [
        ("m", "n", "", "m/a m/b m/deep/c m/more m/out/a", "n/a - n/deep/c - -"),
        ("m", "m/out", "deep", "m/a m/b", "m/out/a -"),
        ("m/out", "m", "", "m/out/a m/out/b m/out/deep/c", "m/a - -"),
    ],
)
def test_pairs_go_by_their_places(
    before: str, after: str, exclude: str, first: str, second: str
) -> None:
    """As rewrite leaves its own output out: 'rewrite . -o out', then 'validate . out'."""
    found = onnxpad.each("validate", (before, after), exclude=exclude.split(), proof_only=True)
    assert short(*(one.file for one in found)) == first
    assert short(*(one.record.get("after") for one in found)) == second
    with pytest.raises(RequestError, match="has no file"):
        onnxpad.each("validate", ("empty", "empty"))
