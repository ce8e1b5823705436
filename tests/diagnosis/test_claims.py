"""What a diagnosis may claim: `not padding` only where every padding was searched."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, parser

from onnxpad.diagnosis import Cause, Diagnosis, diagnose
from tests.retargeting.running import Array, outputs, signed

BODY = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 1, 8, 8] x, float[1, 1, 3, 3] w, bool c) => (float[1, 1, N, M] y) {
  y = If (c) <
    then_branch = t () => (float[1, 1, K, K] a) {
      a = Conv <strides = [2, 2], pads = [PADS]> (x, w)
    },
    else_branch = e () => (float[1, 1, K, K] b) { b = Neg (x) }
  >
}
"""
OLD = '<domain: "my", opset_import: ["" : 10]>'
FUNCTION = """
<ir_version: 8, opset_import: ["" : 17, "my" : 1]>
g (float[1, 1, 8, 8] x, float[1, 1, 3, 3] w) => (float[1, 1, N, M] y) { y = my.Block (x, w) }
<domain: "my", opset_import: ["" : 17]>
Block (x, w) => (y) { y = Conv <strides = [2, 2], pads = [PADS]> (x, w) }
"""
OF_AN_OLD_OPSET = FUNCTION.replace('<domain: "my", opset_import: ["" : 17]>', OLD)
PLAIN = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 1, 9, 9] x, float[1, 1, 3, 3] w) => (float[1, 1, N, M] y) {
  a = Conv <pads = [1, 1, 1, 1]> (x, w)
  y = TAIL
}
"""

X, W = signed(0, 1, 1, 8, 8), signed(1, 1, 1, 3, 3)


def written(text: str, **parts: str) -> ModelProto:
    for word, part in parts.items():
        text = text.replace(word, part)
    return parser.parse_model(text)


def found_for(model: ModelProto, reference: Array, feeds: dict[str, Array]) -> Diagnosis:
    return diagnose(model, inputs=feeds, outputs={"y": reference}, budget=600)


def test_padding_of_a_function_is_searched() -> None:
    feeds = {"x": X, "w": W}
    right = outputs(written(FUNCTION, PADS="0, 0, 1, 1"), feeds)[0]
    found = found_for(written(FUNCTION, PADS="1, 1, 1, 1"), right, feeds)
    assert (found.explained, found.cause, found.residual) == (True, Cause.PADDING, 0)
    assert [(one.node, one.after) for one in found.nodes] == [("y/y", "pads [0, 0, 1, 1]")]


@pytest.mark.parametrize("text", [BODY, OF_AN_OLD_OPSET], ids=["body", "function that stays"])
def test_padding_that_is_not_searched_leaves_the_cause_unknown(text: str) -> None:
    feeds = {"x": X, "w": W, **({"c": np.array(True)} if text is BODY else {})}
    right = outputs(written(text, PADS="0, 0, 1, 1"), feeds)[0]
    found = found_for(written(text, PADS="1, 1, 1, 1"), right, feeds)
    assert (found.explained, found.cause) == (False, Cause.UNKNOWN)
    assert "other ways to pad these were not tried: " in found.reason
    assert "no node of the model" not in found.reason
    assert found.difference is not None
    assert found.difference.where != "the model does not run"


def test_what_differs_at_borders_only_may_be_padding() -> None:
    x = signed(2, 1, 1, 9, 9)
    model = written(PLAIN, TAIL="Identity (a)")
    right = outputs(model, {"x": x, "w": W})[0]
    right[..., 0, :] += 1
    found = found_for(model, right, {"x": x, "w": W})
    assert (found.explained, found.cause) == (False, Cause.UNKNOWN)
    right = outputs(model, {"x": x, "w": W})[0] * 1.1
    assert found_for(model, right, {"x": x, "w": W}).cause is Cause.NOT_PADDING


POOL = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 1, 9, 9] x) => (float[1, 1, 5, 5] y) {
  [pool] y = AveragePool
    <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1], count_include_pad = COUNTS> (x)
}
"""


def test_ways_that_an_input_would_tell_apart_have_other_names() -> None:
    feeds = {"x": signed(0, 1, 1, 9, 9)}
    right = outputs(written(POOL, COUNTS="1"), feeds)[0]
    found = found_for(written(POOL, COUNTS="0"), right, feeds)
    (node,) = found.nodes
    names = [node.after, *(other.label for other in node.alternatives)]
    assert len(names) > 1
    assert len(set(names)) == len(names)
