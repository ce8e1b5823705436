"""Pads and quantised operators are looked for only where there may be some."""

from __future__ import annotations

import pytest
from onnx import ModelProto, parser

from onnxpad.model.reading import reader
from onnxpad.model.reading.survey import Site, Survey
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


POOLED = "y = MaxPool <kernel_shape = [3]> (b)"
ROWS = {
    "Slice": (f"a = Pad (x, p) b = Slice (a, zero, last) {POOLED}", "float[1,1,5]"),
    "QLinear": (f"b = com.microsoft.QLinearSigmoid (x, s, z, s, z) {POOLED}", "uint8[1,1,5]"),
    "Dequantize": (f"b = DequantizeLinear (x, s, z) {POOLED}", "uint8[1,1,5]"),
}


def models(kind: str) -> list[ModelProto]:
    if kind == "function":
        return [parser.parse_model(CALLED)]
    if kind in ROWS:
        row, x = ROWS[kind]
        return [tiny(row, x, constants=f"{PADS}, {ENDS}, float s = {{1}}, uint8 z = {{0}}")]
    return [build(draw(kind, seed)).model for seed in range(20)]


def pads_in_front(site: Site) -> object:
    return site.chain.pad, site.chain.far_pad, site.chain.around.dequantised


@pytest.mark.part(3)
@pytest.mark.parametrize("kind", [*KINDS, *ROWS, "function"])
def test_nothing_is_seen_from_elsewhere(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = models(kind)
    found = [list(map(pads_in_front, Survey(model).sites_now())) for model in drawn]
    monkeypatch.setattr(reader, "behind_pads", lambda _: Everything())
    monkeypatch.setattr(reader, "quantises", lambda _: True)
    assert found == [list(map(pads_in_front, Survey(model).sites_now())) for model in drawn]
