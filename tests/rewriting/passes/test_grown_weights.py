"""Kernels that grow, and what else the file says of them."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from onnx import helper, numpy_helper

from onnxpad import rewrite
from tests.models.surgeon_graphs import (
    assert_computes,
    assert_linked,
    conv,
    graph_of,
    tensors,
)
from tests.models.text import text_model
from tests.names import PASSES
from tests.oracle.onnxruntime_levels import ran

KERNEL = "symmetric-pads-by-kernel"
X = np.asarray([[[3, -1, 4, -1, -5, 9, 2]]], np.float32)

NEW = [name for name in PASSES if name.startswith(("symmetric-", "output-", "slice-", "plain-t"))]


@pytest.mark.parametrize("rule", NEW)
def test_graphs_of_graphsurgeon(rule: str) -> None:
    x, a, y = tensors("x", "a", "y")
    first = conv(x, a, pads=[0, 1, 2, 1])
    second = conv(a, y, pads=[0, 1, 3, 1], strides=[2, 2], output_padding=[1, 1])
    second.op, second.name = "ConvTranspose", "up"
    bias = gs.Constant("bias", np.asarray([5, -3], np.float32))
    second.inputs.append(bias)
    if rule == "plain-transpose":
        second.attrs = {"strides": [2, 2], "auto_pad": "SAME_LOWER"}
    if rule.startswith("output-padding"):
        second.attrs["pads"] = [0, 0, 0, 0]
    graph = graph_of([first, second], x, y)
    original = gs.export_onnx(graph)
    done = rewrite(graph, passes=[rule])
    assert done.changed, done.skips
    assert done.model is graph
    assert_linked(graph)
    assert_computes(graph, original)


def test_a_sparse_kernel_does_not_grow() -> None:
    model = text_model("y = Conv <pads = [0, 2]> (x, w)", constants="float[1,1,3] w = {1, 10, 100}")
    del model.graph.initializer[:]
    values = numpy_helper.from_array(np.asarray([-3, 5], np.float32), "w")
    places = numpy_helper.from_array(np.asarray([0, 2], np.int64), "places")
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [1, 1, 3]))
    (skip,) = rewrite(model, passes=[KERNEL]).skips
    assert "no constant of the model, sparse, or an input" in skip.skip.reason
    done = rewrite(model, passes=["symmetric-pads"])
    assert done.changed
    assert isinstance(done.model, onnx.ModelProto)
    wanted = ran(model, {"x": X})
    np.testing.assert_array_equal(ran(done.model, {"x": X}), wanted)
