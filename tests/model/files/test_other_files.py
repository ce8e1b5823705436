import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

from onnxpad.errors import ModelError
from onnxpad.model.files import onnx_file
from onnxpad.model.files.onnx_file import parse
from tests.models.external_data import model_of

MODEL = model_of()
MODEL.functions.append(
    helper.make_function("local", "f", ["x"], ["y"], [], [helper.make_opsetid("", 13)])
)
BYTES = MODEL.SerializeToString()


def refusal(data: bytes) -> str:
    with pytest.raises(ModelError) as caught:
        parse(data, name="net.onnx", folder=None)
    message = str(caught.value)
    assert message.startswith("net.onnx: ")
    assert "; " in message, "says what to try"
    return message


FOREIGN = [
    (b"", "the file is empty (0 bytes)"),
    (b"hello world\n", "text"),
    (b": a line that starts like the field of a graph\n", "text"),
    (b"Blah blah, as opset_import would start\n", "text"),
    (b'{"irVersion": "8"}', "JSON text"),
    (b"\n  [1, 2]", "JSON text"),
    (b"<!DOCTYPE html><html>", "a web page or XML"),
    (b"ir_version: 8\ngraph {\n}\n", "protobuf text"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a Git LFS pointer"),
    (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "a PNG image"),
    (b"\xff\xd8\xff\xe0\x00\x10JFIF", "a JPEG image"),
    (b"\x1f\x8b\x08\x00", "gzip data"),
    (b"PK\x03\x04" + bytes(30), "a zip archive"),
    (b"\x89HDF\r\n\x1a\n\x00", "an HDF5 file"),
    (b"\x1c\x00\x00\x00TFL3\x14\x00", "a TensorFlow Lite model"),
    (b"\x08\x00\x00\x00ORTM\x14\x00", "an onnxruntime ORT-format model"),
    (b'\x40\x00\x00\x00\x00\x00\x00\x00{"w":', "a safetensors file"),
    (pickle.dumps({"w": [1.0]}, protocol=2), "a Python pickle"),
    (pickle.dumps({"w": [1.0]}, protocol=4), "a Python pickle"),
    (bytes(range(256)), "no ModelProto starts like this"),
]


@pytest.mark.parametrize(("data", "found"), FOREIGN, ids=[found for _, found in FOREIGN])
def test_a_file_of_another_kind_is_named(data: bytes, found: str) -> None:
    assert found in refusal(data)


_IR, _OPSET = b"\x08\x08", b"\x42\x04\x0a\x00\x10\x11"
_LARGE = 2**31 - 1


@pytest.mark.parametrize(
    "start",
    [
        b"",
        _IR,
        _IR + _OPSET + b"\x3a\xf1\xff\xff\xff\x07",
        _IR * 200_000,
        b"GIF89a\x00\x00",
    ],
    ids=["zeros", "a version", "a graph of zeros", "nothing but versions", "another file"],
)
@pytest.mark.parametrize("light", [True, False])
def test_a_large_file_that_is_no_model_is_not_read(
    start: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, light: bool
) -> None:
    path = tmp_path / "large.onnx"
    path.write_bytes(start)
    os.truncate(path, _LARGE)
    os.utime(path, (0, 0))

    def all_of_it(*_args: object, **_more: object) -> bytes:
        raise AssertionError

    monkeypatch.setattr(onnx_file, "contents", all_of_it)
    with pytest.raises(ModelError, match="no ModelProto starts like this"):
        onnx_file.read(path, light=light)


def test_what_torch_saves_is_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "model.pt", "w") as archive:
        archive.writestr("model/data.pkl", b"")
    said = refusal((tmp_path / "model.pt").read_bytes())
    assert "a PyTorch file (.pt)" in said
    assert "torch.onnx.export" in said


def test_arrays_are_sent_to_the_options_that_take_them(tmp_path: Path) -> None:
    for save in (np.savez, np.savez_compressed):
        arrays: dict[str, Any] = {"functional_1/input:0": np.zeros((2, 3))}
        save(tmp_path / "x.npz", **arrays)
        said = refusal((tmp_path / "x.npz").read_bytes())
        assert "not an ONNX model but NumPy arrays" in said
        assert "with data or inputs" in said
    np.save(tmp_path / "x.npy", np.zeros(3))
    assert "inputs" in refusal((tmp_path / "x.npy").read_bytes())


@pytest.mark.parametrize(
    "other",
    [
        helper.make_tensor("w", TensorProto.FLOAT, [2], [-1.0, -2.0]),
        # Fields 1, 7 and 8 are there, and protobuf parses it as a ModelProto.
        helper.make_tensor("", TensorProto.INT64, [2], [10, 0]),
        TensorProto(name="w", data_type=TensorProto.STRING, dims=[1], string_data=[b"w"]),
        MODEL.graph,
        MODEL.graph.node[0],
        MODEL.graph.input[0],
        MODEL.opset_import[0],
        ModelProto(ir_version=9, opset_import=MODEL.opset_import),
        ModelProto(ir_version=9, graph=MODEL.graph),
        ModelProto(graph=MODEL.graph, opset_import=MODEL.opset_import),
    ],
    ids=lambda message: type(message).__name__,
)
def test_another_protobuf_message_is_refused(
    other: TensorProto | GraphProto | NodeProto | ValueInfoProto | ModelProto,
) -> None:
    assert "ONNX model" in refusal(other.SerializeToString())


def test_a_model_cut_short_anywhere_before_its_required_fields_end_is_refused() -> None:
    whole = len(BYTES) - len(MODEL.functions[0].SerializeToString()) - 3
    assert not parse(BYTES[:whole], name="net.onnx", folder=None).functions
    for size in range(len(BYTES)):
        if size != whole:
            refusal(BYTES[:size])
    message = refusal(BYTES[: whole - 1])
    assert f"cut short: it has {whole - 1} bytes and at least 1 more" in message


def test_subgraphs_deeper_than_protobuf_reads_are_refused() -> None:
    graph = b""
    for _ in range(40):  # graph.node.attribute.g, as bytes: protobuf cannot build it either
        for tag in (0x32, 0x2A, 0x0A):
            size = len(graph)
            graph = bytes([tag, size & 0x7F | 0x80, size >> 7]) + graph
    size = len(graph)
    model = b"\x08\x09\x3a" + bytes([size & 0x7F | 0x80, size >> 7]) + graph + b"\x42\x02\x10\x0d"
    assert "nested deeper" in refusal(model)


def test_unknown_fields_of_later_versions_are_taken() -> None:
    later = BYTES + b"\xf8\x06\x01" + b"\xfa\x06\x01x" + b"\xfd\x06abcd" + b"\xf9\x06abcdefgh"
    assert parse(later, name="net.onnx", folder=None).SerializeToString() == later


@given(st.binary(max_size=64))
def test_no_bytes_raise_anything_but_a_model_error(data: bytes) -> None:
    for candidate in (data, BYTES[:40] + data, data + BYTES):
        try:
            parse(candidate, name="net.onnx", folder=None)
        except ModelError:
            continue
        assert ModelProto.FromString(candidate).HasField("graph")
