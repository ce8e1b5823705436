"""OpenVINO on activations behind Conv and MaxPool: each answer is one of a run with 2026.4."""

from __future__ import annotations

import onnx.parser
import pytest

from onnxpad.runtimes.conditions.rows import Answer
from tests.runtimes.targets.test_held_out_facts import answers

_HEAD = """<ir_version: 9, opset_import: ["" : 20]>
g (float[2, 4, 9, 10] x) => (float[a0, b0, c0, d0] y)
<float k = {{-3}}, float[4, 4, 3, 3] w = {{{weight}}}, float[4] v = {{1, 2, 3, 4}}> {{ {nodes} }}"""
CONV = "a = Conv <kernel_shape = [3, 3]> (x, w) "
POOL = "b = MaxPool <kernel_shape = [2, 2], pads = [1, 0, 0, 1]> (a) "


def is_wrong(nodes: str, target: str = "openvino") -> bool:
    weight = ", ".join(str(cell % 7 - 3) for cell in range(144))
    model = onnx.parser.parse_model(_HEAD.format(weight=weight, nodes=nodes))
    return answers(model, target).get("MaxPool") is Answer.MISCOMPUTES


@pytest.mark.parametrize("target", ["openvino", "openvino@2023.3", "onnxruntime-openvino"])
@pytest.mark.parametrize(
    ("behind", "wrong"),
    [
        *(("y = Abs (b)", True), ("y = HardSwish (b)", True), ("y = Gelu (b)", True)),
        *(("y = Sqrt (b)", True), ("s = Sigmoid (b) y = Mul (b, s)", True)),
        *(("y = LpPool <kernel_shape = [2, 2]> (b)", True), ("i = Identity (b) y = Abs (i)", True)),
        *(("y = LeakyRelu <alpha = -0.5> (b)", True), ("y = LeakyRelu (b)", False)),
        *(("y = Relu (b)", False), ("y = Sigmoid (b)", False), ("y = Neg (b)", False)),
        *(("y = Mul (b, k)", False), ("c = Abs (b) y = Add (c, b)", False)),
    ],
)
def test_what_falls_behind_a_max_pool(target: str, behind: str, *, wrong: bool) -> None:
    assert is_wrong(f"{CONV} {POOL} {behind}", target) is wrong


@pytest.mark.parametrize(
    ("front", "wrong"),
    [
        *(("a = Relu (x)", False), (f"{CONV.replace('a =', 'c =')} a = Relu (c)", False)),
        (f"{CONV.replace('a =', 'c =')} a = Add (c, k)", False),
        ("c = Conv <kernel_shape = [3, 3]> (x, w, v) a = Add (c, k)", True),
        ("a = ConvTranspose <kernel_shape = [3, 3]> (x, w)", False),
        (f"{CONV.replace('a =', 'c =')} a = MaxPool <kernel_shape = [1, 1]> (c)", False),
    ],
)
def test_what_stands_in_front_of_the_pool(front: str, *, wrong: bool) -> None:
    nodes = f"{front} {POOL} y = Abs (b)"
    weight = ", ".join(str(cell % 7 - 3) for cell in range(144))
    model = onnx.parser.parse_model(_HEAD.format(weight=weight, nodes=nodes))
    found = [one for one in answers(model, "openvino").values() if one is Answer.MISCOMPUTES]
    assert bool(found) is wrong
