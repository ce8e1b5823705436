"""ONNX's own convention against onnxruntime running the node as it is written."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from onnxpad import OnnxpadError, resolve
from tests.oracle.onnxruntime_levels import ran
from tests.resolving.goldens import difference, run
from tests.retargeting.running import one_node

NODES = {
    "conv": "Conv",
    "conv_transpose": "ConvTranspose",
    "max_pool": "MaxPool",
    "avg_pool": "AveragePool",
}
LAYERS = 150


def drawn(op: str, random: Random) -> tuple[int, int, dict[str, Any]]:
    """Size, kernel and the words of a layer of one axis."""
    size, kernel, stride = (random.randint(*of) for of in ((4, 7), (1, 3), (1, 3)))
    words: dict[str, Any] = {"strides": [stride]}
    if random.randrange(2):
        words["pads"] = [random.randint(0, 2 * (op == "conv") or kernel - 1) for _ in range(2)]
    else:
        words["auto_pad"] = random.choice(["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"])
        if op != "conv":
            kernel = max(kernel, stride)  # onnxruntime shifts SAME of shorter kernels
    if "pool" in op:
        words |= {"kernel_shape": [kernel], "ceil_mode": random.randrange(2)}
    if op == "avg_pool":
        words["count_include_pad"] = random.randrange(2)
    if op == "conv_transpose":
        words["output_padding"] = [random.randrange(stride)]
    if op == "conv_transpose" and random.randrange(4) == 0:
        whole = (size - 1) * stride + kernel
        words = {"strides": [stride], "output_shape": [whole - random.randrange(3)]}
    return size, kernel, words


@pytest.mark.parametrize("op", NODES)
def test_layers_are_what_onnxruntime_runs(op: str) -> None:
    """Both may also refuse a layer."""
    random, wrong, generator = Random(3), [], np.random.default_rng(1)
    for _ in range(LAYERS):
        size, kernel, words = drawn(op, random)
        x = generator.standard_normal((1, 2, size)).astype(np.float32)
        shape = (3, 2, kernel) if op == "conv" else (2, 3, kernel)
        weight = None if "pool" in op else generator.standard_normal(shape).astype(np.float32)
        expected = ran(one_node(NODES[op], x, weight, **words), {"x": x})
        shapes = {"input_shape": x.shape, "weight_shape": None if weight is None else shape}
        try:
            y = run(resolve("onnx", op, **shapes, **words).to_model(weight), x)
        except OnnxpadError:
            fits = isinstance(expected, str) or expected.size == 0
        else:
            fits = not isinstance(expected, str) and difference(y, expected) < 1e-5
        wrong += [] if fits else [(size, kernel, words)]
    assert wrong == []
