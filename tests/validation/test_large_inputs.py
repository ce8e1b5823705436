"""Images of 4096 by 4096 cells: proofs and runs of them end, and soon."""

import time
from typing import Any

import numpy as np
from onnx import ModelProto

from onnxpad import rewrite, validate
from onnxpad.validation import Verdict
from tests.validation.builders import model, node

SECONDS = 30.0
"""Of CPU time; 1 to 3 were measured."""


def image_model(**padding: Any) -> ModelProto:
    """A convolution and a max pool of stride 2 over an image of 16 million cells."""
    window: dict[str, Any] = {"kernel_shape": [3, 3], "strides": [2, 2]}
    nodes = [
        node("Conv", ["x", "w"], ["a"], name="conv", **window, **padding),
        node("Relu", ["a"], ["b"], name="relu"),
        node("MaxPool", ["b"], ["y"], name="pool", **window, **padding),
    ]
    weight = np.random.default_rng(0).standard_normal((2, 1, 3, 3)).astype(np.float32)
    return model(nodes, {"w": weight}, shape=(1, 1, 4096, 4096))


def test_a_large_image_ends() -> None:
    before = image_model(auto_pad="SAME_UPPER")
    after = rewrite(before).model
    started = time.process_time()
    report = validate(before, after, device="cpu", samples=1)
    assert time.process_time() - started < SECONDS
    assert report.verdict is Verdict.PROVED
    assert report.run is not None
    assert report.run.verdict is Verdict.IDENTICAL
    assert report.input_shapes[0] == {"x": (1, 1, 4096, 4096)}
