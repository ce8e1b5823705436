"""The callback at the end of an export by ultralytics, from YAML files with random weights."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

import onnxpad
from tests.integrations.conftest import Host
from tests.integrations.models import fits, proved, shown

pytestmark = pytest.mark.sweep

# Random weights say little at the end of the network unless they are large.
COMPARED = """
import json, shutil
import numpy, onnxruntime, torch, ultralytics
from onnxpad.integrations.ultralytics import rewriting

torch.manual_seed(0)
model = ultralytics.YOLO("yolov3-tiny.yaml")
for one in model.model.modules():
    if isinstance(one, torch.nn.Conv2d):
        one.weight.data *= 4
keep = lambda exporter: shutil.copy(exporter.file.with_suffix(".onnx"), "before.onnx")
model.add_callback("on_export_end", keep)
model.add_callback("on_export_end", rewriting(target="onnxruntime@1.31"))
after = model.export(format="onnx", imgsz=64)
image = torch.rand(1, 3, 64, 64)
with torch.no_grad():
    true = model.model.eval()(image)[0].numpy()

def off(path):
    (found,) = onnxruntime.InferenceSession(path).run(None, {"images": image.numpy()})
    return float(abs(found - true).max())

print(json.dumps([after, off("before.onnx"), off(after)]))
"""
QUANTISED = """
import pathlib
import cv2, numpy, ultralytics
from onnxpad.integrations.ultralytics import rewriting

for kind in ("images", "labels"):
    pathlib.Path("data", kind).mkdir(parents=True)
draw = numpy.random.default_rng(0)
for number in range(4):
    cv2.imwrite(f"data/images/{number}.png", draw.integers(0, 255, (64, 64, 3), dtype="uint8"))
    pathlib.Path(f"data/labels/{number}.txt").write_text("0 0.5 0.5 0.3 0.3")
folder = pathlib.Path("data").resolve()
data = {"path": str(folder), "train": "images", "val": "images", "names": {0: "thing"}}
pathlib.Path("data.yaml").write_text(str(data))
model = ultralytics.YOLO("yolov3-tiny.yaml")
model.add_callback("on_export_end", rewriting(target="onnxruntime@1.31"))
print(model.export(format="onnx", imgsz=64, quantize=8, data="data.yaml"))
"""
OTHER_FORMAT = """
import ultralytics
from onnxpad.integrations.ultralytics import rewriting

model = ultralytics.YOLO("yolo11n.yaml")
model.add_callback("on_export_end", rewriting(target="onnxruntime@1.31"))
model.export(format="torchscript", imgsz=32)
print("went on")
"""


def test_what_is_shown_works(host: Callable[[str], Host]) -> None:
    tool = host("ultralytics")
    printed = tool.program(shown("ultralytics"))
    assert printed.index("slimming with onnxslim") < printed.index(
        "onnxpad for onnxruntime@1.31: 1 node rewritten (auto-pads 1), 0 skipped; proved"
    )
    assert fits(tool.folder / "yolov3-tiny.onnx", "onnxruntime@1.31")


def test_onnxruntime_computes_what_pytorch_does_once_it_is_rewritten(
    host: Callable[[str], Host],
) -> None:
    tool = host("ultralytics")
    after, off_before, off_after = json.loads(tool.program(COMPARED).splitlines()[-1])
    before = tool.folder / "before.onnx"
    assert off_before > 100 * off_after
    assert not fits(before, "onnxruntime@1.31")
    assert proved(before, tool.folder / after)
    assert len(onnxpad.load(tool.folder / after).metadata_props) > 5


def test_a_quantised_model_has_another_name(host: Callable[[str], Host]) -> None:
    printed = host("ultralytics").program(QUANTISED)
    assert "onnxpad for onnxruntime@1.31: 1 node rewritten (auto-pads 1), 0 skipped" in printed
    assert "yolov3-tiny_int8.onnx" in printed


def test_other_formats_are_left_alone_and_the_script_goes_on(host: Callable[[str], Host]) -> None:
    printed = host("ultralytics").program(OTHER_FORMAT)
    assert "onnxpad left the torchscript export as it is" in printed
    assert printed.rstrip().endswith("went on")
