"""OpenVINO on int8 that a Concat is in front of: each answer is one of a run with 2026.4."""

from __future__ import annotations

import onnx.parser
import pytest

from onnxpad.runtimes.conditions.rows import Answer
from tests.runtimes.targets.test_held_out_facts import answers

_HEAD = """<ir_version: 8, opset_import: ["" : 13]>
g (float[1, 3, 10, 8] x, float[1, 3, 10, 8] z, float[1, 6, 10, 8] z6) => (float[a, b, c, d] y)
<float s = {{0.0131}}, {kind} o = {{7}}, float t = {{0.9}},
 int64[8] none = {{0, 0, 0, 0, 0, 0, 0, 0}},
 int8[2, {planes}, 3, 3] w = {{{weight}}}, float v = {{0.002}}, int8 u = {{0}}> {{ {nodes} }}"""
JOIN = "j = Concat <axis = 1> (x, z) "
BYTES = "q = QuantizeLinear (a, s, o) d = DequantizeLinear (q, s, o) "
DENSE = (
    "k = DequantizeLinear (w, v, u) y = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (d, k)"
)
BOTH = (
    "e = QuantizeLinear (x, s, o) f = DequantizeLinear (e, s, o) "
    "g = QuantizeLinear (z, s, o) h = DequantizeLinear (g, s, o) "
)
OWN = "t0 = QLinearConv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (q, s, o, w, v, u, s, u) "


def is_wrong(nodes: str, kind: str = "int8", planes: int = 6, target: str = "openvino") -> bool:
    weight = ", ".join(str(cell % 50 - 25) for cell in range(18 * planes))
    text = _HEAD.format(kind=kind, nodes=nodes, planes=planes, weight=weight)
    model = onnx.parser.parse_model(text)
    return answers(model, target).get("Conv") is Answer.MISCOMPUTES


@pytest.mark.parametrize("target", ["openvino", "openvino@2023.3", "onnxruntime-openvino"])
@pytest.mark.parametrize(
    ("front", "wrong"),
    [
        *((f"{JOIN} a = Identity (j)", True), (f"{JOIN} a = Relu (j)", True)),
        *((f"{JOIN} a = Add (j, t)", True), (f"{JOIN} a = Add (j, z6)", False)),
        *((f"{JOIN} a = Pad (j, none)", True), (f"{JOIN} a = Sigmoid (j)", False)),
        *((f"{JOIN} a = MaxPool <kernel_shape = [2, 2]> (j)", False), ("a = Relu (z6)", False)),
        ("b, c = Split <axis = 1> (z6) a = Concat <axis = 1> (c, b)", False),
        ("b, c = Split <axis = 1> (z6) r = Relu (b) a = Concat <axis = 1> (c, r)", True),
    ],
)
def test_a_concat_in_front_of_the_bytes(target: str, front: str, *, wrong: bool) -> None:
    assert is_wrong(f"{front} {BYTES} {DENSE}", target=target) is wrong
    assert not is_wrong(f"{front} {BYTES} {DENSE}", "uint8", target=target)


@pytest.mark.parametrize(
    ("between", "wrong"),
    [
        *(
            (f"{BOTH} d = Concat <axis = 1> (f, h)", True),
            (f"{BOTH} d = Concat <axis = 1> (f, z)", False),
        ),
        (f"{BOTH} c = Concat <axis = 1> (f, h) d = Relu (c)", True),
        (f"{BOTH} m = Relu (f) d = Concat <axis = 1> (m, h)", True),
        (f"{BOTH} m = Sigmoid (f) d = Concat <axis = 1> (m, h)", False),
        (f"{BOTH} c = Concat <axis = 1> (f, h) d = Sigmoid (c)", False),
        (f"{BOTH} c = Concat <axis = 1> (e, g) d = DequantizeLinear (c, s, o)", False),
    ],
)
def test_a_concat_behind_the_bytes(between: str, *, wrong: bool) -> None:
    assert is_wrong(f"{between} {DENSE}") is wrong


def test_groups_and_float_weights_are_right() -> None:
    front = f"{JOIN} a = Relu (j) {BYTES}"
    grouped = DENSE.replace("kernel_shape", "group = 2, kernel_shape")
    assert is_wrong(f"{front} {DENSE}")
    assert not is_wrong(f"{front} {grouped}", planes=3)
    floats = "k = Cast <to = 1> (w) " + DENSE.partition(") ")[2]
    assert not is_wrong(f"{front} {floats}")


@pytest.mark.parametrize(("kind", "wrong"), [("int8", True), ("uint8", False)])
def test_convolutions_of_bytes(kind: str, *, wrong: bool) -> None:
    nodes = f"{JOIN} q = QuantizeLinear (j, s, o) {OWN} y = DequantizeLinear (t0, s, u)"
    weight = ", ".join(str(cell % 50 - 25) for cell in range(108))
    text = _HEAD.format(kind=kind, nodes=nodes, planes=6, weight=weight)
    found = answers(onnx.parser.parse_model(text), "openvino")["QLinearConv"]
    assert (found is Answer.MISCOMPUTES) is wrong
