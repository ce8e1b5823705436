"""A model in another opset computes the same, or says which node keeps it."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime as ort
import pytest

from onnxpad.model.editing.opsets import Kept, moved
from onnxpad.model.editing.session import EditSession
from tests.models.text import text_model

X = np.random.default_rng(0).normal(size=(1, 4, 6, 6)).astype(np.float32)


def model_of(nodes: str, opset: int, constants: str = "") -> onnx.ModelProto:
    return text_model(
        nodes, "float[1,4,6,6] x", outputs="float[] y", constants=constants, opset=opset
    )


def in_opset(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    session = EditSession(copy)
    session.restate(moved(session.contexts, session.names, opset))
    return session.finish()


def run(model: onnx.ModelProto) -> np.ndarray:
    bare = onnx.ModelProto()
    bare.CopyFrom(model)
    bare.graph.output[0].type.tensor_type.ClearField("shape")
    options = ort.SessionOptions()
    options.log_severity_level = 3
    session = ort.InferenceSession(
        bare.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    found: np.ndarray = session.run(None, {"x": X})[0]
    return found


@pytest.mark.parametrize(
    ("nodes", "constants", "opset", "other"),
    [
        ("y = Pad (x, p)", "int64[8] p = {0,0,1,1,0,0,1,1}", 21, 13),
        ("y = Pad <pads = [0,0,1,1,0,0,1,1], value = 2.0> (x)", "", 9, 13),
        ("y = Pad (x, p, v)", "int64[8] p = {0,0,1,1,0,0,1,1}, float v = {2}", 13, 9),
        ("y = ReduceMean <keepdims = 0> (x, a)", "int64[2] a = {2,3}", 20, 17),
        ("y = ReduceMean <keepdims = 0, axes = [2,3]> (x)", "", 13, 20),
        ("y = Clip <min = 0.0, max = 6.0> (x)", "", 9, 13),
        ("y = Clip <max = 0.5> (x)", "", 10, 17),
        ("y = Slice <axes = [2], starts = [1], ends = [4]> (x)", "", 9, 13),
        ("a = Unsqueeze <axes = [0]> (x) y = Squeeze <axes = [0]> (a)", "", 11, 13),
        ("a = Unsqueeze (x, q) y = Squeeze (a, q)", "int64[1] q = {0}", 17, 12),
        ("a, b = Split <axis = 1, split = [1,3]> (x) y = Mul (a, b)", "", 11, 13),
        ("a = Flatten (x) y = Softmax (a)", "", 11, 13),
        ("a = Flatten (x) y = Softmax (a)", "", 13, 9),
        ("y = MaxPool <kernel_shape = [2,2], pads = [1,0,0,1]> (x)", "", 8, 21),
        ("y = MaxPool <kernel_shape = [2,2], pads = [1,0,0,1]> (x)", "", 6, 13),
    ],
)
def test_it_computes_the_same(nodes: str, constants: str, opset: int, other: int) -> None:
    model = model_of(nodes, opset, constants)
    after = in_opset(model, other)
    assert [one.version for one in after.opset_import if not one.domain] == [other]
    np.testing.assert_array_equal(run(after), run(model))


PADS = "int64[8] p = {0,0,1,1,0,0,1,1}"
KEPT = {
    "no mode wrap": ('y = Pad <mode = "wrap"> (x, p)', PADS, 19, 18),
    "flattens other axes": ("y = Softmax <axis = 1> (x)", "", 11, 13),
    "has no such operator": ("y = Gelu (x)", "", 20, 17),
    "writes start": ("a = Shape <start = 2> (x) y = Cast <to = 1> (a)", "", 15, 13),
    "was not read": ("y = PRelu (x, s)", "float[4] s = {1,2,3,4}", 6, 13),
    "writes to otherwise": ('y = Cast <to = "FLOAT"> (x)', "", 5, 9),
    "rounds up otherwise": ("y = MaxPool <kernel_shape = [2,2], ceil_mode = 1> (x)", "", 21, 22),
    "computed axes": (
        "s = ReduceSum (x) a = Cast <to = 7> (s) y = ReduceMean (x, a)",
        "",
        18,
        13,
    ),
    "has not as many inputs": (
        "y = Pad (x, p, , a)",
        "int64[2] p = {1,1}, int64[1] a = {2}",
        18,
        17,
    ),
}


@pytest.mark.parametrize("reason", KEPT)
def test_what_differs_keeps_the_model_where_it_is(reason: str) -> None:
    nodes, constants, opset, other = KEPT[reason]
    with pytest.raises(Kept, match=reason):
        in_opset(model_of(nodes, opset, constants), other)
