"""Pads of DeformConv in a Pad node: samples beyond the border are 0 either way."""

from __future__ import annotations

import numpy as np
import pytest

from tests.models.one_node import OneNode
from tests.rewriting.passes.expanded import levels, rewritten_model


@pytest.mark.parametrize("pads", [(1, 1, 1, 1), (0, 2, 1, 0), (0, 0, 0, 3)])
@pytest.mark.parametrize("opset", [19, 22])
def test_samples_far_outside_too(pads: tuple[int, ...], opset: int) -> None:
    rng = np.random.default_rng(sum(pads))
    x, weight = rng.standard_normal((1, 2, 5, 6)), rng.standard_normal((2, 2, 3, 3))
    rows, columns = 3 + pads[0] + pads[2], 4 + pads[1] + pads[3]
    offset = 2.5 * rng.standard_normal((1, 18, rows, columns))
    inputs = [array.astype(np.float32) for array in (x, weight, offset)]
    model = OneNode("DeformConv", inputs, {"pads": pads}, opset).model()
    after = rewritten_model(model, "split-pads")
    assert [node.op_type for node in after.graph.node] == ["Pad", "DeformConv"]
    feed = {"i0": inputs[0]}
    for found in levels(after, feed):
        np.testing.assert_allclose(found[0], levels(model, feed)[0][0], rtol=1e-4, atol=1e-5)
