"""OpenCV's new engine computes pads from Shape: SAME of open sizes needs no --allow-unknown."""

from __future__ import annotations

from onnxpad import rewrite
from tests.models.text import text_model


def test_same_of_open_sizes_is_rewritten() -> None:
    model = text_model(
        'y = MaxPool <kernel_shape = [3, 3], strides = [2, 2], auto_pad = "SAME_UPPER"> (x)',
        inputs="float[1, 2, H, W] x",
        outputs="float[1, 2, h, w] y",
    )
    assert rewrite(model, target="opencv").model.graph.node[0].op_type == "Shape"
