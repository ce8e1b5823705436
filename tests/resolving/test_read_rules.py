"""Rules that nobody ran here: numbers that their sources give or that follow from them."""

from __future__ import annotations

from typing import Any

import pytest

from onnxpad import RequestError, resolve

LESS = (2, 2, 3, 3)
LOWER = "ONNX_SAME_LOWER"


def mps(stride: int, size: str, remainder: str) -> dict[str, Any]:
    return {"stride": stride, "padding": f"{size}|{remainder}"}


def custom(*pad: int) -> dict[str, Any]:
    return {"pad_type": "custom", "pad": list(pad)}


TOP_LEFT, BOTTOM_RIGHT = "AddRemainderToTopLeft", "AddRemainderToBottomRight"
Case = tuple[str, str, tuple[int, ...], int, dict[str, Any], tuple[int, ...], tuple[int, ...]]
# Framework, operator, sizes, kernel, words; pads (every begin, every end) and output sizes.
CASES: list[Case] = [
    ("mps", "conv", (10,) * 2, 3, mps(4, "ValidOnly", TOP_LEFT), (-1, -1, -2, -2), (2, 2)),
    ("mps", "conv", (10,) * 2, 3, mps(4, "ValidOnly", BOTTOM_RIGHT), (-1, -1, -2, -2), (2, 2)),
    ("mps", "conv", (8,) * 2, 3, {"stride": 2}, (1, 1, 0, 0), (4, 4)),
    ("mps", "conv", (8,) * 2, 3, mps(2, "SizeSame", BOTTOM_RIGHT), (0, 0, 1, 1), (4, 4)),
    ("mps", "conv", (4,) * 2, 3, mps(1, "SizeFull", TOP_LEFT), (2, 2, 2, 2), (6, 6)),
    ("mpsgraph", "conv", (8,), 3, {"strides": 2, "paddingStyle": "TF_SAME"}, (0, 1), (4,)),
    ("mpsgraph", "conv", (8,), 3, {"strides": 2, "paddingStyle": LOWER}, (1, 0), (4,)),
    ("mpsgraph", "conv", (8,), 3, {"padding": [1, 2]}, (1, 2), (9,)),
    ("core-ml", "conv", (8,), 4, {"strides": 2, "pad_type": "same"}, (1, 1), (4,)),
    ("core-ml", "conv", (8,), 3, {"strides": 2, "pad_type": "same_lower"}, (1, 0), (4,)),
    ("core-ml", "conv", (8, 9), 3, custom(1, 0, 2, 0), (1, 2, 0, 0), (7, 9)),
    ("darknet", "conv", (8, 8), 3, {"stride": 2, "pad": 1}, (1, 1, 1, 1), (4, 4)),
    ("dl4j", "conv", (8,), 3, {"stride": 2, "convolutionMode": "Same"}, (0, 1), (4,)),
    ("dl4j", "conv", (8,), 3, {"stride": 2, "convolutionMode": "Truncate"}, (0, 0), (3,)),
    ("dl4j", "conv", (8,), 3, {"dilation": 2, "convolutionMode": "Causal"}, (4, 0), (8,)),
    ("matlab", "conv", (8, 8), 3, {"Stride": 2, "Padding": "same"}, (0, 0, 1, 1), (4, 4)),
    ("matlab", "conv", (8, 8), 3, {"Padding": [1, 0, 2, 0]}, (1, 2, 0, 0), (7, 8)),
    ("torch7", "conv", (8, 8), 3, {"dH": 2, "dW": 2, "pad": 1}, (1, 1, 1, 1), (4, 4)),
    ("cudnn", "conv", (8, 8), 3, {"stride": 2, "pad": 1}, (1, 1, 1, 1), (4, 4)),
    ("tensornets", "conv", (224,) * 2, 7, {"stride": 2, "symmetry": False}, LESS, (112,) * 2),
    ("caffe", "conv", (8, 8), 3, {"stride": 2, "pad": 1}, (1, 1, 1, 1), (4, 4)),
    ("caffe", "conv_transpose", (4, 4), 4, {"stride": 2, "pad": 1}, (1, 1, 1, 1), (8, 8)),
    ("matlab", "conv_transpose", (4,), 3, {"Stride": 2, "Cropping": "same"}, (0, 1), (8,)),
    ("dl4j", "conv_transpose", (4,), 3, {"stride": 2, "convolutionMode": "Same"}, (0, 1), (8,)),
    ("core-ml", "conv_transpose", (4,), 3, {"strides": 2, "pad_type": "same"}, (0, 1), (8,)),
    ("cudnn", "conv_transpose", (4,), 3, {"stride": 2, "pad": 1}, (1, 1), (7,)),
    ("darknet", "conv_transpose", (4, 4), 4, {"stride": 2, "padding": 1}, (1, 1, 1, 1), (8, 8)),
]


@pytest.mark.parametrize(("framework", "op", "sizes", "kernel", "words", "pads", "output"), CASES)
def test_convolutions(
    framework: str,
    op: str,
    sizes: tuple[int, ...],
    kernel: int,
    words: dict[str, Any],
    pads: tuple[int, ...],
    output: tuple[int, ...],
) -> None:
    found = resolve(
        framework,
        op,
        input_shape=(1, 2, *sizes),
        weight_shape=(2, 2, *(kernel,) * len(sizes)),
        **words,
    )
    assert found.pads == pads
    assert found.output_shape == (1, 2, *output)


def test_darknet_pools_by_a_total() -> None:
    found = resolve("darknet", "max_pool", input_shape=(1, 1, 8, 8), size=3, stride=2)
    assert (found.pads, found.output_shape[2:]) == ((1, 1, 1, 1), (4, 4))
    found = resolve("darknet", "max_pool", input_shape=(1, 1, 13, 13), size=2, stride=1)
    assert (found.pads, found.output_shape[2:]) == ((0, 0, 1, 1), (13, 13))


def test_three_generations_of_torch_clip_differently() -> None:
    """1-wide windows with stride 2 over 8 cells, one axis padded: 8 -> 4 or 5."""
    words: dict[str, Any] = {
        "kH": 3,
        "kW": 1,
        "dH": 2,
        "dW": 2,
        "padH": 1,
        "padW": 0,
        "ceil_mode": True,
    }
    torch7 = resolve("torch7", "max_pool", input_shape=(1, 1, 8, 8), **words)
    words = {"kernel_size": [3, 1], "stride": 2, "padding": [1, 0], "ceil_mode": True}
    thnn = resolve("torch7-thnn", "max_pool", input_shape=(1, 1, 8, 8), **words)
    today = resolve("pytorch", "max_pool", input_shape=(1, 1, 8, 8), **words)
    assert [found.output_shape[2:] for found in (torch7, thnn, today)] == [(5, 4), (5, 5), (5, 4)]


def test_core_ml_clips_padded_axes_only() -> None:
    words: dict[str, Any] = {"kernel_sizes": 1, "strides": 2, "ceil_mode": True}
    assert resolve("core-ml", "max_pool", input_shape=(1, 1, 8), **words).output_shape[2] == 5


def test_strict_refuses_a_remainder() -> None:
    words: dict[str, Any] = {"kernelSize": 3, "stride": 2, "convolutionMode": "Strict"}
    assert resolve("dl4j", "max_pool", input_shape=(1, 1, 7), **words).output_shape[2] == 3
    with pytest.raises(RequestError, match="do not end at the border: 1 of 8 cells"):
        resolve("dl4j", "max_pool", input_shape=(1, 1, 8), **words)
