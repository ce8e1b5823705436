import os
from pathlib import Path

import pytest

from onnxpad.errors import ModelError
from onnxpad.model.files.onnx_file import Source, load, read
from onnxpad.model.files.saving import save, write, write_unchanged
from tests.models.external_data import WEIGHTS, below, external_tensor, model_of, saved

MODEL = model_of(external_tensor("w", location="w.bin"))
OTHER = (WEIGHTS * 2).tobytes()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return saved(tmp_path / "in", MODEL, "w.bin")


def refused(model_path: Path, target: Path, found: str) -> None:
    """Both ways of writing refuse, and leave everything as it was."""
    folders = {model_path.parent, target.parent}
    before = {
        file: file.read_bytes() if file.is_file() else None
        for folder in folders
        for file in folder.rglob("*")
    }
    model, source = read(model_path)
    with pytest.raises(ModelError) as caught:
        write(model, target, source=source)
    assert found in str(caught.value)
    assert "; " in str(caught.value), "says what to try"
    with pytest.raises(ModelError):
        write_unchanged(source, target)
    after = {
        file: file.read_bytes() if file.is_file() else None
        for folder in folders
        for file in folder.rglob("*")
    }
    assert after == before


def test_only_files_that_the_model_still_names_follow_and_keep_their_folders(
    tmp_path: Path, out: Path
) -> None:
    names = ["a.bin", "sub/deep/b.bin", "unused.bin"]
    tensors = [
        external_tensor(name, location=location)
        for name, location in zip("abcd", [*names[:2], "./a.bin", "unused.bin"], strict=True)
    ]
    path = saved(tmp_path / "in", model_of(*tensors), *names)
    model, source = read(path)
    del model.graph.initializer[3]
    save(model, out, source=path)
    assert below(out.parent) == {"model.onnx", "a.bin", "sub", "sub/deep", "sub/deep/b.bin"}
    for name in names[:2]:
        assert (out.parent / name).read_bytes() == (path.parent / name).read_bytes()
    assert load(out) == model
    (tmp_path / "third").mkdir()
    write_unchanged(source, tmp_path / "third" / "model.onnx")
    assert (tmp_path / "third" / "unused.bin").exists()
    assert (tmp_path / "third" / "model.onnx").read_bytes() == path.read_bytes()


def test_a_model_is_written_again_beside_the_data_it_brought(path: Path, out: Path) -> None:
    model, source = read(path)
    write(model, out, source=source)
    present = out.with_name("w.bin").stat()
    model.producer_name = "again"
    write(model, out, source=source)
    assert load(out).producer_name == "again"
    assert out.with_name("w.bin").stat().st_ino == present.st_ino


@pytest.mark.parametrize("present", [OTHER, OTHER[:-1], b""])
def test_another_data_file_is_never_overwritten(present: bytes, path: Path, out: Path) -> None:
    out.with_name("w.bin").write_bytes(present)
    refused(path, out, "another file has that name; remove it, or write to another folder")


def test_a_folder_or_link_in_the_place_of_a_data_file_is_refused(path: Path, out: Path) -> None:
    out.with_name("w.bin").mkdir()
    refused(path, out, "another file has that name")
    out.with_name("w.bin").rmdir()
    out.with_name("w.bin").symlink_to("absent")
    refused(path, out, "another file has that name")
    out.with_name("absent").write_bytes(WEIGHTS.tobytes())
    refused(path, out, "another file has that name")


@pytest.mark.parametrize("linked", ["file", "folder"])
def test_a_link_that_leads_out_of_the_target_folder_is_refused(
    linked: str, tmp_path: Path, out: Path
) -> None:
    path = saved(tmp_path / "in", model_of(external_tensor("w", location="s/w.bin")), "s/w.bin")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if linked == "folder":
        out.with_name("s").symlink_to(elsewhere)
    else:
        out.with_name("s").mkdir()
        (out.parent / "s" / "w.bin").symlink_to(path.parent / "s" / "w.bin")
    refused(path, out, "a symbolic link leads outside the folder")
    assert not list(elsewhere.iterdir())


@pytest.mark.parametrize("target", ["w.bin", "hard.onnx", "link.onnx"])
def test_the_data_file_is_not_written_over_by_the_model(target: str, path: Path) -> None:
    path.with_name("hard.onnx").hardlink_to(path.with_name("w.bin"))
    path.with_name("link.onnx").symlink_to("w.bin")
    refused(path, path.with_name(target), "would be overwritten; choose another name")


@pytest.mark.parametrize("location", ["model.onnx", "model.onnx/w.bin"])
def test_a_copy_and_the_model_cannot_share_a_name(location: str, tmp_path: Path, out: Path) -> None:
    path = tmp_path / "in" / "net.onnx"
    (path.parent / location).parent.mkdir(parents=True)
    (path.parent / location).write_bytes(WEIGHTS.tobytes())
    path.write_bytes(model_of(external_tensor("w", location=location)).SerializeToString())
    refused(path, out, "would be overwritten; choose another name")


def test_a_model_made_in_memory_finds_its_data_beside_the_target(path: Path, out: Path) -> None:
    save(MODEL, path.with_name("made.onnx"))
    assert load(path.with_name("made.onnx")) == MODEL
    for source in (None, Source(None, None)):
        with pytest.raises(ModelError, match=r"'w\.bin', which is not in .*source=PATH"):
            write(MODEL, out, source=source)
    with pytest.raises(ModelError) as caught:
        save(MODEL, out, source=out.with_name("net.onnx"))
    assert "source=PATH" not in str(caught.value)
    save(MODEL, out, source=path)
    assert load(out) == MODEL


def test_data_that_went_away_since_it_was_read_is_missed_before_anything_is_written(
    path: Path, out: Path
) -> None:
    model, source = read(path)
    path.with_name("w.bin").unlink()
    for target in (out, path):
        with pytest.raises(ModelError, match=r"'w\.bin', which is not in"):
            write(model, target, source=source)
    assert below(out.parent) == set()


def test_data_that_shrinks_while_it_is_copied_leaves_nothing(
    path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = os.fstat

    def longer(descriptor: int) -> os.stat_result:
        found = genuine(descriptor)
        return os.stat_result((*found[:6], found.st_size + 1, *found[7:]))

    monkeypatch.setattr(os, "fstat", longer)
    refused(path, out, "became shorter while it was copied")
