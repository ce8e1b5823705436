"""Operators that a rewrite writes beside padded ones: one small model each."""

from __future__ import annotations

from collections.abc import Mapping

from onnxpad.model.small_models import parsed
from onnxpad.probing.probes import Probe
from onnxpad.reproducing.specimens import values

_SHAPE = (1, 2, 4, 5)
_MODEL = """<ir_version: 8, opset_import: ["": 17]>
reproducer (float[1,2,4,5] x) => (float[] y) <
  float one = {{1}}, float two = {{2}}, float scale = {{0.5}}, uint8 zero = {{3}},
  int64 three = {{3}}, int64[2] starts = {{1, 1}}, int64[2] ends = {{3, 4}},
  int64[2] axes = {{2, 3}}, int64[1] first = {{0}}, int64[3] places = {{2, 1, 0}},
  int64[4] sizes = {{1, 2, 4, 5}}, int64[2] flat = {{1, -1}}
> {{ {nodes} }}"""
_BYTES = "q = QuantizeLinear (x, scale, zero) y = DequantizeLinear (q, scale, zero)"
_CHOICE = "c = Greater (x, two) y = Where (c, x, two)"
_NODES: Mapping[str, str] = {
    "Slice": "y = Slice (x, starts, ends, axes)",
    **{name: f"y = {name} (x)" for name in ("Identity", "Abs", "Neg")},
    **{name: f"y = {name} (x, two)" for name in ("Add", "Sub", "Mul", "Div", "Pow", "Max")},
    "Clip": "y = Clip (x, one, two)",
    "Squeeze": "y = Squeeze (x, first)",
    "Unsqueeze": "y = Unsqueeze (x, first)",
    "Reshape": "y = Reshape (x, flat)",
    "Sqrt": "a = Abs (x) y = Sqrt (a)",
    "Concat": "n = Neg (x) y = Concat <axis = 3> (x, n)",
    "Gather": "y = Gather <axis = 3> (x, places)",
    "Greater": _CHOICE,
    "Where": _CHOICE,
    "Expand": "e = Expand (two, sizes) y = Add (x, e)",
    "ConstantOfShape": "e = ConstantOfShape (sizes) y = Add (x, e)",
    "Shape": "s = Shape (x) y = Expand (two, s)",
    "Mod": "s = Shape (x) m = Mod (s, three) y = Expand (two, m)",
    "QuantizeLinear": _BYTES,
    "DequantizeLinear": _BYTES,
    "If": "most = ReduceMax <keepdims = 0> (x) c = Greater (most, two) y = If (c) <"
    "then_branch = then () => (a) { a = Relu (x) },"
    "else_branch = otherwise () => (b) { b = Neg (x) }>",
}


def probes_beside() -> dict[str, Probe]:
    """The model of each operator, with an input."""
    feeds = {"x": values(_SHAPE, "float32", None)}
    return {
        name: Probe(parsed(_MODEL.format(nodes=nodes)), (feeds,), ("y",))
        for name, nodes in _NODES.items()
    }
