"""Files, folders and globs become models, and models get places below a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from onnxpad import RequestError
from onnxpad.batch.inputs import inputs, overwritten, pairs, placed

FILES = "m/b m/a m/deep/c m/out/a [x] n/a n/deep/c n/more"
ALL = "m/a m/b m/deep/c m/out/a"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (*(f"{name}.onnx" for name in FILES.split()), "m/notes.txt", "empty/none"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "link.onnx").symlink_to("m/a.onnx")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def short(*paths: str | None) -> str:
    return " ".join(Path(path).as_posix().removesuffix(".onnx") if path else "-" for path in paths)


@pytest.mark.parametrize(
    ("names", "output", "exclude", "models", "places"),
    [
        ("m", "o", "", ALL, "a b deep/c out/a"),
        ("m", "m/out", "", "m/a m/b m/deep/c", ""),
        ("m/**/a.onnx", "m/out/", "", "m/a", ""),
        ("m/out/a.onnx", "m/out", "", "m/out/a", ""),
        ("m", "", "a.onnx nobody", "m/b m/deep/c", ""),
        ("m", "", "./m/out/ nobody", "m/a m/b m/deep/c", ""),
        ("m", "", "out nobody", "m/a m/b m/deep/c", ""),
        ("m", "", "out/a.onnx nobody", "m/a m/b m/deep/c", ""),
        ("m", "", "d*/* nobody", "m/a m/b m/out/a", ""),
        ("m", "", "[a-b].onnx nobody", "m/deep/c", ""),
        ("m/a.onnx", "", "nobody", "m/a", ""),
        ("m/a.onnx m/b.onnx", "", "a* nobody", "m/b", ""),
        ("m/*.onnx", "", "", "m/a m/b", ""),
        ("m/**/*.onnx", "", "", ALL, ""),
        ("m/d*", "", "", "m/deep/c", ""),
        ("m/d*/*", "o", "", "m/deep/c", "deep/c"),
        ("m [x].onnx", "o", "", f"{ALL} [x]", "a b deep/c out/a [x]"),
        ("missing.onnx -", "", "", "missing -", ""),
        ("m/a.onnx m/*.onnx m/../m/*.onnx", "", "", "m/a m/b", ""),
        ("m/a.onnx m/a.onnx", "", "", "m/a m/a", ""),
    ],
)
def test_names_are_models_with_places(
    names: str, output: str, exclude: str, models: str, places: str
) -> None:
    found = inputs(names.split(), output or None, exclude.split())
    assert short(*(one.model for one in found.jobs)) == models
    assert set(found.idle) == {"nobody"} & set(exclude.split())
    assert found.many == (names not in ("m/a.onnx", "m/out/a.onnx"))
    if exclude and found.many:
        assert len(found.left_out) == len(inputs(names.split()).jobs) - len(found.jobs)
    if places:
        jobs = placed(found.jobs, output)
        assert short(*(job.target for job in jobs)) == short(*(f"o/{p}" for p in places.split()))


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
    def used() -> None:
        found = inputs(names.split()).jobs
        if output:
            placed(found, output)
        overwritten(found)

    with pytest.raises(RequestError, match=said):
        used()


@pytest.mark.parametrize(
    ("before", "after", "exclude", "first", "second"),
    [
        ("m", "n", "", "m/a m/b m/deep/c m/more m/out/a", "n/a - n/deep/c n/more -"),
        ("m", "m/out", "deep", "m/a m/b", "m/out/a -"),
        ("m/out", "m", "", "m/out/a m/out/b m/out/deep/c", "m/a m/b m/deep/c"),
    ],
)
def test_pairs_go_by_their_places(
    before: str, after: str, exclude: str, first: str, second: str
) -> None:
    """As rewrite leaves its own output out: 'rewrite . -o out', then 'validate . out'."""
    found = pairs(before, after, exclude.split()).jobs
    assert short(*(one.model for one in found)) == first
    assert short(*(one.second for one in found)) == second
    with pytest.raises(RequestError, match="has no file"):
        pairs("empty", "empty")
