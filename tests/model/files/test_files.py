import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, numpy_helper

from onnxpad.errors import ModelError
from onnxpad.model.files import onnx_file, saving
from onnxpad.model.files.onnx_file import Source, load, read
from onnxpad.model.files.saving import save, write, write_unchanged
from tests.model.files.standard_streams import Standard
from tests.models.external_data import model_of

_WHEEL = Path(onnx.__file__).parent / "backend" / "test" / "data"
LIGHT = sorted((_WHEEL / "light").glob("light_*.onnx"))
ROOT = Path(__file__).parents[3]
EVERY = [
    *LIGHT,
    *sorted((_WHEEL / "simple").rglob("*.onnx")),
    *sorted((ROOT / "models").glob("*.onnx")),
    *sorted((ROOT.parent / "shared" / "corpus" / "models").glob("*.onnx")),
]
MODEL = model_of(numpy_helper.from_array(np.array([-1, -2], np.float32), "w"))
BYTES = MODEL.SerializeToString()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(BYTES)
    return path


@pytest.mark.parametrize("original", EVERY, ids=lambda path: path.stem)
def test_read_and_write_give_the_same_bytes(original: Path, tmp_path: Path) -> None:
    model, source = read(original)
    assert source.data == original.read_bytes()
    write_unchanged(source, tmp_path / "unchanged.onnx")
    assert (tmp_path / "unchanged.onnx").read_bytes() == original.read_bytes()
    write(model, tmp_path / "written.onnx", source=source)
    assert ModelProto.FromString((tmp_path / "written.onnx").read_bytes()) == model
    if original in LIGHT:
        assert (tmp_path / "written.onnx").read_bytes() == original.read_bytes()


def test_unchanged_bytes_stay_though_protobuf_would_write_others(tmp_path: Path) -> None:
    reordered = (
        b"\x42\x02\x10\x0d" + ModelProto(ir_version=9, graph=MODEL.graph).SerializeToString()
    )
    (tmp_path / "odd.onnx").write_bytes(reordered)
    model, source = read(tmp_path / "odd.onnx")
    assert model.SerializeToString() != reordered
    write_unchanged(source, tmp_path / "out.onnx")
    assert (tmp_path / "out.onnx").read_bytes() == reordered


def test_the_source_survives_a_change_of_folder(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    source = read("model.onnx")[1]
    monkeypatch.chdir("/")
    assert source.path == path
    assert source.folder == path.parent
    assert len(repr(source)) < 300, "the bytes are not part of it"
    assert Source(None, None).folder is None


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("absent.onnx", "there is no such file"),
        ("absent/model.onnx", "there is no such file"),
        ("", "it is a folder"),
        ("model.onnx/model.onnx", "cannot be read: Not a directory"),
        ("n" * 300, "cannot be read: File name too long"),
        ("nul\0.onnx", "cannot be read: embedded null byte"),
    ],
)
def test_what_cannot_be_read_is_refused(path: Path, name: str, found: str) -> None:
    wanted = path.parent / name
    with pytest.raises(ModelError) as caught:
        read(wanted)
    assert str(caught.value).startswith(f"{wanted}: {found}; ")


def test_more_than_protobuf_holds_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = path.with_name("out.onnx")
    for module in (onnx_file, saving):
        monkeypatch.setattr(module, "LARGEST", len(BYTES))
    write(MODEL, target, source=read(path)[1])
    for module in (onnx_file, saving):
        monkeypatch.setattr(module, "LARGEST", len(BYTES) - 1)
    told = f"{len(BYTES)} bytes; protobuf holds less than 2 GiB: keep the weights in external data"
    for attempt in (
        lambda: read(path),
        lambda: write(MODEL, target),
        lambda: onnx_file.parse(BYTES, name="net", folder=None),
    ):
        with pytest.raises(ModelError) as caught:
            attempt()
        assert told in str(caught.value)


def test_a_file_that_is_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / "huge.onnx").open("wb") as file:
        file.truncate(2**31)
    monkeypatch.setattr(onnx_file, "parse", None)
    with pytest.raises(ModelError, match=r"huge\.onnx: 2147483648 bytes; protobuf holds less"):
        read(tmp_path / "huge.onnx")


def test_standard_input_and_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Standard(BYTES))
    output = Standard()
    monkeypatch.setattr(sys, "stdout", output)
    model, source = read("-")
    assert source == Source(None, BYTES)
    write(model, "-", source=source)
    assert output.bytes.getvalue() == BYTES
    write_unchanged(source, "-")
    save(model, "-", source="-")
    assert output.bytes.getvalue() == BYTES * 3


def test_standard_input_that_is_no_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Standard(b""))
    with pytest.raises(ModelError, match="standard input: the file is empty"):
        read("-")


def test_a_file_named_dash_is_reached_by_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save(MODEL, "./-")
    assert load("./-") == MODEL


def test_a_model_made_in_memory_has_no_unchanged_bytes(path: Path) -> None:
    with pytest.raises(ModelError, match="a model made in memory has no original bytes; use"):
        write_unchanged(Source(path, None), path.with_name("out.onnx"))
