"""What fits as well as what was found: listed, or, where bounds are wide, no verdict."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, parser

from onnxpad.diagnosis import Cause, diagnose
from tests.retargeting.running import outputs, signed

DEEP = """
<ir_version: 8, opset_import: ["" : 17]>
g (KIND[1, 3, 32, 32] x, KIND[8, 3, 3, 3] w, KIND[8, 8, 3, 3] v) => (KIND[1, 8, 1, 1] y) {
  a = Conv <strides = [2, 2], pads = [PADS]> (x, w)
  b = Relu (a)
  c = Conv <pads = [1, 1, 1, 1]> (b, v)
  d = Relu (c)
  e = Conv <strides = [2, 2], pads = [PADS]> (d, v)
  y = GlobalAveragePool (e)
}
"""
OPEN = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 1, H, H] x, float[1, 1, 3, 3] w) => (float[1, 1, K, K] y) {
  y = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, w)
}
"""
SURE = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 1, 8, 8] x, float[1, 1, 3, 3] w) => (int64[1, 1, 1, 1] y) {
  a = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, w)
  b = GlobalAveragePool (a)
  y = ArgMax <axis = 1> (b)
}
"""


def deep(pads: str, kind: str = "float16") -> ModelProto:
    return parser.parse_model(DEEP.replace("KIND", kind).replace("PADS", pads))


@pytest.mark.parametrize("seed", [0, 3])
def test_wrong_padding_in_float16_is_never_rounding(seed: int) -> None:
    feeds = {
        "x": signed(seed, 1, 3, 32, 32).astype(np.float16),
        "w": (signed(seed + 10, 8, 3, 3, 3) / 5).astype(np.float16),
        "v": (signed(seed + 20, 8, 8, 3, 3) / 8).astype(np.float16),
    }
    wrong = deep("1, 1, 1, 1")
    assert wrong.graph.input[0].type.tensor_type.elem_type == TensorProto.FLOAT16
    found = diagnose(wrong, inputs=feeds, outputs={"y": outputs(deep("0, 0, 1, 1"), feeds)[0]})
    assert found.cause in (Cause.PADDING, Cause.UNKNOWN)
    if found.cause is Cause.UNKNOWN:
        assert not found.explained
        assert found.reason.startswith("cannot tell which padding is right")
        assert not found.plan.entries
        assert found.difference is None


def test_a_model_that_fits_as_it_is_says_which_size_would_tell() -> None:
    feeds = {"x": signed(0, 1, 1, 33, 33), "w": signed(1, 1, 1, 3, 3)}
    model = parser.parse_model(OPEN)
    found = diagnose(model, inputs=feeds, outputs={"y": outputs(model, feeds)[0]})
    assert (found.explained, found.plan.entries) == (True, ())
    (node,) = found.nodes
    assert not node.changed
    assert ("SAME_UPPER", (34, 34)) in [(one.label, one.sizes) for one in node.alternatives]


def test_values_that_cannot_tell_are_said_so() -> None:
    feeds = {"x": signed(0, 1, 1, 8, 8), "w": signed(1, 1, 1, 3, 3)}
    model = parser.parse_model(SURE)
    found = diagnose(model, inputs=feeds, outputs={"y": outputs(model, feeds)[0]})
    assert (found.explained, found.plan.entries) == (True, ())
    assert [one.sizes for one in found.nodes[0].alternatives]
    assert {one.sizes for one in found.nodes[0].alternatives} == {None}


def test_a_plan_for_whole_numbers_says_what_else_gives_them() -> None:
    """Pads at the end and causal ones have the same largest channel, those at both sides not."""
    text = SURE.replace("1, 1, 3, 3] w", "8, 1, 3, 3] w")
    wrong, upper, past = (
        parser.parse_model(text.replace("1, 1, 1, 1]>", f"{pads}]>"))
        for pads in ("1, 1, 1, 1", "0, 0, 1, 1", "2, 2, 0, 0")
    )
    for seed in range(200):
        feeds = {"x": signed(seed, 1, 1, 8, 8), "w": signed(9, 8, 1, 3, 3)}
        right = outputs(upper, feeds)[0]
        if right == outputs(past, feeds)[0] != outputs(wrong, feeds)[0]:
            break
    else:
        pytest.fail("no such input was drawn")
    found = diagnose(wrong, inputs=feeds, outputs={"y": right})
    assert not found.explained
    assert found.nearest is not None
    assert "save what the framework computes for 'a'" in found.settles
