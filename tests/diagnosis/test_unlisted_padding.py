"""Padding that the search does not list: other splits, crops, numbers of one axis.

It need not be found; `not padding` is not claimed of it, and what is found is right.
"""

from __future__ import annotations

import pytest
from onnx import ModelProto, parser

from onnxpad.diagnosis import Cause, diagnose
from onnxpad.retargeting import retarget
from tests.retargeting.running import outputs, relative, signed

MODEL = """
<ir_version: 8, opset_import: ["" : 19]>
g (float[1, 2, 14, 13] x) => (float[1, 2, N, M] y)
<float[2, 2, 3, 3] w = {THREE}, float[2, 2, 5, 5] v = {FIVE},
 int64[8] p = {0, 0, FRONT, 0, 0, BEHIND}> {
  q = Pad <mode = "MODE"> (x, p)
  a = LAYER
  y = Tanh (a)
}
"""
X = signed(0, 1, 2, 14, 13)


def model(layer: str, front: str = "0, 0; 0, 0", mode: str = "constant") -> ModelProto:
    before, behind = front.split("; ")
    text = MODEL.replace("LAYER", layer).replace("MODE", mode)
    text = text.replace("FRONT", before).replace("BEHIND", behind)
    for word, cells in (("THREE", 36), ("FIVE", 100)):
        text = text.replace(word, ", ".join(f"{one:.6f}" for one in signed(1, cells) / 3))
    found = parser.parse_model(text)
    if "(q" not in layer:
        del found.graph.node[0]
    return found


def conv(pads: str, more: str = "w", strides: str = "1, 1") -> str:
    return f"Conv <strides = [{strides}], pads = [{pads}]> (x, {more})"


def pool(pads: str, kernel: str = "3, 3", strides: str = "1, 1") -> str:
    window = f"kernel_shape = [{kernel}], strides = [{strides}]"
    return f"MaxPool <{window}, pads = [{pads}]> (x)"


def crop(pads: str) -> str:
    return f"ConvTranspose <strides = [2, 2], pads = [{pads}]> (x, w)"


BEHIND, POOLED = "Conv (q, w)", "MaxPool <kernel_shape = [3, 3]> (q)"
HALF = "1, 1, 1, 1"
PAIRS = {
    "causal along one axis": (model(conv("2, 1, 0, 1")), model(conv(HALF))),
    "more on one axis": (model(conv("2, 1, 2, 1")), model(conv(HALF))),
    "a transposed convolution": (model(crop("2, 1, 0, 1")), model(crop(HALF))),
    "a crop elsewhere": (model(BEHIND, "-1, -1; 0, 0"), model(BEHIND, "0, 0; -1, -1")),
    "cropped and padded": (model(POOLED, "-1, 2; 2, -1"), model(POOLED, "1, 0; 0, 1")),
    "wrap elsewhere": (model(POOLED, "2, 0; 0, 2", "wrap"), model(POOLED, "0, 2; 2, 0", "edge")),
}


@pytest.mark.part(8)
@pytest.mark.parametrize(("right", "wrong"), PAIRS.values(), ids=PAIRS)
def test_what_is_not_listed_is_not_ruled_out(right: ModelProto, wrong: ModelProto) -> None:
    reference = outputs(right, X)[0]
    found = diagnose(wrong, inputs={"x": X}, outputs={"y": reference}, device="cpu", budget=4)
    assert found.cause in (Cause.PADDING, Cause.UNKNOWN), found.reason
    assert found.explained is (found.cause is Cause.PADDING)
    if found.explained:
        made = retarget(wrong, plan=found.plan).model
        assert relative(outputs(made, X)[0], reference) < 1e-5


@pytest.mark.parametrize("layer", [conv("0, 0, 1, 1", "w", "2, 2"), pool(HALF)])
def test_it_is_ruled_out_where_cells_inside_differ_at_every_shift(layer: str) -> None:
    wrong = model(layer)
    reference = outputs(wrong, X)[0] * 1.1
    found = diagnose(wrong, inputs={"x": X}, outputs={"y": reference}, device="cpu", budget=60)
    assert (found.cause, found.complete) == (Cause.NOT_PADDING, True), found.reason
