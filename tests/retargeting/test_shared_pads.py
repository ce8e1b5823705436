"""A Pad that several operators read: all of them move, in whatever order they stand."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, parser

from onnxpad import retarget
from tests.retargeting.running import outputs, signed

CONV = "a = Conv <strides = [2, 2]> (p, w)"
POOL = "b = MaxPool <kernel_shape = [3, 3], strides = [2, 2]> (p)"
TEXT = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 1, 8, 8] x, float[1, 1, 3, 3] w) => (float[1, 1, 4, 4] a, float[1, 1, 4, 4] b)
<int64[8] n = {0, 0, 0, 0, 0, 0, 1, 1}> {
  p = Pad (x, n)
  BODY
}
"""


@pytest.mark.parametrize("body", [(CONV, POOL), (POOL, CONV)], ids=["conv first", "pool first"])
def test_no_reader_of_a_shared_pad_stays_behind(body: tuple[str, str]) -> None:
    """The Conv cannot leave the Pad while a MaxPool reads it: onnxruntime would fuse the two."""
    model = parser.parse_model(TEXT.replace("BODY", "\n  ".join(body)))
    found = retarget(model, to="pytorch")
    assert [one.op for one in found.changes] == [one.split(" ")[2] for one in body]
    assert (found.skips, found.unchanged) == ((), ())
    moved = found.model
    assert isinstance(moved, ModelProto)
    assert "Pad" not in [node.op_type for node in moved.graph.node]
    half = TEXT.replace("BODY", "\n  ".join(body)).replace("p = Pad (x, n)", "")
    wanted = parser.parse_model(
        half.replace("(p", "(x").replace("strides", "pads = [1, 1, 1, 1], strides")
    )
    feeds = {"x": signed(0, 1, 1, 8, 8), "w": signed(1, 1, 1, 3, 3)}
    for mine, right in zip(outputs(moved, feeds), outputs(wanted, feeds), strict=True):
        np.testing.assert_array_equal(mine, right)
