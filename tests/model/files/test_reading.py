"""What is read as a model, and what is refused with what to try."""

from __future__ import annotations

import os
import sys
import threading
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from onnxpad import ModelError, inspect, load, rewrite, save
from tests.model.files.standard_streams import Standard
from tests.models.external_data import model_of

_WHEEL = Path(onnx.__file__).parent / "backend" / "test" / "data"
ROOT = Path(__file__).parents[3]
EVERY = [
    *sorted((_WHEEL / "light").glob("light_*.onnx")),
    *sorted((_WHEEL / "simple").rglob("*.onnx")),
    *sorted((ROOT / "models").glob("*.onnx")),
]
MODEL = model_of(numpy_helper.from_array(np.array([-1, -2], np.float32), "w"))
BYTES = MODEL.SerializeToString()
WRONG = "or damaged, cut short or nested too deep"
pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(BYTES)
    return path


def refusal(data: bytes) -> str:
    with pytest.raises(ModelError) as caught:
        inspect(data)
    message = str(caught.value)
    assert message.startswith("the model in memory: ")
    assert "; " in message, "says what to try"
    return message


def test_read_and_write_give_the_same_bytes(tmp_path: Path) -> None:
    for original in EVERY:
        model = load(original)
        save(model, tmp_path / "written.onnx")
        assert ModelProto.FromString((tmp_path / "written.onnx").read_bytes()) == model


def test_unchanged_bytes_stay_though_protobuf_would_write_others(tmp_path: Path) -> None:
    reordered = (
        b"\x42\x02\x10\x0d" + ModelProto(ir_version=9, graph=MODEL.graph).SerializeToString()
    )
    (tmp_path / "odd.onnx").write_bytes(reordered)
    assert load(tmp_path / "odd.onnx").SerializeToString() != reordered
    rewrite(tmp_path / "odd.onnx").save(tmp_path / "out.onnx")
    assert (tmp_path / "out.onnx").read_bytes() == reordered


def test_unknown_fields_of_later_versions_are_taken(path: Path) -> None:
    later = BYTES + b"\xf8\x06\x01" + b"\xfa\x06\x01x" + b"\xfd\x06abcd" + b"\xf9\x06abcdefgh"
    path.write_bytes(later)
    assert load(path).SerializeToString() == later


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("absent.onnx", "No such file or directory; check the path"),
        ("", "Is a directory; check the path"),
        ("model.onnx/model.onnx", "Not a directory; "),
        ("nul\0.onnx", "embedded null byte; "),
    ],
)
def test_what_cannot_be_read_is_refused(path: Path, name: str, told: str) -> None:
    wanted = path.parent / name
    with pytest.raises(ModelError) as caught:
        load(wanted)
    assert str(caught.value).startswith(f"{wanted}: {told}")


def test_a_relative_path_holds_in_another_folder(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    unchanged = rewrite("model.onnx")
    save(MODEL, "./-")
    assert load("./-") == MODEL
    monkeypatch.chdir("/")
    unchanged.save(path, in_place=True)
    assert path.read_bytes() == BYTES


def test_more_than_protobuf_holds_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "huge.onnx").open("wb") as file:
        file.truncate(2**31)
    with pytest.raises(ModelError, match=r"huge\.onnx: 2147483648 bytes or more"):
        load(tmp_path / "huge.onnx")


def test_standard_input_and_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Standard(BYTES))
    output = Standard()
    monkeypatch.setattr(sys, "stdout", output)
    unchanged = rewrite("-")
    assert unchanged.model == MODEL
    unchanged.save("-")
    save(MODEL, "-")
    save(MODEL, "-", source="-")
    assert output.bytes.getvalue() == BYTES * 3
    monkeypatch.setattr(sys, "stdin", Standard(b""))
    with pytest.raises(ModelError, match=r"standard input: no ONNX model .* 0 bytes"):
        load("-")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full", "/dev/null"])
def test_a_device_is_refused(device: str) -> None:
    if not Path(device).exists():
        pytest.skip("the system has no such device")
    with pytest.raises(ModelError, match=r"it is a device, .*; give a file or a p|: 0 bytes"):
        load(device)


@pipes
def test_a_pipe_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(BYTES,))
    writer.start()
    assert load(pipe) == MODEL
    writer.join()


FOREIGN = [
    b"hello world\n",
    b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
    bytes(range(256)),
    helper.make_tensor("w", TensorProto.FLOAT, [2], [-1.0, -2.0]).SerializeToString(),
    MODEL.graph.SerializeToString(),
    ModelProto(ir_version=9, opset_import=MODEL.opset_import).SerializeToString(),
    ModelProto(ir_version=9, graph=MODEL.graph).SerializeToString(),
    ModelProto(graph=MODEL.graph, opset_import=MODEL.opset_import).SerializeToString(),
]


@pytest.mark.parametrize("data", FOREIGN)
def test_a_file_of_another_kind_is_named(data: bytes) -> None:
    assert (
        f"no ONNX model with ir_version, graph and opset_import, {WRONG}: {len(data)} bytes, "
        in (refusal(data))
    )


def test_a_model_cut_short_anywhere_is_refused() -> None:
    for size in range(len(BYTES)):
        refusal(BYTES[:size])


def test_subgraphs_deeper_than_protobuf_reads_are_refused() -> None:
    graph = b""
    for _ in range(40):  # graph.node.attribute.g, as bytes: protobuf cannot build it either
        for tag in (0x32, 0x2A, 0x0A):
            size = len(graph)
            graph = bytes([tag, size & 0x7F | 0x80, size >> 7]) + graph
    size = len(graph)
    model = b"\x08\x09\x3a" + bytes([size & 0x7F | 0x80, size >> 7]) + graph + b"\x42\x02\x10\x0d"
    assert "nested too deep" in refusal(model)


@pytest.mark.parametrize("seed", range(4))
def test_no_bytes_raise_anything_but_a_model_error(seed: int) -> None:
    random = Random(seed)
    drawn = [random.randbytes(random.randrange(65)) for _ in range(25)]
    for data, before, behind in product(drawn, (b"", BYTES[:40]), (b"", BYTES)):
        candidate = before + data + behind
        try:
            inspect(candidate)
        except ModelError:
            continue
        assert ModelProto.FromString(candidate).HasField("graph")
