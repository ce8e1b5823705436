"""inspect: Pads that reach their operator through a Transpose or a quantisation group."""

from __future__ import annotations

from onnx import ModelProto

from onnxpad import PaddedNode, inspect, rewrite
from tests.models.text import text_model

CAUSAL = """t = Transpose <perm=[0, 2, 1]> (x) [pad] p = Pad (t, four)
  [back] b = Transpose <perm=[0, 2, 1]> (p) [conv] y = Conv <dilations=[2]> (b, w)"""
HELD = "int64[6] four = {0, 4, 0, 0, 0, 0}, float[1,1,3] w = {1, 10, 100}"
GROUPS = """q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) [pad] p = Pad (d, around)
  r = QuantizeLinear (p, s, z) {own} v = DequantizeLinear (k, s, z) [conv] c = Conv (e, v)
  o = QuantizeLinear (c, s, z) y = DequantizeLinear (o, s, z)"""
OWN = "[behind] e = DequantizeLinear (r, s, z)"
GROUP_HELD = """float s = {0.5}, uint8 z = {7}, uint8[1,1,3] k = {1, 2, 3},
  int64[6] around = {0, 0, 1, 0, 0, 1}"""


def conv_of(model: ModelProto) -> PaddedNode:
    return next(node for node in inspect(model).nodes if node.op == "Conv")


def test_a_causal_convolution_behind_a_transpose_is_a_pad_node() -> None:
    model = text_model(CAUSAL, constants=HELD)
    conv = conv_of(model)
    assert conv.forms == ("pad-node", "one-axis")
    assert conv.conventions[0] == "keras"  # causal
    assert conv.written["pad_through"] == "Transpose 'back'"
    after = rewrite(model, passes=["absorb-pad"]).model
    assert isinstance(after, ModelProto)
    found = conv_of(after)
    assert "pad-node" not in found.forms
    assert "pad_through" not in found.written


def test_a_pad_in_a_group_of_its_own_is_a_pad_node_and_no_trap() -> None:
    model = text_model(GROUPS.format(own=OWN), constants=GROUP_HELD)
    conv = conv_of(model)
    assert conv.forms == ("pad-node", "one-axis")
    assert conv.traps == ()
    assert "\nconv " in inspect(model).to_text()


def test_a_far_pad_that_does_nothing_is_no_pad_node() -> None:
    model = text_model(CAUSAL, constants=HELD.replace("{0, 4,", "{0, 0,"))
    assert conv_of(model).forms == ("one-axis",)
