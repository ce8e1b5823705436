"""A trap that passes take away is taken away for the target onnxruntime."""

from __future__ import annotations

import onnx
import pytest

from onnxpad.rewriting.rewrite import rewrite
from tests.models.text import text_model


@pytest.mark.parametrize("bias", ["", ", b"])
@pytest.mark.parametrize(
    ("pads", "stride", "passes"),
    [
        ("0, -1", 2, ("plain-transpose",)),
        ("1, -1", 2, ("plain-transpose",)),
        ("0, -3", 2, ("output-padding-by-pad",)),
    ],
)
def test_negative_end_pads_of_a_transposed_convolution_are_rewritten(
    pads: str, stride: int, passes: tuple[str, ...], bias: str
) -> None:
    runtime = pytest.importorskip("onnxruntime")
    constants = "float[1,1,3] w = {1, 10, 100}, float[1] b = {7}"
    node = f"[node] y = ConvTranspose <pads=[{pads}], strides=[{stride}]> (x, w{bias})"
    model = text_model(node, "float[1,1,2] x", constants=constants)
    done = rewrite(model, target="onnxruntime")
    assert done.fitting is not None
    assert [getattr(one.way, "passes", None) for one in done.fitting.plans] == [passes]
    session = runtime.InferenceSession(
        done.model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (found,) = session.run(
        None,
        {
            "x": onnx.numpy_helper.to_array(
                onnx.helper.make_tensor("x", onnx.TensorProto.FLOAT, [1, 1, 2], [1, 2])
            )
        },
    )
    begin, end = map(int, pads.split(","))
    full = [1, 10, 102, 20, 200][begin:] + [0] * -end
    assert found.ravel().tolist() == [cell + (7 if bias else 0) for cell in full]
