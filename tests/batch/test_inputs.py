"""Files, folders and globs become models, and models get places below a folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onnxpad.batch.inputs import Job, inputs, pairs, placed, refuse_one_file_twice
from onnxpad.errors import RequestError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (
        "m/b.onnx",
        "m/a.onnx",
        "m/deep/c.ONNX",
        "m/notes.txt",
        "m/out/a.onnx",
        "[x].onnx",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def named(*names: str, output: str | None = None) -> list[str]:
    return [one.model.replace(os.sep, "/") for one in inputs(names, output).models]


@pytest.mark.usefixtures("folder")
def test_a_folder_is_its_models_in_order() -> None:
    assert named("m") == ["m/a.onnx", "m/b.onnx", "m/deep/c.ONNX", "m/out/a.onnx"]
    assert inputs(["m/deep"]).many


@pytest.mark.usefixtures("folder")
def test_what_stands_in_the_output_is_no_input() -> None:
    assert named("m", output="m/out") == ["m/a.onnx", "m/b.onnx", "m/deep/c.ONNX"]
    assert named("m/**/a.onnx", output="m/out/") == ["m/a.onnx"]
    assert named("m/out/a.onnx", output="m/out") == ["m/out/a.onnx"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("glob", "left"),
    [
        ("a.onnx", ["m/b.onnx", "m/deep/c.ONNX"]),
        ("./m/out/", ["m/a.onnx", "m/b.onnx", "m/deep/c.ONNX"]),
        ("out", ["m/a.onnx", "m/b.onnx", "m/deep/c.ONNX"]),
        ("out/a.onnx", ["m/a.onnx", "m/b.onnx", "m/deep/c.ONNX"]),
        ("d*/*", ["m/a.onnx", "m/b.onnx", "m/out/a.onnx"]),
        ("[a-b].onnx", ["m/deep/c.ONNX"]),
    ],
)
def test_what_a_glob_is_about_is_left_out(glob: str, left: list[str]) -> None:
    found = inputs(["m"], exclude=[glob, "nobody"])
    assert [one.model.replace(os.sep, "/") for one in found.models] == left
    assert (found.many, found.idle) == (True, ("nobody",))
    assert len(found.left_out) == 4 - len(left)


@pytest.mark.usefixtures("folder")
def test_a_model_that_is_named_alone_is_never_left_out() -> None:
    assert inputs(["m/a.onnx"], exclude=["a*"]) == inputs(["m/a.onnx"])._replace(idle=("a*",))
    assert inputs(["m/a.onnx", "m/b.onnx"], exclude=["a*"]).left_out == ("m/a.onnx",)
    with pytest.raises(RequestError, match=r"no model is left: exclude 'm' matches all 4 of them"):
        inputs(["m"], exclude=["m"])
    found = pairs("m", "m/out", ["deep"])
    assert [one for one, _ in found.models] == [
        str(Path("m", name)) for name in ("a.onnx", "b.onnx")
    ]


@pytest.mark.usefixtures("folder")
def test_globs_and_names_that_look_like_one() -> None:
    assert named("m/*.onnx") == ["m/a.onnx", "m/b.onnx"]
    assert named("m/**/*.onnx") == ["m/a.onnx", "m/b.onnx", "m/out/a.onnx"]
    assert named("m/d*") == ["m/deep/c.ONNX"]
    assert named("[x].onnx") == ["[x].onnx"]
    assert named("missing.onnx", "-") == ["missing.onnx", "-"]
    assert not inputs(["[x].onnx"]).many


@pytest.mark.usefixtures("folder")
def test_what_folders_and_globs_bring_is_there_once() -> None:
    assert named("m/a.onnx", "m/*.onnx", "m/../m/*.onnx") == ["m/a.onnx", "m/b.onnx"]
    assert named("m/a.onnx", "m/a.onnx") == ["m/a.onnx", "m/a.onnx"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("name", "said"), [("empty", "'empty' has no file *.onnx"), ("m/*.pt", "no file matches")]
)
def test_nothing_there_is_an_error(name: str, said: str) -> None:
    with pytest.raises(RequestError) as error:
        inputs([name])
    assert said in str(error.value)


@pytest.mark.usefixtures("folder")
def test_places_are_kept_below_the_folder_that_was_named() -> None:
    found = placed(inputs(["m", "[x].onnx"], "o").models, "o")
    assert [job.target and job.target.replace(os.sep, "/") for job in found] == [
        "o/a.onnx",
        "o/b.onnx",
        "o/deep/c.ONNX",
        "o/out/a.onnx",
        "o/[x].onnx",
    ]
    (job,) = placed(inputs(["m/d*/*"], "o").models, "o")
    assert job == Job("m/deep/c.ONNX", str(Path("o", "deep", "c.ONNX")))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("names", "output", "said"),
    [
        (["m/a.onnx", "m/out/a.onnx"], "o", "would both become"),
        (["m/a.onnx", "m/a.onnx"], "o", "would both become"),
        (["m/a.onnx", "m/b.onnx"], "m", "is an input"),
    ],
)
def test_no_file_is_written_twice_or_over_an_input(
    names: list[str], output: str, said: str
) -> None:
    with pytest.raises(RequestError, match=said):
        placed(inputs(names, output).models, output)


def test_one_file_by_two_names_is_not_replaced_twice(folder: Path) -> None:
    (folder / "link.onnx").symlink_to("m/a.onnx")
    with pytest.raises(RequestError, match="are one file"):
        refuse_one_file_twice(named("m/a.onnx", "link.onnx"))
    refuse_one_file_twice(named("m/a.onnx", "m/b.onnx"))


def test_pairs_go_by_their_places(folder: Path) -> None:
    for name in ("n/a.onnx", "n/deep/c.ONNX", "n/more.onnx"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    found = [
        (Path(one).as_posix(), other and Path(other).as_posix())
        for one, other in pairs("m", "n").models
    ]
    assert found == [
        ("m/a.onnx", "n/a.onnx"),
        ("m/b.onnx", None),
        ("m/deep/c.ONNX", "n/deep/c.ONNX"),
        ("m/more.onnx", "n/more.onnx"),
        ("m/out/a.onnx", None),
    ]
    with pytest.raises(RequestError, match="has no file"):
        pairs("empty", "empty")


def test_a_folder_in_the_other_one_is_none_of_its_models(tmp_path: Path) -> None:
    """As rewrite leaves its own output out: 'rewrite . -o out', then 'validate . out'."""
    (tmp_path / "out" / "sub").mkdir(parents=True)
    (tmp_path / "sub").mkdir()
    for place in ("a.onnx", "sub/b.onnx"):
        (tmp_path / place).touch()
        (tmp_path / "out" / place).touch()
    whole, part = str(tmp_path), str(tmp_path / "out")
    wanted = [(f"{whole}/{place}", f"{part}/{place}") for place in ("a.onnx", "sub/b.onnx")]
    assert list(pairs(whole, part).models) == wanted
    assert list(pairs(part, whole).models) == [(second, first) for first, second in wanted]
