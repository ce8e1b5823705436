"""What is refused, and that the message says what was found and what to try."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest

from onnxpad import OnnxpadError, RequestError, Resolution, resolve
from onnxpad.frameworks.choices import Role, Special
from onnxpad.frameworks.conventions import all_conventions

CONV: dict[str, Any] = {"input_shape": (1, 3, 8, 8), "weight_shape": (4, 3, 3, 3)}
POOL: dict[str, Any] = {"input_shape": (1, 3, 8, 8), "kernel_size": 3}


@pytest.mark.parametrize(
    ("framework", "op", "words", "message"),
    [
        (
            "tensorflo",
            "conv",
            CONV,
            "no convention is called 'tensorflo': did you mean 'tensorflow'",
        ),
        (None, "conv", CONV, "no convention is called 'None'"),
        (
            "caffe",
            "conv",
            {**CONV, "pad": "SAME"},
            "caffe conv: pad is 'SAME', but this layer knows no padding by name: give one number",
        ),
        ("tensorflow", "cnv", CONV, "no operator is called 'cnv'; did you mean 'conv'"),
        ("tensorflow", 7, CONV, "no operator is called 7"),
        ("onnx-same-lower", "conv", CONV, "no convention is called"),
        ("theano", "conv_transpose", CONV, "theano: nothing is known of its conv_transpose"),
        ("pytorch", "conv3d", CONV, "'conv3d' has 3 spatial axes"),
        (
            "pytorch",
            "conv",
            CONV | {"strid": 2},
            "no attribute is called 'strid'; did you mean 'stride'",
        ),
        ("pytorch", "conv", CONV | {"xyz": 2}, "it is one of 'kernel_size'"),
        ("pytorch", "conv", CONV | {"stride": 0}, "stride is 0, but must be at least 1"),
        ("pytorch", "conv", CONV | {"stride": [2]}, "1 value for 2 axes"),
        ("pytorch", "conv", CONV | {"stride": [2, 2, 2]}, "3 values for 2 axes"),
        ("pytorch", "conv", CONV | {"stride": "2"}, "stride is '2', which is not an integer"),
        ("pytorch", "conv", CONV | {"stride": 2.5}, "which is not an integer"),
        ("pytorch", "conv", CONV | {"stride": float("nan")}, "stride is nan"),
        ("pytorch", "conv", CONV | {"stride": True}, "stride is True, which is not an integer"),
        ("pytorch", "conv", CONV | {"stride": 10**30}, "at most 2147483647"),
        ("pytorch", "conv", CONV | {"stride": {"h": 2}}, "which is not an integer"),
        ("pytorch", "conv", CONV | {"padding": -1}, "padding is -1, but must be at least 0"),
        ("pytorch", "conv", CONV | {"padding": [1, 1, 1, 1]}, "for 2 axes give 'same'"),
        ("pytorch", "conv", CONV | {"padding": "sam"}, "did you mean 'same'"),
        ("pytorch", "conv", CONV | {"padding": "same", "stride": 2}, "only there for stride 1"),
        ("pytorch", "conv", CONV | {"padding_mode": "mirror"}, "it is one of 'zeros', 'reflect'"),
        ("pytorch", "conv", CONV | {"padding": 8, "padding_mode": "reflect"}, "more than the 8"),
        ("pytorch", "conv", CONV | {"kernel_size": 5}, "the kernel is [5, 5], but the weight's"),
        ("pytorch", "conv", CONV | {"groups": 2}, "3 channels cannot be divided into 2 groups"),
        ("pytorch", "conv", CONV | {"groups": 3}, "the weight takes 3 channels for each of 3"),
        ("onnx", "conv", CONV | {"weight_shape": (4, 1, 3, 3), "group": 1}, "takes 1 channel, the"),
        ("pytorch", "conv", {"input_shape": (1, 3, 8, 8)}, "kernel is missing: give kernel_size"),
        ("tensorflow", "conv", {"input_shape": (1, 3, 8, 8)}, "give weight_shape, its kernel"),
        ("pytorch", "conv", CONV | {"input_shape": (1, 3)}, "give batch, channels and sizes"),
        ("pytorch", "conv", CONV | {"input_shape": (1, 3, 8, 8, 8, 8)}, "(1-D, 2-D, 3-D)"),
        ("pytorch", "conv", CONV | {"input_shape": "1,3,8,8"}, "give batch, channels and sizes"),
        ("pytorch", "conv", CONV | {"input_shape": (1, 3, -8, 8)}, "a size of input_shape is -8"),
        ("pytorch", "conv", CONV | {"input_shape": (1, 3, 8.0, 8)}, "a size of input_shape is 8.0"),
        ("pytorch", "conv", CONV | {"weight_shape": (4, 3, 3)}, "must have 4 sizes"),
        ("pytorch", "conv", CONV | {"weight_shape": (4, 3, 0, 3)}, "a size of weight_shape is 0"),
        (
            "pytorch",
            "conv",
            CONV | {"weight_shape": (4, 3, 9, 9)},
            "a window of 9 cells does not fit",
        ),
        ("pytorch", "max_pool", POOL | {"padding": 2}, "padding 2 is more than half of the window"),
        ("pytorch", "max_pool", POOL | {"weight_shape": (3, 1, 3, 3)}, "a pool has no weight"),
        ("pytorch", "max_pool", {"input_shape": (1, 3, 8, 8)}, "'kernel_size' is missing"),
        ("pytorch", "max_pool", POOL | {"ceil_mode": "yes"}, "ceil_mode is 'yes'"),
        ("pytorch", "avg_pool", POOL | {"divisor_override": 0}, "divisor_override is 0"),
        (
            "caffe",
            "max_pool",
            {"input_shape": (1, 1, 8, 8), "kernel_h": 3},
            "'kernel_w' is missing",
        ),
        ("caffe", "max_pool", POOL | {"pool": "AVE"}, "pool is 'AVE'; it is one of 'MAX'"),
        ("tensorflow", "conv", CONV | {"padding": [[1, 1]]}, "has 1 pair;"),
        ("tensorflow", "conv", CONV | {"padding": [[1, 1], [0, 0], [0, 0], [0, 0]]}, "pads batch"),
        ("tensorflow", "conv", CONV | {"strides": [2, 1, 1, 1]}, "batch and channels must be 1"),
        ("tensorflow", "conv_transpose", CONV, "'output_shape' is missing"),
        ("tensorflow", "conv", CONV | {"strides": 1, "stride": 1}, "mean the same: give one"),
        (
            "mxnet",
            "max_pool",
            {"input_shape": (1, 1, 8), "kernel": 3, "pooling_convention": "same"},
            "MXNet 1.9.1 refuses every call",
        ),
        (
            "mxnet",
            "max_pool",
            {"input_shape": (1, 1, 2), "kernel": 3, "pooling_convention": "full"},
            "does not fit",
        ),
        (
            "onnx",
            "conv",
            CONV | {"auto_pad": "SAME_UPPER", "pads": [1, 1, 1, 1]},
            "and a padding mode: give one of them",
        ),
        ("cntk", "conv", CONV | {"auto_padding": [1, 0]}, "takes true and false only"),
        ("cntk", "conv", CONV | {"auto_padding": [True] * 5}, "5 values for 2 axes"),
        ("keras", "depthwise_conv", CONV | {"groups": 2}, "3 channels cannot be divided"),
    ],
)
def test_what_is_refused(framework: Any, op: Any, words: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError) as caught:
        resolve(framework, op, **words)
    assert message in str(caught.value)


@pytest.mark.parametrize("size", [(9, 8), (8, 6), (4, 4)])
def test_an_output_size_must_have_led_to_the_input(size: tuple[int, int]) -> None:
    words: dict[str, Any] = {
        "input_shape": (1, 2, 4, 4),
        "weight_shape": (2, 2, 3, 3),
        "strides": 2,
    }
    with pytest.raises(RequestError, match="does not fit"):
        resolve("tensorflow", "conv_transpose", **words, output_shape=size)


@pytest.mark.parametrize(
    ("framework", "op"),
    [
        ("TensorFlow", "Conv2D"),
        ("tf", "conv2d"),
        ("torch", "convolution"),
        ("PyTorch", "Conv2d"),
        ("OpenCV_Caffe importer", "MaxPool"),
        ("THNN", "AveragePooling2D"),
        ("CoreML", "deconvolution"),
        ("pytorch", "ConvTranspose2d"),
        ("keras", "MaxPooling2D"),
        ("keras", "DepthwiseConv2D"),
    ],
)
def test_names_are_read_kindly(framework: str, op: str) -> None:
    with pytest.raises(RequestError) as caught:
        resolve(framework, op, input_shape=(1, 1, 8, 8), nonsense=1)
    assert "no attribute is called 'nonsense'" in str(caught.value)


def test_lists_tuples_arrays_and_none_are_values() -> None:
    for stride in ([2, 1], (2, 1), np.array([2, 1]), (np.int64(2), np.int32(1))):
        assert resolve("pytorch", "conv", **CONV, stride=stride).output_shape == (1, 4, 3, 6)
    found = resolve("pytorch", "max_pool", **POOL, stride=None, ceil_mode=None)
    assert found.output_shape == (1, 3, 2, 2)
    assert resolve("chainer", "avg_pool", input_shape=(1, 1, 4), ksize=3, pad=1).to_json()[
        "divisor"
    ]


def test_huge_sizes_are_arithmetic() -> None:
    big = 2**31 - 1
    found = resolve("caffe", "max_pool", input_shape=(1, 1, big, big), kernel_size=3, stride=2)
    assert found.output_shape == (1, 1, big // 2, big // 2)
    assert len(found.steps) == 1
    found = resolve(
        "pytorch", "max_pool", input_shape=(1, 1, big), kernel_size=2, stride=1, dilation=big // 2
    )
    assert found.output_shape[2] == big - big // 2


def test_a_model_needs_its_weight_and_nothing_else_does() -> None:
    conv = resolve("pytorch", "conv", **CONV)
    pool = resolve("pytorch", "max_pool", **POOL)
    weight = np.zeros((4, 3, 3, 3), np.float32)
    cases: list[tuple[Resolution, dict[str, Any], str]] = [
        (conv, {}, r"needs its weight: to_model\(weight=\.\.\.\), of shape \[4, 3, 3, 3\]"),
        (
            conv,
            {"weight": weight[:, :2]},
            r"the weight is \[4, 2, 3, 3\], but must be \[4, 3, 3, 3\]",
        ),
        (conv, {"weight": weight, "bias": np.zeros(3)}, r"the bias is \[3\], but must be \[4\]"),
        (conv, {"weight": weight.astype(np.int32)}, "the weight holds int32"),
        (pool, {"weight": weight}, "a pool has no weight"),
        (pool, {"bias": np.zeros(3)}, "a pool has no bias"),
    ]
    for model, words, message in cases:
        with pytest.raises(RequestError, match=message):
            model.to_model(**words)


def test_the_weight_may_say_the_channels() -> None:
    found = resolve("tf", "conv", input_shape=(1, 4, 8, 8), weight_shape=(None, None, 3, 3))
    assert found.output_shape == (1, None, 6, 6)
    model = found.to_model(np.zeros((6, 2, 3, 3), np.float32), np.zeros(6))
    (group,) = (a.i for a in model.graph.node[0].attribute if a.name == "group")
    assert group == 2


def test_what_no_nodes_can_say_is_an_error_with_a_reason() -> None:
    words: dict[str, Any] = {"window_shape": 2, "dilations": 2, "padding": "SAME"}
    found = resolve("tensorflow", "max_pool", input_shape=(1, 1, 1), **words)
    assert found.output_shape == (1, 1, 1)
    with pytest.raises(OnnxpadError, match="has no ONNX form: "):
        found.to_model()
    assert found.to_json()["nodes"] is None
    assert "has no ONNX form" in found.to_json()["reason"]


ODD: tuple[Any, ...] = (
    None, True, -1, 0, 1, 3, 10**12, 2.5, float("nan"), "", "SAME", "3", b"x", [], [1], [1, 1],
    [1, -1], [[0, 0], [1, 1]], [[1]], [[[1]]], {"a": 1}, {1}, object(), np.array(2), np.ones(2),
    np.array([[1, 1], [0, 0]]), "x" * 200,
)  # fmt: skip


@pytest.mark.part(4)
@pytest.mark.parametrize("name", [n for n, item in all_conventions().items() if item.layers])
def test_whatever_is_given_is_an_answer_or_a_request_error(name: str) -> None:
    """Every attribute of every layer gets values of every kind, one at a time."""
    for layer in all_conventions()[name].layers:
        pool = layer.op in {"max_pool", "avg_pool"}
        plain: dict[str, Any] = {w.name: 3 for w in layer.words if w.role is Role.KERNEL and pool}
        plain |= {w.name: 16 for w in layer.words if w.default is Special.REQUIRED and not pool}
        shape = None if pool else (2, 2, 3, 3)
        for word, value in product(layer.words, ODD):
            try:
                found = resolve(
                    name,
                    layer.op,
                    input_shape=(1, 2, 8, 8),
                    weight_shape=shape,
                    **(plain | {word.name: value}),
                )
                assert json.dumps(found.to_json())
            except RequestError as error:
                assert len(str(error)) < 600  # noqa: PT017 - most of them are refused


@pytest.mark.parametrize("value", ODD)
def test_shapes_of_any_kind(value: Any) -> None:
    with pytest.raises(RequestError):
        resolve("pytorch", "conv", input_shape=value, weight_shape=(4, 3, 3, 3))
    with pytest.raises(RequestError):
        resolve("pytorch", "max_pool", input_shape=(1, 1, 8), weight_shape=value, kernel_size=9)
