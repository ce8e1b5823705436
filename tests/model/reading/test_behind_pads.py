"""Pads are looked for only in front of the tensors behind which one may be seen."""

from __future__ import annotations

import pytest
from onnx import ModelProto, parser

from onnxpad.model.reading import reader
from onnxpad.model.reading.survey import Survey
from tests.models.tiny import tiny
from tests.random_models.building import build
from tests.random_models.drawing import draw
from tests.random_models.kinds import KINDS

ROW = "a = Pad (x, p) b = Relu (a) c = Conv (b, w) d = Relu (c) y = Mul (d, b)"


PADS = "int64[6] p = {0, 0, 1, 0, 0, 1}"
ENDS = "int64[1] zero = {0}, int64[1] last = {9223372036854775807}"
CALLED = """<ir_version: 9, opset_import: ["" : 17, "d" : 1]>
g (float[1,1,5] x) => (float[] y) <int64[6] p = {0, 0, 1, 0, 0, 1}> {
  a = d.padded (x, p) y = MaxPool <kernel_shape = [3]> (a)
}
<domain: "d", opset_import: ["" : 17]> padded (q, r) => (s) { s = Pad (q, r) }
"""


class Everything(set[str]):
    """A set that holds every name."""

    def __contains__(self, _: object) -> bool:
        return True


def test_what_a_convolution_makes_is_behind_no_pad() -> None:
    survey = Survey(tiny(ROW, constants=PADS))
    assert survey.document.behind_pads == {"a", "b", "y"}


def models(kind: str) -> list[ModelProto]:
    if kind == "function":
        return [parser.parse_model(CALLED)]
    if kind == "Slice":
        row = "a = Pad (x, p) b = Slice (a, zero, last) y = MaxPool <kernel_shape = [3]> (b)"
        return [tiny(row, constants=f"{PADS}, {ENDS}")]
    return [build(draw(kind, seed)).model for seed in range(40)]


@pytest.mark.parametrize("kind", [*KINDS, "function", "Slice"])
def test_no_pad_is_seen_from_other_tensors(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = models(kind)
    found = [[site.chains for site in Survey(model).sites()] for model in drawn]
    monkeypatch.setattr(reader, "behind_pads", lambda _: Everything())
    assert found == [[site.chains for site in Survey(model).sites()] for model in drawn]
