"""The files that optimum exports, rewritten before it compares them with PyTorch."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

import onnxpad
from tests.integrations.conftest import Host
from tests.integrations.models import shown

pytestmark = pytest.mark.sweep

COMPARED = """
import json, logging
import onnx, transformers
from optimum.exporters.onnx import OnnxConfig, onnx_export_from_model
from onnxpad.integrations.optimum import rewriting

config = transformers.MobileNetV2Config(image_size=64, depth_multiplier=0.35)
model = transformers.MobileNetV2ForImageClassification(config)
options = {"task": "image-classification"}
step = OnnxConfig.post_process_exported_models
onnx_export_from_model(model, "before", **options)
with rewriting(passes="absorb-pad"):
    onnx_export_from_model(model, "after", **options)
counts = [len(onnx.load(f"{name}/model.onnx").graph.node) for name in ("before", "after")]
reasons = []
for wrong in ({"target": "nonsense"}, {"passes": "absorb-pad"}):
    skipped = {"no_post_process": "target" not in wrong}
    try:
        with rewriting(**wrong):
            onnx_export_from_model(model, "wrong", **options, **skipped)
    except Exception as error:
        reasons.append(str(error.__cause__ or error))
print(json.dumps([counts, reasons, OnnxConfig.post_process_exported_models is step]))
"""


def test_what_is_shown_works(host: Callable[[str], Host]) -> None:
    tool = host("optimum")
    tool.program(shown("optimum"))
    assert (tool.folder / "mobilenet" / "model.onnx").exists()


def test_exports_are_rewritten_inside_of_the_with_alone(host: Callable[[str], Host]) -> None:
    tool = host("optimum")
    counts, reasons, restored = json.loads(tool.program(COMPARED).splitlines()[-1])
    (told,) = onnxpad.explain("integrations")
    assert f"of {counts[0]} operators {counts[1]} are left" in told.text
    assert reasons[0].startswith("no target is called 'nonsense'")
    assert reasons[1].startswith("optimum post-processed no file")
    assert restored
    before, after = (tool.folder / name / "model.onnx" for name in ("before", "after"))
    assert onnxpad.validate(before, after, run_only=True).verdict in ("identical", "rounding")
