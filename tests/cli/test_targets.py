"""--target, --device and --sarif on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import parser

from onnxpad import RuntimeUnavailable, inspection, sessions
from tests.cli.processes import MODELS, SAME
from tests.command import run

Captured = pytest.CaptureFixture[str]
STRINGS = MODELS / "t_same_string_ts.onnx"
INTEGER = """<ir_version: 8, opset_import: ["" : 17]>
g (uint8[1,2,8,8] x, uint8[3,2,3,3] w) => (int32[1,3,8,8] y) {
  [first] y = ConvInteger<pads=[1,1,1,1]>(x, w)
}"""


def save(folder: Path, text: str) -> Path:
    path = folder / "model.onnx"
    path.write_bytes(parser.parse_model(text).SerializeToString())
    return path


def test_a_model_that_onnxruntime_refuses_is_an_error(capsys: Captured, tmp_path: Path) -> None:
    model = save(tmp_path, INTEGER.replace("pads=[1,1,1,1]", "pads=[-9,1,1,1]"))
    assert run(["inspect", str(model), "--device", "cpu"]) == 2
    assert "onnxruntime does not open it on cpu" in capsys.readouterr().err


def test_nodes_that_leave_the_gpu_are_findings(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def assigned(*_: object, **__: object) -> dict[str, str]:
        names = {f"onnxpad/{key}": "CUDAExecutionProvider" for key in range(50)}
        return names | {"onnxpad/0": "CPUExecutionProvider"}

    monkeypatch.setattr(sessions, "assignments", assigned)
    assert run(["inspect", str(SAME), "--device", "cuda"]) == 1
    shown = capsys.readouterr().out
    assert "leaves the GPU: 'Conv.0': onnxruntime runs it with CPUExecutionProvider" in shown


def test_without_cuda_the_device_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "cuda_problem", lambda: "none here")
    with pytest.raises(RuntimeUnavailable, match="none here"):
        inspection.inspect(SAME, device="cuda")
