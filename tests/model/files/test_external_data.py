"""External data is referred to, checked, shared or copied, and never overwritten."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, numpy_helper

import onnxpad
from onnxpad import ModelError, inspect, load, rewrite, save
from tests.model.files.standard_streams import Standard
from tests.models.external_data import WEIGHTS, below, everywhere, external_tensor, model_of, saved
from tests.models.text import text_model

MODEL = model_of(external_tensor("w", location="w.bin"))
PLACES = everywhere(external_tensor("w", location="w.bin"))
OTHER = (WEIGHTS * 2).tobytes()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return saved(tmp_path / "in", MODEL, "w.bin")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out" / "model.onnx"


def refusal(path: Path) -> str:
    with pytest.raises(ModelError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "; " in message, "says what to try"
    return message


def refused(model_path: Path, target: Path, told: str) -> None:
    """Both ways of writing refuse, and leave everything as it was."""

    def held() -> dict[Path, bytes | None]:
        return {
            file: file.read_bytes() if file.is_file() else None
            for folder in (model_path.parent, target.parent)
            for file in folder.rglob("*")
        }

    before = held()
    model, unchanged = load(model_path), rewrite(model_path)
    with pytest.raises(ModelError) as caught:
        save(model, target)
    assert told in str(caught.value)
    with pytest.raises(ModelError):
        unchanged.save(target, in_place=True)
    assert held() == before


@pytest.mark.parametrize("place", PLACES)
def test_an_external_tensor_is_met_wherever_it_stands(place: str, tmp_path: Path) -> None:
    path = saved(tmp_path / "in", PLACES[place])
    assert "has its weights in 'w.bin', which is no file in" in refusal(path)
    saved(tmp_path / "in", PLACES[place], "w.bin")
    (tmp_path / "out").mkdir()
    save(load(path), tmp_path / "out" / "model.onnx")
    assert (tmp_path / "out" / "w.bin").read_bytes() == WEIGHTS.tobytes()


WRONG: dict[str, tuple[dict[str, str | int], str]] = {
    "no entry": ({}, "has external data at length='1024'; it must be one file in or below"),
    "the folder": ({"location": "./"}, "location='./'"),
    "absolute": ({"location": "/etc/hostname"}, "location='/etc/hostname'"),
    "Windows drive": ({"location": "C:\\w.bin"}, "w.bin'"),
    "upwards": ({"location": "../w.bin"}, "location='../w.bin'"),
    "upwards on Windows": ({"location": "a\\..\\..\\w.bin"}, "w.bin'"),
    "NUL": ({"location": "w\0.bin"}, "it must be one file"),
    "negative": ({"location": "w.bin", "offset": -4}, "offset='-4'"),
    "underscore": ({"location": "w.bin", "offset": "1_0"}, "offset='1_0'"),
    "other digits": ({"location": "w.bin", "offset": "\u0664"}, "it must be one file"),
    "endless": ({"location": "w.bin", "length": "9" * 5000}, "length='9999"),
    "too long": ({"location": "w.bin", "length": 1025}, "or not one of 1025 bytes"),
    "too far": ({"location": "w.bin", "offset": 1}, "or not one of 1025 bytes"),
    "absent": ({"location": "absent.bin"}, "'absent.bin', which is no file in"),
    "a folder": ({"location": "folder"}, "'folder', which is no file in"),
    "below a file": ({"location": "w.bin/w.bin"}, "which is no file in"),
}


@pytest.mark.parametrize(("entries", "told"), WRONG.values(), ids=WRONG)
def test_a_wrong_reference_is_refused(
    entries: dict[str, str | int], told: str, tmp_path: Path
) -> None:
    (tmp_path / "in" / "folder").mkdir(parents=True)
    path = saved(tmp_path / "in", model_of(external_tensor("w", **entries)), "w.bin")
    assert told in refusal(path)


def test_entries_given_twice_and_locations_that_are_no_text_are_refused(path: Path) -> None:
    data = path.read_bytes()
    tensor = external_tensor("w", location="w.bin")
    tensor.external_data.add(key="location", value="other.bin")
    path.write_bytes(model_of(tensor).SerializeToString())
    assert "it must be one file" in refusal(path)
    path.write_bytes(data.replace(b"w.bin", b"w.\xffin"))
    assert "it must be one file" in refusal(path)


@pytest.mark.parametrize("linked", ["file", "folder"])
def test_a_link_that_leaves_the_folder_is_refused(linked: str, tmp_path: Path) -> None:
    path = saved(tmp_path / "in", model_of(external_tensor("w", location="sub/w.bin")), "sub/w.bin")
    load(path)
    inside = path.parent / "sub" if linked == "folder" else path.parent / "sub" / "w.bin"
    inside.rename(tmp_path / "elsewhere")
    inside.symlink_to(tmp_path / "elsewhere")
    assert "not a link to another folder" in refusal(path)


def test_a_stream_has_no_place_for_external_data(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = Standard()
    monkeypatch.setattr(sys, "stdout", output)
    with pytest.raises(ModelError, match=r"standard output: .*'w\.bin', which would stay behind; "):
        save(load(path), "-")
    assert output.bytes.getvalue() == b""
    with pytest.raises(ModelError, match=r"in memory: .* give the path of the model's file"):
        inspect(MODEL.SerializeToString())


def test_in_the_same_folder_the_data_file_is_shared_and_untouched(path: Path) -> None:
    data = path.with_name("w.bin")
    data.chmod(0o444)
    before = data.stat()
    save(load(path), path.with_name("other.onnx"))
    rewrite(path).save(path, in_place=True)
    after = data.stat()
    assert below(path.parent) == {"model.onnx", "other.onnx", "w.bin"}
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert after.st_nlink == 1


def test_into_another_folder_go_the_files_that_the_model_still_names(
    tmp_path: Path, out: Path
) -> None:
    names = ["a.bin", "sub/deep/b.bin", "unused.bin"]
    tensors = [external_tensor(name, location=name) for name in names]
    path = saved(tmp_path / "in", model_of(*tensors), *names)
    (path.parent / "a.bin").chmod(0o440)
    model = load(path)
    del model.graph.initializer[2]
    save(model, out, source=path)
    assert below(out.parent) == {"model.onnx", "a.bin", "sub", "sub/deep", "sub/deep/b.bin"}
    for name in names[:2]:
        assert (out.parent / name).read_bytes() == (path.parent / name).read_bytes()
    copied = (out.parent / "a.bin").stat()
    assert (copied.st_mode & 0o777, copied.st_nlink) == (0o440, 1)
    save(model, out, source=path)
    assert (out.parent / "a.bin").stat().st_ino == copied.st_ino


@pytest.mark.parametrize("present", [OTHER, OTHER[:-1], None], ids=["other", "short", "folder"])
def test_another_data_file_is_never_overwritten(
    present: bytes | None, path: Path, out: Path
) -> None:
    taken = out.with_name("w.bin")
    taken.mkdir() if present is None else taken.write_bytes(present)
    refused(path, out, "another file has that name; remove it, or write to another folder")


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
    with pytest.raises(ModelError, match=r"'w\.bin', which is no file in .*source=PATH"):
        save(MODEL, out)
    save(MODEL, out, source=path)
    assert load(out) == MODEL


def test_data_that_goes_or_shrinks_meanwhile_leaves_nothing(
    path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = os.fstat

    def longer(descriptor: int) -> os.stat_result:
        found = genuine(descriptor)
        return os.stat_result((*found[:6], found.st_size + 1, *found[7:]))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", longer)
        refused(path, out, "became shorter while it was copied")
    model = load(path)
    path.with_name("w.bin").unlink()
    with pytest.raises(ModelError, match=r"'w\.bin', which is no file in"):
        save(model, out)
    assert below(out.parent) == set()


def with_weight(folder: Path, seed: int) -> Path:
    """A model with its weight in weights.bin, another one for each seed."""
    folder.mkdir()
    model = text_model(
        'y = Conv <kernel_shape = [3, 3], auto_pad = "SAME_UPPER"> (x, w)',
        "float[1,2,8,8] x",
        outputs="float[1,4,8,8] y",
    )
    weight = np.random.default_rng(seed).normal(size=(4, 2, 3, 3)).astype(np.float32)
    model.graph.initializer.append(numpy_helper.from_array(weight, "w"))
    path = folder / "model.onnx"
    onnx.save_model(
        model, path, save_as_external_data=True, location="weights.bin", size_threshold=0
    )
    return path


def weight(path: Path) -> list[float]:
    found = numpy_helper.to_array(onnx.load(path).graph.initializer[0])
    return [float(one) for one in found.ravel()[:3]]


def test_a_loaded_model_knows_its_data_and_no_other(tmp_path: Path) -> None:
    path, other = with_weight(tmp_path / "a", 1), with_weight(tmp_path / "b", 2)
    for _ in range(3):
        onnxpad.load(path)
        onnxpad.save(onnxpad.load(other), tmp_path / "new" / "model.onnx")
        assert weight(tmp_path / "new" / "model.onnx") == weight(other)
    onnxpad.rewrite(onnxpad.load(path)).save(tmp_path / "done" / "model.onnx")
    assert weight(tmp_path / "done" / "model.onnx") == weight(path)
    with pytest.raises(onnxpad.ModelError, match=r"another file"):
        onnxpad.save(onnxpad.load(path), other.with_name("mine.onnx"))
    copy = ModelProto()
    copy.CopyFrom(onnxpad.load(path))
    with pytest.raises(onnxpad.ModelError, match=r"source=PATH"):
        onnxpad.save(copy, tmp_path / "elsewhere" / "model.onnx")
