"""What the padded cells of all convolutions hold: guessed for all of them at once."""

from __future__ import annotations

import pytest
from onnx import ModelProto, parser

from onnxpad.diagnosis import diagnose
from tests.retargeting.running import outputs, signed

OWN = "{Y} = Conv <pads = [3, 3, 3, 3]> ({X}, w{N})"
IN_FRONT = 'p{N} = Pad <mode = "MODE"> ({X}, p)\n  {Y} = Conv (p{N}, w{N})'
TEXT = """
<ir_version: 9, opset_import: ["" : 19]>
g (float[1, 3, 20, 20] x) => (float[1, 3] y)
<WEIGHTS, int64[8] p = {0, 0, 3, 3, 0, 0, 3, 3}> {
  BODY
  y4 = GlobalAveragePool (y3)
  y = Flatten (y4)
}
"""


def network(mode: str, *, own: bool = False) -> ModelProto:
    """Four convolutions of three cells on each side, padded by themselves or by Pads."""
    weights = []
    for number in range(4):
        values = ", ".join(f"{one:.6f}" for one in signed(number, 441) / 8)
        weights.append(f"float[3, 3, 7, 7] w{number} = {{{values}}}")
    steps = []
    for number in range(4):
        step = (OWN if own else IN_FRONT).replace("{X}", f"y{number - 1}" if number else "x")
        steps.append(step.replace("{Y}", f"y{number}").replace("{N}", str(number)))
    text = TEXT.replace("WEIGHTS", ", ".join(weights)).replace("BODY", "\n  ".join(steps))
    return parser.parse_model(text.replace("MODE", mode))


@pytest.mark.part(3)
@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("own", "reflect"),
        ("own", "edge"),
        ("own", "wrap"),
        ("reflect", "constant"),
        ("edge", "wrap"),
    ],
)
def test_another_mode_of_all_of_them_takes_few_tries(wrong: str, right: str) -> None:
    x = signed(9, 1, 3, 20, 20)
    model = network("constant", own=True) if wrong == "own" else network(wrong)
    found = diagnose(model, inputs={"x": x}, outputs={"y": outputs(network(right), x)[0]})
    assert found.explained, found.reason
    assert len(found.plan.entries) == 4
    assert found.tried < 20
