"""Cells of the site's table against the runtimes that are installed here."""

from __future__ import annotations

import pytest

from onnxpad.reproducing.ways import ways
from tests.reproducing.table import differing
from tests.runtimes.live import RUNTIMES
from tests.runtimes.live.environments import Unavailable, digest
from tests.runtimes.live.environments import folder as environments

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


@pytest.mark.part(24)
@pytest.mark.parametrize("part", range(_PARTS))
@pytest.mark.parametrize("name", RUNTIMES)
def test_the_runtime_does_what_its_cells_say(name: str, part: int) -> None:
    """What a cell calls right is, and what it calls wrong or refused is one of both."""
    runtime = RUNTIMES[name]
    folder = environments() / f"{runtime.requirements_file.stem}-{digest(runtime)}"
    if not (folder / "complete").exists():
        pytest.skip(f"{name} is not installed here")
    try:
        found = list(differing(name, ways()[part::_PARTS]))
    except Unavailable as reason:
        pytest.skip(str(reason))
    turned = {(name, one.way.title) for one in found if one.is_other_side}
    assert turned <= _COARSE
