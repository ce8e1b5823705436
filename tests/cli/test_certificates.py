"""rewrite --certificate and validate --certificate: what is recorded, checked again and refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from onnxpad import proof
from onnxpad.validation import kernel_verdict
from tests.command import run
from tests.proof.small_models import text

Captured = pytest.CaptureFixture[str]
CONV = """g (float[1,2,H] x) => (float[a,b,c] y)
    {{ y = Conv<{pads}, strides = [2]>(x, w) }}"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """in.onnx with its weights in weights.bin, out.onnx as explicit pads, and out.json."""
    monkeypatch.chdir(tmp_path)
    model = text(CONV.format(pads='auto_pad = "SAME_UPPER"'))
    weights = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    model.graph.initializer.append(numpy_helper.from_array(weights, "w"))
    onnx.save(
        model, "in.onnx", save_as_external_data=True, size_threshold=0, location="weights.bin"
    )
    return tmp_path


LINE = ["rewrite", "in.onnx", "-o", "out.onnx", "--certificate", "out.json", "--dim", "H%2=0"]
CHECK = ["validate", "in.onnx", "out.onnx", "--certificate", "out.json"]


def edited(path: Path, **entries: Any) -> None:
    read = json.loads(path.read_text())
    path.write_text(json.dumps(read | entries))


def test_what_was_proved_is_recorded_and_proved_again(folder: Path, capsys: Captured) -> None:
    assert run(LINE) == 0
    read = json.loads((folder / "out.json").read_text())
    assert (read["certificate"], read["kernel"], read["dims"]) == (1, 1, {"H": "%2=0"})
    for name, data in (("before", "weights.bin"), ("after", "weights.bin")):
        assert len(read[name]["sha256"]) == 64
        assert list(read[name]["data"]) == [data]
    said = read["proof"]
    assert (said["open_sizes"], said["dims"], said["rounded"]) == (["H"], {"H": "%2=0"}, False)
    assert said["readings"] == []
    assert said["regions"][0]["outputs"] == ["y"]
    assert 0 < said["probability"] < 1e-9
    capsys.readouterr()
    assert run(CHECK) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("proved: 'out.json' holds: both are the same function, for all values")


@pytest.mark.parametrize("file", ["in.onnx", "out.onnx", "weights.bin"])
def test_other_bytes_are_refused(file: str, folder: Path, capsys: Captured) -> None:
    assert run(LINE) == 0
    data = (folder / file).read_bytes()
    flipped = bytes([data[-1] ^ 1]) if file == "weights.bin" else data[-1:] + b"\x42\x00"
    (folder / file).write_bytes(data[:-1] + flipped)  # an empty domain: the model as it was
    capsys.readouterr()
    assert run(CHECK) == 2
    said = capsys.readouterr().err
    named = "in.onnx" if file == "weights.bin" else file
    assert f"the certificate 'out.json' is about other bytes than '{named}', or its" in said
    assert "try     onnxpad validate in.onnx out.onnx" in said


def test_points_are_fresh(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del folder
    drawn: list[bytes] = []

    def prove(*models: Any, **options: Any) -> Any:
        def source(count: int) -> bytes:
            drawn.append(os.urandom(count))
            return drawn[-1]

        return proof.prove(*models, **options, source=source)

    monkeypatch.setattr(kernel_verdict, "prove", prove)
    assert run(LINE) == 0
    first = set(drawn)
    assert run(CHECK) == 0
    assert len(drawn) > len(first) > 0
    assert len(set(drawn)) == len(drawn)


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"dims": {}}, "'out.json' says dims {}"),
        ({"open_sizes": ["H", "N"]}, '\'out.json\' says open sizes ["H", "N"]'),
    ],
)
def test_more_than_can_be_proved_is_not_believed(
    claims: dict[str, Any], said: str, folder: Path, capsys: Captured
) -> None:
    assert run(LINE) == 0
    path = folder / "out.json"
    proved = json.loads(path.read_text())["proof"]
    edited(path, proof=proved | claims)
    capsys.readouterr()
    assert run(CHECK) == 1
    assert said in capsys.readouterr().out.splitlines()[0]
