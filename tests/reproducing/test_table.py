"""Cells of the site's table against the runtimes that are installed here."""

from __future__ import annotations

from pathlib import Path

import pytest

from onnxpad.reproducing.ways import Way, judged, ways
from onnxpad.runtimes.targets import find_target
from tests.runtimes.live import RUNTIMES
from tests.runtimes.live.environments import Unavailable, digest
from tests.runtimes.live.environments import folder as environments
from tests.runtimes.live.running import Outcome, case_of, run

_PARTS = 11
_COARSE = {
    ("iree", "AveragePool, auto_pad SAME_UPPER, open sizes"),
    ("iree", "AveragePool, ceil_mode, last window in the padding"),
    ("iree", "MaxPool, auto_pad SAME_UPPER, open sizes"),
    ("iree", "MaxPool, ceil_mode, last window in the padding"),
    ("iree", "Pad of uint8"),
    ("iree", "QLinearConv, symmetric pads"),
    ("jaxonnxruntime", "Pad computed pads"),
    ("mnn", "AveragePool, count_include_pad and ceil_mode"),
    ("onnx2keras", "Pad mode edge"),
    ("onnxruntime-openvino", "AveragePool, auto_pad SAME_UPPER, kernel below the stride"),
    ("onnxruntime-openvino", "AveragePool, behind a Pad node that writes 0"),
    ("onnxruntime-openvino", "Conv, behind a Pad node that writes 0"),
    ("onnxruntime-openvino", "MaxPool, auto_pad SAME_UPPER, kernel below the stride"),
    ("onnxruntime-openvino", "MaxPool, dilations and auto_pad SAME_UPPER"),
    ("onnxruntime-openvino", "Pad computed pads"),
    ("tflite", "Pad of int8"),
    ("tflite", "Pad of uint8"),
    *(("tflite", way.title) for way in ways() if way.operator == "ConvInteger"),
    ("webgpu-jsep", "Pad input axes"),
    *(("webgpu-jsep", way.title) for way in ways() if way.operator == "QLinearConv"),
}
"""Cells of coarse rules; that of computed pads in onnxruntime-openvino is too good."""


def is_contradicted(name: str, way: Way, outcome: Outcome) -> bool:
    """Whether one of cell and run says that it is right, and the other one that it is not."""
    answer = judged(find_target(name), way).answer
    if answer == "unknown" or (answer == "refuses" and outcome.verdict == "fallback"):
        return False
    return answer.fails is (outcome.verdict in ("ok", "fallback"))


@pytest.mark.sweep
@pytest.mark.parametrize("part", range(_PARTS))
@pytest.mark.parametrize("name", RUNTIMES)
def test_the_runtime_does_what_its_cells_say(name: str, part: int, tmp_path: Path) -> None:
    """What a cell calls right is, and what it calls wrong or refused is one of both."""
    runtime, chosen = RUNTIMES[name], ways()[part::_PARTS]
    folder = environments() / f"{runtime.requirements_file.stem}-{digest(runtime)}"
    if not (folder / "complete").exists():
        pytest.skip(f"{name} is not installed here")
    cases = [case_of(way, tmp_path) for way in chosen]
    try:
        found = dict(zip(chosen, run(runtime, cases), strict=True))
    except Unavailable as reason:
        pytest.skip(str(reason))
    turned = {(name, way.title) for way, one in found.items() if is_contradicted(name, way, one)}
    assert turned <= _COARSE
