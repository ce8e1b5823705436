"""border-pads: a max pool does not see whether its padding is missing or repeats the border."""

from __future__ import annotations

from itertools import product

import numpy as np
import onnx
import pytest

from onnxpad import rewrite
from tests.models.text import text_model
from tests.oracle.interpreter import run_model


def pool(attributes: str, size: int, *, outputs: str = "float[1,2,a] y") -> onnx.ModelProto:
    made = ", ".join(part.split()[1] for part in outputs.split("; "))
    return text_model(
        f"{made} = MaxPool <{attributes}> (x)",
        f"float[1,2,{size}] x",
        outputs=", ".join(outputs.split("; ")),
        opset=12,
    )


@pytest.mark.parametrize("ceil", [0, 1])
def test_every_small_pool_gives_the_same(ceil: int) -> None:
    draw = np.random.default_rng(4)
    rewritten = 0
    for size, kernel, stride in product(range(1, 8), (2, 3, 4), (1, 2, 3)):
        for begin, end in product(range(kernel), repeat=2):
            if size + begin + end < kernel:
                continue
            model = pool(
                f"kernel_shape = [{kernel}], strides = [{stride}], pads = [{begin}, {end}], "
                f"ceil_mode = {ceil}",
                size,
            )
            done = rewrite(model, passes="border-pads")
            assert isinstance(done.model, onnx.ModelProto)
            x = draw.normal(size=(1, 2, size)).astype(np.float32) - 3
            wanted = run_model(model, {"x": x})["y"]
            np.testing.assert_array_equal(run_model(done.model, {"x": x})["y"], wanted)
            rewritten += done.changed
    assert rewritten > 500


@pytest.mark.parametrize(
    ("attributes", "outputs", "reason"),
    [
        ("kernel_shape = [2], pads = [2, 0]", "float[1,2,a] y", "a window may hold padding alone"),
        (
            "kernel_shape = [2], pads = [1, 1], dilations = [2]",
            "float[1,2,a] y",
            "its windows have gaps",
        ),
        (
            "kernel_shape = [2], pads = [1, 1]",
            "float[1,2,a] y; int64[1,2,b] i",
            "its Indices are used",
        ),
    ],
)
def test_where_it_would_show_it_is_refused(attributes: str, outputs: str, reason: str) -> None:
    done = rewrite(pool(attributes, 8, outputs=outputs), passes="border-pads")
    assert not done.changed
    assert reason in done.skips[0].skip.reason


def test_what_reads_its_own_padding_and_an_empty_axis_are_refused() -> None:
    masked = text_model(
        "y = com.microsoft.MaxpoolWithMask <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, m)",
        "float[1,1,6,6] x, int32[1,6] m",
    )
    (skip,) = rewrite(masked, passes="border-pads").skips
    assert skip.skip.reason == "MaxpoolWithMask has an input that depends on its own padding"
    (skip,) = rewrite(pool("kernel_shape = [2], pads = [1, 1]", 0), passes="border-pads").skips
    assert skip.skip.reason == "an axis has no cell to repeat"


def test_integers_have_no_pad_before_opset_11() -> None:
    early = text_model(
        "y = MaxPool <kernel_shape = [2], pads = [1, 1]> (x)", "int8[1,1,6] x", opset=10
    )
    (skip,) = rewrite(early, passes="border-pads").skips
    assert skip.skip.reason == "Pad of opset 10 takes no integers"


def test_a_type_that_nobody_knows_is_refused() -> None:
    model = text_model(
        "a = com.microsoft.Unheard (x) y = MaxPool <kernel_shape = [2], pads = [1, 1]> (a)"
    )
    (skip,) = rewrite(model, passes="border-pads").skips
    assert skip.skip.reason == "the element type of its input is not known"


def test_the_pad_goes_in_front_of_dequantize_linear() -> None:
    model = text_model(
        "q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) "
        "y = MaxPool <kernel_shape = [3], pads = [1, 1]> (d)",
        "float[1,2,8] x",
        outputs="float[1,2,a] y",
        constants="float s = {0.1}, uint8 z = {128}",
    )
    done = rewrite(model, passes="border-pads")
    assert isinstance(done.model, onnx.ModelProto)
    assert [one.op_type for one in done.model.graph.node][1:3] == ["Pad", "DequantizeLinear"]
    x = np.random.default_rng(1).normal(size=(1, 2, 8)).astype(np.float32)
    wanted = run_model(model, {"x": x})["y"]
    np.testing.assert_array_equal(run_model(done.model, {"x": x})["y"], wanted)
