"""Models rewritten for a runtime, run in it."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from onnxpad import rewrite
from onnxpad.reproducing.ways import ways
from tests.runtimes.live import RUNTIMES
from tests.runtimes.live.environments import Unavailable
from tests.runtimes.live.running import Case, case_of, outcomes

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
        case = case_of(way, tmp_path)
        done = rewrite(onnx.load(case.model), target=name)
        if not done.unfit:
            done.save(tmp_path / f"rewritten_{case.model.name}")
            cases[way.title] = case._replace(model=tmp_path / f"rewritten_{case.model.name}")
    try:
        found = outcomes(RUNTIMES[name], cases)
    except Unavailable as reason:
        pytest.skip(str(reason))
    assert len(cases) > 15
    assert {key: o.message for key, o in found.items() if o.verdict != "ok"} == {}
