"""A Pad that max pools read writes 0 where no data is below it."""

from __future__ import annotations

from itertools import product

import numpy as np
import onnx
import pytest

from onnxpad import rewrite
from tests.models.text import text_model
from tests.oracle.interpreter import run_model


def pooled(
    front: str = "a = Relu (x)", pads: str = "0, 0, 1, 0, 0, 2", kernel: int = 3, opset: int = 13
) -> onnx.ModelProto:
    return text_model(
        f"{front} b = Pad (a, p, v) y = MaxPool <kernel_shape = [{kernel}]> (b)",
        constants=f"int64[6] p = {{{pads}}}, float v = {{-1e38}}",
        outputs="float[n, c, h] y",
        opset=opset,
    )


def reason(model: onnx.ModelProto) -> str:
    done = rewrite(model, passes="zero-value")
    assert not done.changed
    (skip,) = [one for one in done.skips if one.op == "Pad"]
    return skip.skip.reason


def test_behind_a_relu_0_serves_as_well() -> None:
    before = pooled()
    after = rewrite(before, passes="zero-value").model
    assert isinstance(after, onnx.ModelProto)
    assert [list(node.input)[:3] for node in after.graph.node if node.op_type == "Pad"] == [
        ["a", "p"]
    ]
    x = {"x": np.random.default_rng(0).normal(size=(1, 1, 8)).astype(np.float32)}
    np.testing.assert_array_equal(run_model(after, x)["y"], run_model(before, x)["y"])


@pytest.mark.parametrize(("begin", "end", "kernel"), [*product(range(4), range(4), (1, 2, 3))])
def test_over_a_small_domain(begin: int, end: int, kernel: int) -> None:
    before = pooled(pads=f"0, 0, {begin}, 0, 0, {end}", kernel=kernel)
    done = rewrite(before, passes="zero-value")
    assert isinstance(done.model, onnx.ModelProto)
    x = {"x": -np.ones((1, 1, 8), np.float32)}
    np.testing.assert_array_equal(run_model(done.model, x)["y"], run_model(before, x)["y"])
    assert done.changed is (max(begin, end) < kernel)


def test_what_is_not_exact_is_left() -> None:
    assert "may be below 0" in reason(pooled("a = Neg (x)"))
    assert "without data" in reason(pooled(pads="0, 1, 1, 0, 0, 1"))
    assert "without data" in reason(pooled(pads="0, 0, 3, 0, 0, 3"))


def test_the_safe_subset_takes_a_relu_in_front_of_a_pool_that_rounds_up() -> None:
    """SqueezeNet, GoogLeNet, SE-ResNet and VoVNet have it."""
    model = text_model(
        "a = Relu (x) y = MaxPool <kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1> (a)",
        inputs="float[1, 4, 16, 16] x",
        outputs="float[1, 4, 8, 8] y",
    )
    done = rewrite(model, target="portable")
    assert not done.unfit
    assert isinstance(done.model, onnx.ModelProto)
    x = {"x": np.random.default_rng(0).normal(size=(1, 4, 16, 16)).astype(np.float32)}
    np.testing.assert_array_equal(run_model(done.model, x)["y"], run_model(model, x)["y"])
