"""Models rewritten for a runtime, run in it."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from onnxpad.reproducing.ways import file_of, ways
from onnxpad.rewriting.rewrite import rewrite
from tests.runtimes.live import RUNTIMES
from tests.runtimes.live.environments import Unavailable
from tests.runtimes.live.running import Case, outcomes

SMALL = ("onnxruntime", "opencv-classic", "ncnn")
QUICK = (
    *("onnxruntime", "onnxruntime-web", "openvino", "opencv", "opencv-classic", "mnn", "ncnn"),
    *("webgpu", "webgpu-jsep"),
)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.sweep] * (name not in SMALL)) for name in QUICK],
)
def test_rewritten_models_run_right(name: str, tmp_path: Path) -> None:
    cases: dict[str, Case] = {}
    for way in ways()[::5]:
        model, inputs, outputs = file_of(way)
        done = rewrite(onnx.load_from_string(model), target=name)
        if not done.unfit:
            done.save(tmp_path / f"{way.name}.onnx")
            cases[way.title] = Case(tmp_path / f"{way.name}.onnx", inputs, outputs)
    try:
        found = outcomes(RUNTIMES[name], cases)
    except Unavailable as reason:
        pytest.skip(str(reason))
    assert len(cases) > 15
    assert {key: o.message for key, o in found.items() if o.verdict != "ok"} == {}
