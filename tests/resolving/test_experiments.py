"""Single layers that public posts are about, with the numbers that were measured for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxpad import resolve
from onnxpad.resolving.differences import compare
from tests.resolving.goldens import Array, run


def drawn(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def computed(framework: str, op: str, x: Array, weight: Array | None, **attributes: Any) -> Array:
    shape = None if weight is None else weight.shape
    found = resolve(framework, op, input_shape=x.shape, weight_shape=shape, **attributes)
    return run(found.to_model(weight), x)


def pads(framework: str, op: str, sizes: tuple[int, ...], kernel: int | None, **more: Any) -> Any:
    weight = None if kernel is None else (8, 3, *(kernel,) * len(sizes))
    return resolve(framework, op, input_shape=(1, 3, *sizes), weight_shape=weight, **more)


def test_stride_1_is_the_same_in_both_and_stride_2_is_not() -> None:
    x, weight = drawn(0, 1, 3, 32, 32), drawn(1, 8, 3, 3, 3)
    for stride, expected in ((1, True), (2, False)):
        tf = computed("tensorflow", "conv", x, weight, strides=stride, padding="SAME")
        torch = computed("pytorch", "conv", x, weight, stride=stride, padding=1)
        assert np.array_equal(tf, torch) is expected


def test_stride_2_is_padding_in_front_of_valid() -> None:
    x, weight = drawn(0, 1, 3, 32, 32), drawn(1, 8, 3, 3, 3)
    explicit = [[0, 0], [1, 1], [1, 1], [0, 0]]
    tf = computed("tensorflow", "conv", x, weight, strides=2, padding=explicit)
    torch = computed("pytorch", "conv", x, weight, stride=2, padding=1)
    assert np.array_equal(tf, torch)
    padded = np.pad(x, [(0, 0), (0, 0), (0, 1), (0, 1)])
    same = computed("tensorflow", "conv", x, weight, strides=2, padding="SAME")
    behind = computed("pytorch", "conv", padded, weight, stride=2)
    assert np.allclose(same, behind, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("framework", "attributes", "expected"),
    [
        ("tensorflow", {"strides": 2, "padding": "SAME"}, [2, 4]),
        ("pytorch", {"stride": 2, "padding": 1}, [1, 3, 0]),
        ("jax", {"window_strides": 2, "padding": "SAME_LOWER"}, [2, 4]),
        ("jax", {"window_strides": 2, "padding": [(1, 0)]}, [1, 3]),
    ],
)
def test_four_cells_and_a_kernel_of_two(
    framework: str, attributes: dict[str, Any], expected: list[float]
) -> None:
    x = np.array([[[1, 2, 3, 4]]], np.float32)
    weight = np.array([[[0, 1]]], np.float32)
    assert computed(framework, "conv", x, weight, **attributes).ravel().tolist() == expected


def test_a_pool_over_8_cells_has_3_or_4_windows() -> None:
    layers: dict[str, dict[str, Any]] = {
        "tensorflow": {"ksize": 3, "strides": 2, "padding": "VALID"},
        "mps": {"kernelSize": 3, "stride": 2, "padding": "ValidOnly|AddRemainderToTopLeft"},
        "pytorch": {"kernel_size": 3, "stride": 2},
        "caffe": {"kernel_size": 3, "stride": 2},
    }
    sizes = {
        name: resolve(name, "max_pool", input_shape=(1, 1, 8, 8), **words).output_shape[2]
        for name, words in layers.items()
    }
    assert sizes == {"tensorflow": 3, "mps": 3, "pytorch": 3, "caffe": 4}
    up = resolve(
        "pytorch", "max_pool", input_shape=(1, 1, 8), kernel_size=3, stride=2, ceil_mode=True
    )
    assert up.output_shape == (1, 1, 4)


@pytest.mark.parametrize(
    ("weight", "size", "stride", "padding", "extra", "length"),
    [
        ((1, 2, 3), 7, 3, 5, 2, 13),
        ((258, 1, 7), 249, 6, 9, 4, 1481),
        ((258, 1, 256), 249, 128, 64, 0, 31872),
        ((258, 1, 256), 249, 128, 64, 3, 31875),
    ],
)
def test_sizes_of_transposed_convolutions(
    weight: tuple[int, int, int], size: int, stride: int, padding: int, extra: int, length: int
) -> None:
    found = resolve(
        "pytorch",
        "conv_transpose1d",
        input_shape=(2, weight[0], size),
        weight_shape=weight,
        stride=stride,
        padding=padding,
        output_padding=extra,
    )
    assert found.output_shape == (2, weight[1], length)


def spread(x: Array, weight: Array, stride: int) -> Array:
    """The whole output of a transposed convolution over one axis, cell by cell."""
    out = np.zeros((x.shape[0], weight.shape[1], (x.shape[2] - 1) * stride + weight.shape[2]))
    for place in range(x.shape[2]):
        part = np.einsum("nc,cmk->nmk", x[:, :, place].astype(np.float64), weight)
        out[:, :, place * stride : place * stride + weight.shape[2]] += part
    return out


@pytest.mark.parametrize(
    ("kernel", "stride", "padding", "extra", "size"), [(3, 3, 5, 2, 7), (7, 6, 9, 4, 20)]
)
def test_output_padding_shows_more_of_the_whole(
    kernel: int, stride: int, padding: int, extra: int, size: int
) -> None:
    x, weight = drawn(2, 2, 1, size), drawn(3, 1, 2, kernel)
    words: dict[str, Any] = {"stride": stride, "padding": padding, "output_padding": extra}
    y = computed("pytorch", "conv_transpose", x, weight, **words)
    whole = spread(x, weight, stride)
    expected = whole[:, :, padding : whole.shape[2] - padding + extra]
    assert y.shape[2] == expected.shape[2]
    assert np.abs(y - expected).max() < 1e-5


def test_same_of_a_transposed_convolution() -> None:
    x = drawn(4, 1, 1, 6)
    even, odd = drawn(5, 1, 1, 4), drawn(6, 1, 1, 3)
    same: dict[str, Any] = {"strides": 2, "padding": "SAME", "output_shape": [12]}
    tf = computed("tensorflow", "conv_transpose", x, even, **same)
    torch = computed("pytorch", "conv_transpose", x, even, stride=2, padding=1)
    assert np.array_equal(tf, torch)
    tf = computed("tensorflow", "conv_transpose", x, odd, **same)
    words: dict[str, Any] = {"stride": 2, "padding": 1, "output_padding": 1}
    torch = computed("pytorch", "conv_transpose", x, odd, **words)
    assert tf.shape == torch.shape
    assert np.abs(tf - torch).mean() > 0.1
    assert np.abs(tf - spread(x, odd, 2)[:, :, :12]).max() < 1e-6


def test_the_first_convolution_of_resnet() -> None:
    sizes = (224, 224)
    same = pads("tensorflow", "conv", sizes, 7, strides=2, padding="SAME")
    both = pads("tensornets", "conv", sizes, 7, stride=2, symmetry=True)
    first = pads("cntk", "conv", sizes, 7, strides=2, auto_padding=[False, True, True])
    assert same.pads == (2, 2, 3, 3)
    assert both.pads == (3, 3, 3, 3)
    assert first.pads == (3, 3, 2, 2)
    assert {found.output_shape[2] for found in (same, both, first)} == {112}
    assert compare(same, both).cells == 112 * 112


def test_299_cells_leave_no_choice() -> None:
    same = pads("tensorflow", "conv", (299, 299), 7, strides=2, padding="SAME")
    both = pads("pytorch", "conv", (299, 299), 7, stride=2, padding=3)
    assert same.output_shape[2:] == (150, 150)
    assert compare(same, both).is_none


def test_the_first_pool_of_resnet() -> None:
    """70.9 % of the outputs differ for random input; every window does, as a window."""
    same = pads("tensorflow", "max_pool", (112, 112), None, ksize=3, strides=2, padding="SAME")
    both = pads("tensornets", "max_pool", (112, 112), None, kernel_size=3, stride=2, symmetry=True)
    x = drawn(7, 1, 3, 112, 112)
    y, other = run(same.to_model(), x), run(both.to_model(), x)
    assert y.shape == other.shape == (1, 3, 56, 56)
    assert 0.68 < np.mean(y != other) < 0.74
    assert compare(same, both).cells == 56 * 56


def test_a_wrong_padding_is_not_rounding() -> None:
    """The post's layer: 5x5, stride 2, 256 to 512 channels over 16x32, here with fewer of them."""
    x = np.random.default_rng(8).random((1, 32, 16, 32), np.float32)
    weight = np.random.default_rng(9).random((16, 32, 5, 5), np.float32)
    same = resolve(
        "tensorflow",
        "conv",
        input_shape=x.shape,
        weight_shape=weight.shape,
        strides=2,
        padding="SAME",
    )
    assert same.pads == (1, 1, 2, 2)
    right = computed(
        "pytorch", "conv", np.pad(x, [(0, 0), (0, 0), (1, 2), (1, 2)]), weight, stride=2
    )
    wrong = computed("pytorch", "conv", x, weight, stride=2, padding=2)
    y = run(same.to_model(weight), x)
    assert np.abs(y - right).max() / np.abs(right).max() < 1e-5
    assert np.abs(y - wrong).max() / np.abs(right).max() > 0.1


def test_opencv_differs_from_caffe_where_one_axis_is_padded() -> None:
    words: dict[str, Any] = {"kernel_h": 3, "kernel_w": 1, "stride": 3, "pad_h": 1, "pad_w": 0}
    sizes = [
        resolve(name, "max_pool", input_shape=(1, 1, 8, 8), **words).output_shape[2:]
        for name in ("caffe", "opencv-caffe-importer")
    ]
    assert sizes == [(3, 3), (3, 4)]
