"""What is read, and what ends before memory or time is spent on it."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from onnxpad.errors import ModelError
from onnxpad.model.files import contents as module
from onnxpad.model.files.contents import Refused, contents
from onnxpad.model.files.onnx_file import read
from tests.models.external_data import model_of

BYTES = model_of().SerializeToString()

pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/full"])
def test_an_endless_device_is_refused(device: str) -> None:
    if not Path(device).exists():
        pytest.skip("the system has no such device")
    with pytest.raises(ModelError, match=rf"{device}: it is a device, .*; give a file or a pipe"):
        read(device)


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="there is no null device here")
def test_a_device_with_nothing_in_it_is_an_empty_file() -> None:
    with pytest.raises(ModelError, match="the file is empty"):
        read("/dev/null")


def test_a_path_without_a_letter_is_shown_in_quotes() -> None:
    with pytest.raises(ModelError, match=r"^'': there is no such file"):
        read("")


@pipes
def test_a_pipe_that_nobody_writes_to_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(module, "PATIENCE", 0.1)
    with pytest.raises(ModelError, match=r"nobody wrote to it within 0\.1 seconds; start what"):
        read(tmp_path / "pipe")


@pipes
def test_whoever_has_opened_a_pipe_may_take_their_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    monkeypatch.setattr(module, "PATIENCE", 5.0)

    def write_slowly() -> None:
        with pipe.open("wb", buffering=0) as file:
            monkeypatch.setattr(module, "PATIENCE", 0.0)
            for start in range(0, len(BYTES), 40):
                threading.Event().wait(0.05)
                file.write(BYTES[start : start + 40])

    writer = threading.Thread(target=write_slowly)
    writer.start()
    assert read(pipe)[1].data == BYTES
    writer.join()


@pipes
@pytest.mark.parametrize("data", [b"no model at all\n" * 1000, bytes(10_000)])
def test_a_pipe_is_left_as_soon_as_no_model_begins_like_that(data: bytes, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    stopped = []

    def write_without_end() -> None:
        try:
            with pipe.open("wb", buffering=0) as file:
                while True:
                    file.write(data)
        except BrokenPipeError:
            stopped.append(True)

    writer = threading.Thread(target=write_without_end)
    writer.start()
    with pytest.raises(ModelError, match="not an ONNX model"):
        read(pipe)
    writer.join(60)
    assert stopped


@pipes
def test_a_pipe_has_a_largest_size(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for most in (1000, 999):
        writer = threading.Thread(target=pipe.write_bytes, args=(bytes(1000),))
        writer.start()
        if most == 1000:
            assert contents(pipe, most) == bytes(1000)
        else:
            with pytest.raises(Refused, match="at least 1000 bytes; give a smaller file"):
                contents(pipe, most)
        writer.join()
