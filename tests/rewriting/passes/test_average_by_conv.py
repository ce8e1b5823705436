"""Average pools written as depthwise convolutions: semantics.md 4.3."""

from __future__ import annotations

from itertools import product

import numpy as np
import onnx
import pytest

from onnxpad.padding.chain import Skip
from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import (
    NEGATIVE,
    X5,
    attributes,
    by_onnxruntime,
    constant,
    kinds,
    left_alone,
    numbers,
    refused,
    tiny,
    values,
)
from tests.oracle.windows import pool_average

RULE = "average-by-conv"
RANDOM = np.random.default_rng(40)


def convolved(model: onnx.ModelProto) -> onnx.ModelProto:
    done = rewrite(model, passes=[RULE])
    assert done.changed, done.skips
    assert isinstance(done.model, onnx.ModelProto)
    assert left_alone(done.model, RULE)
    return done.model


def test_counted_padding_is_that_of_the_convolution() -> None:
    model = tiny("[op] y = AveragePool <kernel_shape=[3], pads=[1,1], count_include_pad=1> (x)")
    after = convolved(model)
    assert kinds(after) == ["Conv"]
    assert attributes(after, "op/conv") == {
        "group": 1,
        "kernel_shape": [3],
        "strides": [1],
        "pads": [1, 1],
    }
    np.testing.assert_allclose(constant(after, "op/weight"), np.full((1, 1, 3), 1 / 3))
    np.testing.assert_allclose(values(after, X5), [1, 2, 3, 4, 3], rtol=1e-6)


def test_padding_that_is_not_counted_is_made_up_for() -> None:
    after = convolved(tiny("[op] y = AveragePool <kernel_shape=[3], pads=[1,1]> (x)"))
    assert kinds(after) == ["Conv", "Mul"]
    assert constant(after, "op/factor").tolist() == [[[1.5, 1, 1, 1, 1.5]]]
    np.testing.assert_allclose(values(after, X5), [1.5, 2, 3, 4, 4.5], rtol=1e-6)


@pytest.mark.parametrize("optimised", [False, True])
def test_every_small_average(optimised: bool) -> None:
    """Kernels 1..3, strides 1..3, dilations 1..2, pads, ceil_mode, counts, sizes 1, 4, 5."""
    rewritten = 0
    for kernel, stride, dilation, size in product((1, 2, 3), (1, 2, 3), (1, 2), (1, 4, 5)):
        for begin, end, ceil, counts in product((0, 1, 2), (0, 1), (0, 1), (0, 1)):
            if max(begin, end) >= kernel or size + begin + end < dilation * (kernel - 1) + 1:
                continue
            x = RANDOM.standard_normal((1, 1, size)).astype(np.float32)
            body = (
                f"[op] y = AveragePool <kernel_shape=[{kernel}], strides=[{stride}], "
                f"dilations=[{dilation}], pads=[{begin},{end}], ceil_mode={ceil}, "
                f"count_include_pad={counts}> (x)"
            )
            model = tiny(body, f"float[1,1,{size}]", opset=22)
            found = by_onnxruntime(convolved(model), x, optimised=optimised)
            assert not isinstance(found, str), found
            wanted = pool_average(
                x,
                [kernel],
                strides=[stride],
                dilations=[dilation],
                pads=[begin, end],
                ceil_mode=bool(ceil),
                count_include_pad=bool(counts),
            )
            wanted = np.nan_to_num(np.asarray(wanted).ravel(), nan=0.0)
            np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=2e-6, err_msg=body)
            rewritten += 1
    assert rewritten > 400


def test_channels_and_axes() -> None:
    model = tiny(
        '[op] y = AveragePool <kernel_shape=[2,3], auto_pad="SAME_LOWER", strides=[2,1]> (x)',
        "float[2,3,5,4]",
    )
    after = convolved(model)
    x = RANDOM.standard_normal((2, 3, 5, 4)).astype(np.float32)
    np.testing.assert_allclose(values(after, x), values(model, x), rtol=2e-6, atol=2e-6)
    assert attributes(after, "op/conv")["group"] == 3


def test_open_sizes_where_the_divisor_is_always_the_same() -> None:
    model = tiny(
        "[op] y = AveragePool <kernel_shape=[3], pads=[1,1], count_include_pad=1> (x)",
        "float[1,1,n]",
    )
    after = convolved(model)
    for x in (X5, NEGATIVE):
        np.testing.assert_allclose(values(after, x), values(model, x), rtol=2e-6)


THREE = "[op] y = AveragePool <kernel_shape=[3], pads=[1,1]> (x)"


def test_refusals() -> None:
    assert refused(tiny(THREE, "float[1,1,n]"), RULE) == Skip(
        "its divisors depend on sizes that are not known", ("--pass uncounted-padding",)
    )
    assert refused(tiny(THREE, "float[1,c,5]"), RULE) == Skip(
        "the number of its channels is not known"
    )
    assert refused(tiny(THREE, "float[1,90000,5]"), RULE) == Skip(
        "it would need 270000 weights, more than 262144"
    )
    assert refused(tiny(THREE, opset=6), RULE) == Skip("Mul of opset 6 does not broadcast shapes")


def test_behind_uncounted_padding_open_sizes_work() -> None:
    model = tiny(THREE, "float[1,1,n]")
    after = rewrite(model, passes=["uncounted-padding", RULE]).model
    assert isinstance(after, onnx.ModelProto)
    assert "Conv" in kinds(after)
    for x in (X5, NEGATIVE, numbers(3)):
        np.testing.assert_allclose(values(after, x), values(model, x), rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize(
    ("written", "before"),
    [
        ("pads=[1,2], ceil_mode=1", ["uncounted-padding"]),
        ("ceil_mode=1", ["floor-pool", "uncounted-padding"]),
        ("ceil_mode=1, count_include_pad=1", ["floor-pool", "uncounted-padding"]),
        (
            "pads=[1,2], ceil_mode=1, count_include_pad=1",
            ["counted-padding", "uncounted-padding"],
        ),
    ],
)
def test_open_sizes_work_behind_what_the_refusal_names(written: str, before: list[str]) -> None:
    body = f"[op] y = AveragePool <kernel_shape=[4], strides=[3], {written}> (x)"
    model = tiny(body, "float[1,2,n]", opset=22)
    hint = " ".join(f"--pass {name}" for name in before)
    assert refused(model, RULE).hints == (hint,)
    after = rewrite(model, passes=[*before, RULE])
    assert not after.skips
    assert isinstance(after.model, onnx.ModelProto)
    assert "AveragePool" not in kinds(after.model)
    for size in range(4, 13):
        x = RANDOM.standard_normal((1, 2, size)).astype(np.float32)
        found = by_onnxruntime(after.model, x)
        assert not isinstance(found, str), found
        np.testing.assert_allclose(found, values(model, x), rtol=4e-6, atol=4e-6)
