"""Models whose SAME padding is computed: sizes fixed later, inference, bodies, functions, proof."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from onnx import parser

from onnxpad.rewriting.rewrite import rewrite
from onnxpad.validation import validate
from tests.models.tiny import (
    X5,
    X6,
    X8,
    by_onnxruntime,
    numbers,
    rewritten,
    tiny,
    values,
)
from tests.oracle.interpreter import run_model

RULE = "runtime-pads"
STRIDED = 'Conv <auto_pad = "SAME_UPPER", strides = [2]> (x, w)'


@pytest.mark.parametrize("opset", [18, 22])
@pytest.mark.parametrize(
    ("front", "op", "dtype"),
    [
        ("", "MaxPool <{}, kernel_shape = [2], strides = [3], dilations = [3]> (x)", "uint8"),
        ("", "AveragePool <{}, kernel_shape = [3], strides = [2]> (x)", "float"),
        ("p = Pad (x, two)", "AveragePool <{}, kernel_shape = [3], strides = [2]> (p)", "float"),
        ("p = Pad (x, two)", "MaxPool <{}, kernel_shape = [3], strides = [2]> (p)", "float"),
    ],
)
def test_a_size_that_is_fixed_later(front: str, op: str, dtype: str, opset: int) -> None:
    """onnxruntime folds the computed pads then, and may fuse the Pad into the pool."""
    text = op.format('auto_pad = "SAME_LOWER"')
    held = "int64[6] two = {0, 0, 2, 0, 0, 2}" if front else ""
    model = tiny(
        f"{front} [op] y = {text}",
        f"{dtype}[1,1,n]",
        constants=held,
        opset=opset,
        result=f"{dtype}[]",
    )
    for size in range(1, 9):
        x = numbers(*range(3, 3 + size), dtype="uint8" if dtype == "uint8" else "float32")
        x = -x if dtype == "float" else x
        after = rewrite(model, passes=[RULE]).model
        assert isinstance(after, onnx.ModelProto)
        after.graph.input[0].type.tensor_type.shape.dim[2].dim_value = size
        found = by_onnxruntime(after, x, optimised=True)
        assert not isinstance(found, str), found
        np.testing.assert_allclose(found, values(model, x), rtol=1e-6)


def test_strict_inference_and_what_the_file_says_of_types() -> None:
    model = tiny(
        f"{STRIDED.join(('c = ', ' '))} [op] y = {STRIDED.replace('(x', '(c')}",
        "float[1,1,n]",
        result="float[1,1,m]",
    )
    model.graph.value_info.append(
        onnx.helper.make_tensor_value_info("c", onnx.TensorProto.FLOAT, [1, 1, "half"])
    )
    after = rewritten(model, RULE, X5, X6, X8)
    onnx.checker.check_model(after, full_check=True)
    onnx.shape_inference.infer_shapes(after, check_type=True, strict_mode=True, data_prop=True)
    assert list(after.graph.value_info) == list(model.graph.value_info)


def test_in_a_branch_and_in_a_function() -> None:
    body = f"g () => (float[1,1,m] r) {{ [op] r = {STRIDED} }}"
    other = "h () => (float[1,1,m] s) { s = Neg (x) }"
    branch = tiny(
        f"y = If (c) <then_branch = {body}, else_branch = {other}>",
        "float[1,1,n]",
        constants="bool c = {1}, float[1,1,3] w = {1, 10, 100}",
    )
    rewritten(branch, RULE, X5, X6, X8)
    called = parser.parse_model(
        '<ir_version: 9, opset_import: ["": 17, "f": 1]> g (float[1,1,n] x) => (float[1,1,m] y)'
        "<float[1,1,3] w = {1, 10, 100}> { a = f.two (x, w) y = f.two (a, w) }"
        f'<domain: "f", opset_import: ["": 17]> two (x, w) => (y) {{ [op] y = {STRIDED} }}'
    )
    after = rewritten(called, RULE, X5, X6, X8)
    assert not after.graph.initializer[1:], "constants of the function stay in it"


def test_a_graph_of_graphsurgeon() -> None:
    model = tiny(f"[op] y = {STRIDED}", "float[1,1,n]")
    graph = gs.import_onnx(model)
    assert rewrite(graph, passes=[RULE]).model is graph
    after = gs.export_onnx(graph)
    for x in (X5, X6, X8):
        assert run_model(after, {"x": x})["y"].ravel().tolist() == values(model, x)


def test_validation_proves_it() -> None:
    model = tiny(f"[op] y = {STRIDED.replace('>', ', dilations = [2]>')}", "float[1,1,n]")
    done = rewrite(model, passes=[RULE])
    assert isinstance(done.model, onnx.ModelProto)
    assert validate(model, done.model, device="cpu").ok
