"""Quantised convolutions stay one operator for onnxruntime where a Pad in front is absorbed.

What is absorbed and what is not are text cases: cases/absorb-pad.txt.
"""

from functools import partial
from pathlib import Path

import onnx
import pytest

from onnxpad import inspect, rewrite
from tests.models.tiny import attributes, nodes
from tests.models.tiny import tiny as text_model

tiny = partial(text_model, x="float[1,2,7]", result="float[n,c,r]")
HELD = (
    "int64[6] p = {0, 0, 1, 0, 0, 1}, float s = {0.1}, float o = {2.0}, uint8 z = {117}, "
    "uint8 z2 = {117}, "
    "int8[2,2,3] k = {3, -2, 1, 5, 4, -7, 2, 2, 2, -1, 9, 1}, int8 k0 = {0}, float ks = {0.25}"
)
CONV = (
    "v = DequantizeLinear (k, ks, k0) [op] c = Conv <strides = [1]> (d, v) "
    "r = QuantizeLinear (c, o, z) y = DequantizeLinear (r, o, z)"
)
IN, DQ = "q = QuantizeLinear (x, s, z)", "[dq] d = DequantizeLinear"
ABSORBED = {
    "in front of both": f"a = Pad (x, p) q = QuantizeLinear (a, s, z) {DQ} (q, s, z)",
    "between, with the zero point by name": f"{IN} a = Pad (q, p, z) {DQ} (a, s, z)",
    "between, with its value": f"{IN} a = Pad (q, p, z2) {DQ} (a, s, z)",
    "behind both": f"{IN} [dq] b = DequantizeLinear (q, s, z) d = Pad (b, p)",
}


def group(front: str) -> onnx.ModelProto:
    """`front` makes `d`, the data of a quantised convolution."""
    return tiny(f"{front} {CONV}", constants=HELD)


def optimised_kinds(model: onnx.ModelProto, folder: Path) -> list[str]:
    """What onnxruntime's default optimisations leave."""
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.optimized_model_filepath = str(folder / "optimised.onnx")
    options.log_severity_level = 4
    runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return [node.op_type for node in onnx.load(folder / "optimised.onnx").graph.node]


@pytest.mark.parametrize("front", ABSORBED.values(), ids=ABSORBED)
def test_one_operator_is_left(front: str, tmp_path: Path) -> None:
    after = rewrite(group(front), passes=["absorb-pad"]).model
    assert isinstance(after, onnx.ModelProto)
    assert attributes(after) == {"strides": [1], "pads": [1, 1]}
    assert "Pad" not in {node.op_type for node in nodes(after.graph)}
    assert "QLinearConv" in optimised_kinds(after, tmp_path)


def test_what_the_trap_says_of_onnxruntime(tmp_path: Path) -> None:
    """A Pad that onnxruntime does not fold leaves the convolution in floating point."""
    trapped = group(f"{IN} [dq] b = DequantizeLinear (q, s, z) d = Pad (b, p, s)")
    for model, is_trapped in ((trapped, True), (group(f"{IN} {DQ} (q, s, z)"), False)):
        (record,) = [node for node in inspect(model).nodes if node.node == "op"]
        assert ("pad-in-quantised-group" in [trap.code for trap in record.traps]) == is_trapped
        assert ("QLinearConv" not in optimised_kinds(model, tmp_path)) == is_trapped
