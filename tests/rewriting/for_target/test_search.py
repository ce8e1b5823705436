"""Rewriting for a target: the cheapest plan, its cost, and an answer where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from onnx import ModelProto, helper, parser, shape_inference

from onnxpad.errors import RequestError
from onnxpad.rewriting.for_target.report import PassPlan
from onnxpad.rewriting.rewrite import Rewriting, rewrite

CONV = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2,8,8] x) => (float[1,3,4,4] y) <float[3,2,3,3] w> {
  [conv] y = Conv<auto_pad="SAME_UPPER", kernel_shape=[3,3], strides=[2,2]>(x, w)
}"""
POOL = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2,8,9] x) => (float[1,2,5,5] y) {
  [pool] y = AveragePool<ceil_mode=1, count_include_pad=1, kernel_shape=[3,3], pads=[1,1,1,1],
                         strides=[2,2]>(x)
}"""
LP = """<ir_version: 8, opset_import: ["" : 18]>
g (float[1,2,8,9] x) => (float[1,2,8,9] y) {
  [lp] y = LpPool<kernel_shape=[3,3], pads=[1,1,1,1]>(x)
}"""
PADDED = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2,8,8] x) => (float[1,3,8,8] y) <int64[8] p = {0,0,2,1,0,0,0,1}, float[3,2,3,3] w> {
  [pad] a = Pad<mode="reflect">(x, p)
  [conv] y = Conv<kernel_shape=[3,3]>(a, w)
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


def for_target(text: str, target: str, **options: Any) -> Rewriting:
    return rewrite(model_of(text), target=target, **options)


def plans(done: Rewriting) -> list[tuple[str, ...]]:
    assert done.fitting is not None
    return [one.way.passes for one in done.fitting.plans if isinstance(one.way, PassPlan)]


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


SIZES = {onnx.TensorProto.FLOAT: 4, onnx.TensorProto.INT64: 8}


def counted(model: ModelProto) -> tuple[int, int, int]:
    """Multiply-adds, bytes and operators of a model of fixed sizes, counted from its own types."""
    typed = shape_inference.infer_shapes(model, strict_mode=True)
    values = [*typed.graph.value_info, *typed.graph.input, *typed.graph.output]
    tensors = {
        value.name: (
            [dim.dim_value for dim in value.type.tensor_type.shape.dim],
            value.type.tensor_type.elem_type,
        )
        for value in values
    }
    tensors |= {one.name: (list(one.dims), one.data_type) for one in typed.graph.initializer}
    sums = moved = 0
    for node in typed.graph.node:
        names = [name for name in (*node.input, *node.output) if name]
        moved += sum(prod(tensors[name][0]) * SIZES[tensors[name][1]] for name in names)
        cells = prod(tensors[node.output[0]][0])
        attributes = {one.name: one for one in node.attribute}
        if node.op_type.endswith("Pool"):
            sums += cells * prod(attributes["kernel_shape"].ints)
        elif node.op_type == "Conv":
            sums += cells * prod(tensors[node.input[1]][0][1:])
        elif node.op_type in ("Mul", "Add", "Abs", "Sqrt", "Pow"):
            sums += cells
    return sums, moved, len(typed.graph.node)


@pytest.mark.parametrize(
    ("text", "target"),
    [(POOL, "opencv"), (LP, "opencv"), (PADDED, "iree"), (CONV, "onnx2torch"), (POOL, "ncnn")],
)
def test_costs_are_those_of_the_models(text: str, target: str) -> None:
    done = for_target(text, target)
    assert done.changed
    assert isinstance(done.model, ModelProto)
    assert done.fitting is not None
    before, after = counted(model_of(text)), counted(done.model)
    wanted = tuple(b - a for a, b in zip(before, after, strict=True))
    cost = done.fitting.cost
    assert (cost.multiply_adds, cost.bytes_moved, cost.operators) == wanted
    planned = [one.way.cost for one in done.fitting.plans if isinstance(one.way, PassPlan)]
    assert sum(one.multiply_adds for one in planned) == cost.multiply_adds
    assert sum(one.bytes_moved for one in planned) == cost.bytes_moved
