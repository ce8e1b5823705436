"""Used Indices of a max pool whose input has cells of -inf, written by a Pad in front."""

import numpy as np
import onnx
import pytest

from tests.models.one_node import run_onnxruntime
from tests.models.tiny import done, numbers, refused, tiny

POOL = "[op] y, i = MaxPool<kernel_shape=[2], pads=[1,0]>"
PADS = "int64[6] p = {0,0,1,0,0,0}"


def with_indices(body: str, constants: str) -> onnx.ModelProto:
    model = tiny(body, "float[1,1,3]", opset=13, constants=constants)
    output = model.graph.output.add()
    output.name, output.type.tensor_type.elem_type = "i", onnx.TensorProto.INT64
    return model


@pytest.mark.parametrize("between", ["", "u = Identity(t)"])
def test_a_pad_that_writes_infinity(between: str) -> None:
    read = "u" if between else "t"
    body = f"c = Constant<value=float {{-inf}}>() t = Pad(x, p, c) {between} {POOL}({read})"
    skip = refused(with_indices(body, PADS), "split-pads")
    assert "may fill a window with -inf" in skip.reason


def test_a_pad_that_writes_a_number() -> None:
    model = with_indices(f"t = Pad(x, p) {POOL}(t)", PADS)
    after = done(model, "split-pads").model
    assert isinstance(after, onnx.ModelProto)
    assert after != model
    x = {"x": numbers(-7, -1, -2)}
    found, wanted = run_onnxruntime(after, x), run_onnxruntime(model, x)
    assert all(np.array_equal(found[name], wanted[name]) for name in ("y", "i"))
