"""Large weights stay in their file until the result is written, and only as long as it holds."""

import copy
import gc
import os
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from onnxpad import rewrite, validate
from onnxpad.errors import ModelError
from onnxpad.model.files import unread
from onnxpad.model.files.onnx_file import read
from onnxpad.model.files.saving import write_unchanged
from onnxpad.model.files.unread import Stretch, UnreadFile

pytestmark = pytest.mark.skipif(os.name == "nt", reason="an open file could not be replaced")
OLD = (1_000_000_000, 1_000_000_000)


def weights(seed: int) -> ModelProto:
    """Two convolutions with 2.3 MB of weights each, and a small constant."""
    random = np.random.default_rng(seed)
    nodes, held = [], []
    for number in range(2):
        held.append(random.standard_normal((190, 190, 4, 4)).astype(np.float32))
        nodes.append(
            helper.make_node(
                "Conv", [f"t{number}", f"w{number}", "b"], [f"t{number + 1}"], auto_pad="SAME_UPPER"
            )
        )
    constants = [numpy_helper.from_array(array, f"w{index}") for index, array in enumerate(held)]
    constants.insert(1, numpy_helper.from_array(np.zeros(190, np.float32), "b"))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("t0", TensorProto.FLOAT, [1, 190, 9, 9])],
        [helper.make_tensor_value_info("t2", TensorProto.FLOAT, None)],
        constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


BYTES, OTHER = weights(0).SerializeToString(), weights(1).SerializeToString()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(BYTES)
    os.utime(path, OLD)
    return path


@pytest.fixture
def expected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """What comes of the model where all of its file is read."""
    whole = tmp_path / "whole.onnx"
    whole.write_bytes(BYTES)
    with monkeypatch.context() as patch:
        patch.setattr(unread, "SMALLEST", 1 << 40)
        rewriting = rewrite(whole)
        rewriting.save(whole, in_place=True)
        assert rewriting.source
        assert isinstance(rewriting.source.data, bytes)
    written = whole.read_bytes()
    whole.unlink()
    return written


def is_unread(path: Path) -> bool:
    source = read(path, light=True)[1]
    return isinstance(source.data, UnreadFile)


def test_the_same_is_written_as_when_all_is_read(path: Path, expected: bytes) -> None:
    rewriting = rewrite(path)
    assert rewriting.source
    assert isinstance(rewriting.source.data, UnreadFile)
    rewriting.save(path.with_name("out.onnx"))
    assert path.with_name("out.onnx").read_bytes() == expected
    assert rewriting.model == ModelProto.FromString(expected)
    assert path.read_bytes() == BYTES


def test_a_model_that_needs_no_change_is_written_byte_for_byte(path: Path) -> None:
    rewriting = rewrite(path, passes="absorb-pad")
    assert not rewriting.changed
    rewriting.save(path.with_name("out.onnx"))
    write_unchanged(read(path, light=True)[1], path.with_name("again.onnx"))
    assert path.with_name("out.onnx").read_bytes() == BYTES
    assert path.with_name("again.onnx").read_bytes() == BYTES


def test_a_file_can_be_replaced_by_its_result_and_once_more(path: Path, expected: bytes) -> None:
    rewriting = rewrite(path)
    rewriting.save(path, in_place=True)
    assert path.read_bytes() == expected
    rewriting.save(path, in_place=True)
    assert path.read_bytes() == expected


@pytest.mark.parametrize("gone", ["removed", "renamed", "replaced"])
def test_what_happens_to_the_name_changes_nothing(path: Path, expected: bytes, gone: str) -> None:
    rewriting = rewrite(path)
    other = path.with_name("other.onnx")
    if gone == "removed":
        path.unlink()
    elif gone == "renamed":
        path.rename(other)
    else:
        other.write_bytes(OTHER)
        other.replace(path)
    rewriting.save(path.with_name("out.onnx"))
    assert path.with_name("out.onnx").read_bytes() == expected


@pytest.mark.parametrize("held", [OTHER, BYTES[: len(BYTES) // 2], b""])
def test_a_file_that_was_written_to_gives_no_weights(path: Path, held: bytes) -> None:
    rewriting, same = rewrite(path), rewrite(path, passes="absorb-pad")
    path.write_bytes(held)
    out = path.with_name("out.onnx")
    for result in (rewriting, same):
        with pytest.raises(ModelError, match=r"model\.onnx: the file was changed while onnxpad"):
            result.save(out)
    with pytest.raises(ModelError, match="the file was changed"):
        _ = rewriting.model
    assert [found.name for found in path.parent.iterdir()] == ["model.onnx"]


def test_a_change_in_the_middle_of_the_copy_is_noticed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = Stretch.write_to

    def changed_after(stretch: Stretch, target: BinaryIO) -> None:
        copy(stretch, target)
        with path.open("r+b") as file:
            file.write(b"\x08")

    rewriting = rewrite(path)
    monkeypatch.setattr(Stretch, "write_to", changed_after)
    with pytest.raises(ModelError, match="the file was changed"):
        rewriting.save(path.with_name("out.onnx"))
    assert [found.name for found in path.parent.iterdir()] == ["model.onnx"]


def test_a_file_written_just_now_is_read_at_once(path: Path) -> None:
    assert is_unread(path)
    os.utime(path)
    assert not is_unread(path)
    found = path.stat().st_mtime_ns // 1_000_000_000 * 1_000_000_000
    os.utime(path, ns=(found, found))  # of this second or the one before: steps of two
    assert not is_unread(path)


def test_the_file_is_open_as_long_as_the_result_is_there(path: Path) -> None:
    rewriting = rewrite(path)
    assert rewriting.source
    assert isinstance(rewriting.source.data, UnreadFile)
    descriptor = rewriting.source.data.descriptor
    os.fstat(descriptor)
    del rewriting
    gc.collect()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_many_results_do_not_use_up_what_can_be_open(path: Path) -> None:
    kept = [read(path, light=True)[1] for _ in range(70)]
    unread_ones = [one for one in kept if isinstance(one.data, UnreadFile)]
    assert 0 < len(unread_ones) <= 64
    assert isinstance(kept[-1].data, bytes)


def test_a_copy_holds_the_bytes(path: Path, expected: bytes) -> None:
    copied = copy.deepcopy(rewrite(path))
    path.unlink()
    assert copied.source is not None
    assert copied.source.data is not None
    assert bytes(copied.source.data[:]) == BYTES
    assert copied.model == ModelProto.FromString(expected)
    assert validate(BYTES, copied.unread, proof_only=True).ok


def test_streams_get_all_of_it(path: Path, expected: bytes) -> None:
    command = [sys.executable, "-m", "onnxpad", "rewrite", str(path), "-o", "-"]
    alone = subprocess.run(command, capture_output=True, check=True)
    assert alone.stdout == expected


def test_a_damaged_file_is_told_as_ever(path: Path) -> None:
    path.write_bytes(BYTES[:-10])
    os.utime(path, OLD)
    with pytest.raises(ModelError, match="cut short: it has"):
        rewrite(path)
