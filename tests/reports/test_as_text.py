"""to_text(): a report as its command prints it, with options as arguments."""

from __future__ import annotations

import pytest

import onnxpad
from onnxpad.cli import run
from tests.cli.processes import MODELS, SAME

Captured = pytest.CaptureFixture[str]
UNET = MODELS / "k_unet_dyn_op13.onnx"


def test_it_is_what_the_command_prints(capsys: Captured) -> None:
    assert run(["inspect", str(SAME), "--target", "opencv"]) == 1
    said = onnxpad.inspect(SAME, target="opencv").to_text(str(SAME))
    assert said == capsys.readouterr().out
    assert run(["validate", str(SAME), str(SAME), "--proof-only"]) == 0
    assert onnxpad.validate(SAME, SAME, proof_only=True).to_text() == capsys.readouterr().out


def test_the_model_is_called_by_its_name() -> None:
    text = onnxpad.rewrite(UNET, target="opencv").to_text("unet.onnx")
    assert text.startswith("unet.onnx: 0 nodes rewritten")
    assert "--dim 'unk__9105%4=0' --dim 'unk__9106%4=0' settles all 2" in text


def test_what_no_command_prints_is_an_error() -> None:
    with pytest.raises(onnxpad.RequestError, match="no command prints a Porting"):
        onnxpad.port(SAME).to_text()
