"""References behind operators that are at their limits, which hide what padding does."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, parser

from onnxpad.diagnosis import Cause, Diagnosis, diagnose
from tests.retargeting.running import Array, outputs, signed

_TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,16,16] x, float[8,3,3,3] v, float[8,8,3,3] w, float[8,C] m, float s) => (float[1,C] y)
<float alpha = {0.1}> {
  a = Conv <strides = [2, 2], pads = [PADS]> (x, v)
  b = LeakyRelu <alpha = 0.1> (a)
  c = Conv <pads = [1, 1, 1, 1]> (b, w)
  d = GlobalAveragePool (c)
  e = Flatten (d)
  f = MatMul (e, m)
  h = Mul (f, s)
  y = LAST (h)
}"""


def network(pads: str, last: str, count: int) -> ModelProto:
    text = _TEXT.replace("PADS", pads).replace("LAST", last).replace("[1,C]", f"[1,{count}]")
    return parser.parse_model(text.replace("[8,C]", f"[8,{count}]"))


def fed(scale: float, count: int, seed: int) -> dict[str, Array]:
    return {
        "x": signed(seed, 1, 3, 16, 16),
        "v": signed(seed + 1, 8, 3, 3, 3),
        "w": signed(seed + 2, 8, 8, 3, 3),
        "m": signed(seed + 3, 8, count),
        "s": np.array(scale, np.float32),
    }


def against(pads: str, true: str, last: str, scale: float, count: int, seed: int) -> Diagnosis:
    feeds = fed(scale, count, seed)
    right = outputs(network(true, last, count), feeds)[0]
    return diagnose(network(pads, last, count), inputs=feeds, outputs={"y": right})


@pytest.mark.parametrize("seed", [0, 50])
def test_padding_that_limits_hide_is_not_claimed(seed: int) -> None:
    """What is claimed is right; where nothing shows, other ways that fit are told."""
    found = against("1, 1, 1, 1", "0, 0, 1, 1", "Softmax", 3.0, 2, seed)
    if found.plan.entries:
        assert [one.settings["pads"] for one in found.plan.entries] == [[0, 0, 1, 1]]
    else:
        others = [one for node in found.nodes for one in node.alternatives if node.node == "a"]
        assert any(one.nearly or one.hidden for one in others)


@pytest.mark.parametrize("last", ["Softmax", "Sigmoid"])
def test_padding_that_shows_behind_such_an_operator_is_found(last: str) -> None:
    for seed in (0, 10):
        found = against("1, 1, 1, 1", "0, 0, 1, 1", last, 0.02, 3, seed)
        assert found.cause is Cause.PADDING, found.reason
        assert [entry.node for entry in found.plan.entries] == ["a"]


@pytest.mark.part(2)
@pytest.mark.parametrize("seed", [0, 35])
def test_one_number_near_its_limit_is_not_explained_by_chance(seed: int) -> None:
    """The reference has other weights, and the right padding."""
    feeds = fed(1.0, 1, seed)
    (size,) = outputs(network("1, 1, 1, 1", "Identity", 1), feeds)[0].ravel()
    feeds["s"] = np.array(9.5 / size, np.float32)
    model = network("1, 1, 1, 1", "Sigmoid", 1)
    others = {**feeds, "w": feeds["w"] * np.float32(1.02)}
    found = diagnose(model, inputs=feeds, outputs={"y": outputs(model, others)[0]}, budget=2)
    assert (found.explained, found.nearest) == (False, None), found.reason
