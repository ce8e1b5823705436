"""Cases that trials found."""

from __future__ import annotations

import pytest
from onnx import ModelProto, parser

from tests.validation.runs import validate

HEADER = '<ir_version: 9, opset_import: ["" : 17, "com.microsoft" : 1]>\n'


def average(mode: str) -> ModelProto:
    found: ModelProto = parser.parse_model(
        HEADER
        + f"""g (uint8[2,1,10] x) => (uint8[a,b,c,d] y)
        <float s = {{0.05}}, float t = {{0.07}}, uint8 z = {{0}}, int64[1] axis = {{0}}> {{
          q = com.microsoft.QLinearAveragePool<kernel_shape=[4], strides=[3], auto_pad="{mode}">
              (x, s, z, t, z)
          y = Unsqueeze(q, axis)
        }}"""
    )
    return found


def test_errors_of_integers_move_through_copies() -> None:
    found = validate(average("SAME_UPPER"), average("SAME_LOWER"), device="cpu")
    assert not found.ok


def branches(pads: str) -> ModelProto:
    found: ModelProto = parser.parse_model(
        HEADER
        + f"""g (bool c, float[1,1,8] x) => (float[a,b,d] y) <float[1,1,3] k = {{1, 10, 100}}> {{
          y = If (c) <
            then_branch = t () => (float[e,f,h] u) {{ u = Conv<pads=[{pads}]>(x, k) }},
            else_branch = o () => (float[i,j,l] v) {{ v = Relu(x) }}
          >
        }}"""
    )
    return found


@pytest.mark.parametrize("seed", range(6))
def test_every_branch_gets_its_turn(seed: int) -> None:
    found = validate(branches("1,1"), branches("2,0"), device="cpu", seed=seed)
    assert found.verdict == "different"
