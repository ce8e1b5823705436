"""A report in an interactive session: a few lines, whatever it holds."""

from pathlib import Path

import pytest

import onnxpad

MODELS = Path(__file__).resolve().parents[2] / "models"
MODEL = MODELS / "k_unet_dyn_op13.onnx"


@pytest.mark.parametrize(
    "report",
    [
        lambda: onnxpad.inspect(MODEL, target=["opencv", "ncnn"]),
        lambda: onnxpad.rewrite(MODEL),
        lambda: onnxpad.retarget(MODEL, to="pytorch"),
        lambda: onnxpad.resolve(
            "keras", "Conv2D", input_shape=(1, 3, 8, 8), kernel_size=3, padding="same"
        ),
        lambda: onnxpad.explain("ncnn"),
    ],
    ids=["inspect", "rewrite", "retarget", "resolve", "explain"],
)
def test_reports_say_briefly_what_they_hold(report: object) -> None:
    assert callable(report)
    found = repr(report())
    assert 20 < len(found) < 1000
    assert "\n" not in found


def test_a_report_names_what_it_counts() -> None:
    found = repr(onnxpad.inspect(MODEL))
    assert found.startswith("Inspection(model=ModelFacts(producer='tf2onnx 1.17.0', opset=13")
    assert "nodes=<12>" in found
    assert "targets" not in found
