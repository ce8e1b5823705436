"""Rewriting for a target: the cheapest plan, its cost, and an answer where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from onnx import ModelProto, helper, parser

from onnxpad import RequestError, rewrite

CONV = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2,8,8] x) => (float[1,3,4,4] y) <float[3,2,3,3] w> {
  [conv] y = Conv<auto_pad="SAME_UPPER", kernel_shape=[3,3], strides=[2,2]>(x, w)
}"""


def model_of(text: str) -> ModelProto:
    """The model with signed weights for what it calls w."""
    model = parser.parse_model(text)
    rng = np.random.default_rng(3)
    for value in [one for one in model.graph.value_info if one.name == "w"]:
        tensor = value.type.tensor_type
        shape = tuple(dim.dim_value for dim in tensor.shape.dim)
        kind = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        values = rng.integers(0, 9, shape) if kind == np.uint8 else rng.normal(size=shape)
        model.graph.initializer.append(onnx.numpy_helper.from_array(values.astype(kind), "w"))
        model.graph.value_info.remove(value)
    return model


def test_a_graph_is_edited_in_place() -> None:
    graph = gs.import_onnx(model_of(CONV))
    done = rewrite(graph, target="opencv")
    assert done.model is graph
    assert graph.nodes[0].attrs["pads"] == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "opnecv"}, "did you mean 'opencv'"),
        ({"target": "opencv", "exclude": "explicit-pad"}, "did you mean 'explicit-pads'"),
        ({"target": "opencv", "prefer": "lp-pool", "exclude": "lp-pool"}, "preferred and excluded"),
        ({"prefer": "lp-pool"}, "together with --target T"),
        ({"allow_unknown": True}, "together with --target T"),
    ],
)
def test_contradictions_are_errors(options: Mapping[str, Any], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        rewrite(model_of(CONV), **options)
