import os
import stat
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from onnxpad.errors import ModelError
from onnxpad.model.files.onnx_file import load, parse, read
from onnxpad.model.files.saving import write, write_unchanged
from tests.model.files.standard_streams import Standard
from tests.models.external_data import WEIGHTS, below, everywhere, external_tensor, model_of, saved

MODEL = model_of(external_tensor("w", location="w.bin"))
PLACES = everywhere(external_tensor("w", location="w.bin"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return saved(tmp_path / "in", MODEL, "w.bin")


def refusal(path: Path) -> str:
    with pytest.raises(ModelError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "; " in message, "says what to try"
    return message


def test_weights_are_referred_to_and_not_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    real = os.open

    def noted(path: Any, *args: Any, **options: Any) -> Any:
        opened.append(Path(path).name)
        return real(path, *args, **options)

    monkeypatch.setattr(os, "open", noted)
    monkeypatch.setattr(Path, "open", None)
    model, source = read(path)
    assert opened == ["model.onnx"]
    assert model == MODEL
    assert source.folder == path.parent


@pytest.mark.parametrize("place", PLACES)
def test_an_external_tensor_is_found_wherever_it_stands(place: str, tmp_path: Path) -> None:
    path = saved(tmp_path / "in", PLACES[place])
    assert "has its weights in 'w.bin', which is not in" in refusal(path)
    saved(tmp_path / "in", PLACES[place], "w.bin")
    model, source = read(path)
    (tmp_path / "out").mkdir()
    write(model, tmp_path / "out" / "model.onnx", source=source)
    assert (tmp_path / "out" / "w.bin").read_bytes() == WEIGHTS.tobytes()


def test_messages_name_the_node_whose_tensor_it_is(tmp_path: Path) -> None:
    for place, told in {
        "Constant": "attribute 'value' of Constant 'c' has",
        "initializer": "tensor 'w' has",
        "sparse initializer": "sparse tensor 'w' has",
        "function default": "attribute 'd' of function 'f' has",
        "graphs": "tensor 'w' has",
    }.items():
        assert told in refusal(saved(tmp_path / place, PLACES[place]))


WRONG: dict[str, tuple[dict[str, str | int], str]] = {
    "no entry": ({}, "at '', which is empty"),
    "empty": ({"location": ""}, "at '', which is empty"),
    "the folder": ({"location": "./"}, "which is the folder itself"),
    "absolute": ({"location": "/etc/hostname"}, "an absolute path"),
    "Windows drive": ({"location": "C:\\w.bin"}, "an absolute path"),
    "Windows share": ({"location": "\\\\host\\share\\w.bin"}, "an absolute path"),
    "upwards": ({"location": "../w.bin"}, "which goes upwards"),
    "upwards in the middle": ({"location": "a/../../w.bin"}, "which goes upwards"),
    "upwards on Windows": ({"location": "a\\..\\..\\w.bin"}, "which goes upwards"),
    "NUL": ({"location": "w\0.bin"}, "a NUL character"),
    "negative offset": ({"location": "w.bin", "offset": -4}, "offset '-4', which is not a whole"),
    "negative length": ({"location": "w.bin", "length": -4}, "length '-4', which is not a whole"),
    "fraction": ({"location": "w.bin", "offset": "4.0"}, "offset '4.0', which is not a whole"),
    "hexadecimal": ({"location": "w.bin", "offset": "0x4"}, "offset '0x4'"),
    "spaces": ({"location": "w.bin", "offset": " 4"}, "offset ' 4'"),
    "underscore": ({"location": "w.bin", "offset": "1_0"}, "offset '1_0'"),
    "other digits": ({"location": "w.bin", "offset": "\u0664"}, "offset '\u0664'"),
    "no text": ({"location": "w.bin", "offset": ""}, "offset ''"),
    "endless": ({"location": "w.bin", "length": "9" * 5000}, "length '9999"),
    "too long": ({"location": "w.bin", "length": 1025}, "up to byte 1025, but that file has 1024"),
    "too far": ({"location": "w.bin", "offset": 1}, "up to byte 1025, but that file has 1024"),
    "absent": ({"location": "absent.bin"}, "'absent.bin', which is not in"),
    "a folder": ({"location": "folder"}, "'folder', which is not a file"),
    "below a file": ({"location": "w.bin/w.bin"}, "cannot be looked at: Not a directory"),
}


@pytest.mark.parametrize(("entries", "found"), WRONG.values(), ids=WRONG)
def test_a_wrong_reference_is_refused(
    entries: dict[str, str | int], found: str, tmp_path: Path
) -> None:
    (tmp_path / "in" / "folder").mkdir(parents=True)
    path = saved(tmp_path / "in", model_of(external_tensor("w", **entries)), "w.bin")
    assert found in refusal(path)


def test_an_entry_given_twice_is_refused(tmp_path: Path) -> None:
    tensor = external_tensor("w", location="w.bin")
    tensor.external_data.add(key="location", value="other.bin")
    path = saved(tmp_path / "in", model_of(tensor), "w.bin", "other.bin")
    assert "gives the location of its external data twice" in refusal(path)


def test_a_location_that_is_not_text_is_refused(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"w.bin", b"w.\xffin"))
    assert "which is not text" in refusal(path)


def test_a_location_without_length_reaches_from_its_offset(tmp_path: Path) -> None:
    tensor = external_tensor("w", length=None, location="w.bin", offset=1024)
    load(saved(tmp_path / "in", model_of(tensor), "w.bin"))
    tensor.external_data[1].value = "1025"
    assert "up to byte 1025" in refusal(saved(tmp_path / "in", model_of(tensor), "w.bin"))


def test_the_tensor_that_reaches_furthest_is_judged(tmp_path: Path) -> None:
    tensors = [
        external_tensor(name, location="w.bin", offset=offset)
        for name, offset in (("first", 0), ("furthest", 4096), ("last", 0))
    ]
    path = saved(tmp_path / "in", model_of(*tensors), "w.bin")
    assert "tensor 'furthest' has its weights in 'w.bin' up to byte 5120" in refusal(path)


@pytest.mark.parametrize("linked", ["file", "folder"])
def test_a_link_that_leaves_the_folder_is_refused(linked: str, tmp_path: Path) -> None:
    path = saved(tmp_path / "in", model_of(external_tensor("w", location="sub/w.bin")), "sub/w.bin")
    load(path)
    inside = path.parent / "sub" if linked == "folder" else path.parent / "sub" / "w.bin"
    inside.rename(tmp_path / "elsewhere")
    inside.symlink_to(tmp_path / "elsewhere")
    assert "a symbolic link to" in refusal(path)
    assert "outside the model's folder" in refusal(path)


def test_a_link_within_the_folder_and_a_linked_folder_are_fine(path: Path) -> None:
    path.with_name("w.bin").rename(path.with_name("real.bin"))
    path.with_name("w.bin").symlink_to("real.bin")
    linked = path.parent.with_name("linked")
    linked.symlink_to(path.parent)
    assert load(path) == load(linked / "model.onnx")


def test_without_a_folder_external_data_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Standard(MODEL.SerializeToString()))
    with pytest.raises(ModelError, match=r"standard input: .* in 'w\.bin' and there is no folder"):
        read("-")
    with pytest.raises(ModelError, match=r"net: .* give the path of the model's file"):
        parse(MODEL.SerializeToString(), name="net", folder=None)


def test_external_data_does_not_fit_into_standard_output(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = Standard()
    monkeypatch.setattr(sys, "stdout", output)
    model, source = read(path)
    with pytest.raises(ModelError, match=r"standard output: .*'w\.bin', which would stay behind; "):
        write(model, "-", source=source)
    assert output.bytes.getvalue() == b""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_external_data_does_not_fit_into_a_pipe(path: Path, out: Path) -> None:
    os.mkfifo(out)
    reader = os.open(out, os.O_RDONLY | os.O_NONBLOCK)  # so that no writer has to wait
    try:
        with pytest.raises(
            ModelError, match=r"model\.onnx': .*'w\.bin', which would stay behind; "
        ):
            write(load(path), out, source=read(path)[1])
        assert os.read(reader, 1) == b""
    finally:
        os.close(reader)
    assert below(out.parent) == {"model.onnx"}


def test_in_the_same_folder_the_data_file_is_shared_and_untouched(path: Path) -> None:
    data = path.with_name("w.bin")
    data.chmod(0o444)
    os.utime(data, ns=(1, 1))
    before = data.stat()
    write(load(path), path.with_name("other.onnx"), source=read(path)[1])
    write_unchanged(read(path)[1], path)
    after = data.stat()
    assert below(path.parent) == {"model.onnx", "other.onnx", "w.bin"}
    assert (before.st_ino, before.st_mtime_ns, 1) == (
        after.st_ino,
        after.st_mtime_ns,
        after.st_nlink,
    )


def test_into_another_folder_the_data_is_copied(path: Path, out: Path) -> None:
    model, source = read(path)
    path.with_name("w.bin").chmod(0o440)
    write(model, out, source=source)
    copied = out.with_name("w.bin").stat()
    assert below(out.parent) == {"model.onnx", "w.bin"}
    assert stat.S_IMODE(copied.st_mode) == 0o440
    assert copied.st_nlink == 1
    assert not out.with_name("w.bin").is_symlink()
    np.testing.assert_array_equal(
        numpy_helper.to_array(onnx.load(out).graph.initializer[0]), WEIGHTS
    )
