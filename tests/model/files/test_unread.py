"""Large weights stay in their file until the result is written, and only as long as it holds."""

from __future__ import annotations

import copy
import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from onnxpad import ModelError, rewrite, validate
from onnxpad.model.files import splicing
from onnxpad.model.files.onnx_file import read
from onnxpad.model.files.splicing import UnreadFile

pytestmark = pytest.mark.skipif(os.name == "nt", reason="an open file could not be replaced")
OLD = (1_000_000_000, 1_000_000_000)


def weights() -> ModelProto:
    """Two convolutions with 2.3 MB of weights each, and a small constant."""
    random = np.random.default_rng(0)
    nodes, held = [], [numpy_helper.from_array(np.zeros(190, np.float32), "b")]
    for number in range(2):
        names = [f"t{number}", f"w{number}", "b"]
        array = random.standard_normal((190, 190, 4, 4)).astype(np.float32)
        held.append(numpy_helper.from_array(array, names[1]))
        nodes.append(helper.make_node("Conv", names, [f"t{number + 1}"], auto_pad="SAME_UPPER"))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("t0", TensorProto.FLOAT, [1, 190, 9, 9])],
        [helper.make_tensor_value_info("t2", TensorProto.FLOAT, None)],
        held,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


BYTES = weights().SerializeToString()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(BYTES)
    os.utime(path, OLD)
    return path


@pytest.fixture
def out(path: Path) -> Path:
    return path.with_name("out.onnx")


@pytest.fixture
def expected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """What comes of the model where all of its file is read."""
    whole = tmp_path / "whole.onnx"
    whole.write_bytes(BYTES)
    with monkeypatch.context() as patch:
        patch.setattr(splicing, "SMALLEST", 1 << 40)
        rewrite(whole).save(whole, in_place=True)
    written = whole.read_bytes()
    whole.unlink()
    return written


def is_unread(path: Path) -> bool:
    return isinstance(read(path, light=True)[1].data, UnreadFile)


def test_the_same_is_written_as_when_all_is_read(path: Path, out: Path, expected: bytes) -> None:
    rewriting = rewrite(path)
    assert rewriting.source
    assert isinstance(rewriting.source.data, UnreadFile)
    rewriting.save(out)
    assert out.read_bytes() == expected
    assert rewriting.model == ModelProto.FromString(expected)
    for _ in range(2):
        rewriting.save(path, in_place=True)
        assert path.read_bytes() == expected
    command = [sys.executable, "-m", "onnxpad", "rewrite", str(path), "-o", "-"]
    assert subprocess.run(command, capture_output=True, check=True).stdout == expected


def test_a_model_that_needs_no_change_is_written_byte_for_byte(path: Path, out: Path) -> None:
    rewriting = rewrite(path, passes="absorb-pad")
    assert not rewriting.changed
    rewriting.save(out)
    assert out.read_bytes() == BYTES


@pytest.mark.parametrize("gone", ["removed", "replaced"])
def test_what_happens_to_the_name_changes_nothing(
    path: Path, out: Path, expected: bytes, gone: str
) -> None:
    rewriting = rewrite(path)
    path.unlink()
    if gone == "replaced":
        path.write_bytes(BYTES[::-1])
    rewriting.save(out)
    assert out.read_bytes() == expected


@pytest.mark.parametrize("held", [BYTES[::-1], BYTES[: len(BYTES) // 2], b""])
def test_a_file_that_was_written_to_gives_no_weights(path: Path, out: Path, held: bytes) -> None:
    rewriting, same = rewrite(path), rewrite(path, passes="absorb-pad")
    path.write_bytes(held)
    for result in (rewriting, same):
        with pytest.raises(ModelError, match=r"model\.onnx: the file was changed while onnxpad"):
            result.save(out)
    with pytest.raises(ModelError, match="the file was changed"):
        _ = rewriting.model
    assert [found.name for found in path.parent.iterdir()] == ["model.onnx"]


def test_a_change_in_the_middle_of_the_copy_is_noticed(
    path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = UnreadFile.__getitem__

    def changed_after(file: UnreadFile, part: slice) -> bytes:
        piece = genuine(file, part)
        with path.open("r+b") as other:
            other.write(b"\x08")
        return piece

    rewriting = rewrite(path)
    monkeypatch.setattr(UnreadFile, "__getitem__", changed_after)
    with pytest.raises(ModelError, match="the file was changed"):
        rewriting.save(out)
    assert [found.name for found in path.parent.iterdir()] == ["model.onnx"]


def test_few_files_stay_open_and_none_that_was_written_just_now(path: Path) -> None:
    kept = [read(path, light=True)[1].data for _ in range(70)]
    assert 0 < sum(isinstance(one, UnreadFile) for one in kept) <= 64
    assert isinstance(kept[-1], bytes)
    assert isinstance(kept[0], UnreadFile)
    descriptor = kept[0].descriptor
    del kept
    gc.collect()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)
    assert is_unread(path)
    os.utime(path)
    assert not is_unread(path)


def test_a_copy_holds_the_bytes(path: Path, expected: bytes) -> None:
    copied = copy.deepcopy(rewrite(path))
    path.unlink()
    assert copied.model == ModelProto.FromString(expected)
    assert validate(BYTES, copied.unread, proof_only=True).ok
