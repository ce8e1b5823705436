"""Layers as one framework writes them, moved to another: what `resolve` says of that one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxpad import resolve, retarget
from tests.retargeting.running import outputs, signed

SIZES = (16, 19)
Written = tuple[str, dict[str, Any]]

TF: Written = ("tensorflow", {"padding": "SAME"})
LAYERS: dict[str, list[Written]] = {
    "conv": [
        TF,
        ("pytorch", {"padding": "half"}),
        ("caffe", {"pad": "half"}),
        ("jax", {"padding": "SAME_LOWER"}),
        ("cntk", {"auto_padding": True}),
        ("mps", {"padding": "SizeSame|AddRemainderToTopLeft"}),
        ("theano", {"border_mode": "half"}),
    ],
    "max_pool": [
        TF,
        ("pytorch", {"padding": "half"}),
        ("cntk", {"auto_padding": True}),
        ("core-ml", {"pad_type": "same"}),
    ],
    "avg_pool": [
        TF,
        ("pytorch", {"padding": "half", "count_include_pad": False}),
        ("timm", {}),
        ("cntk", {"auto_padding": True}),
    ],
}
STRIDE = {
    "tensorflow": "strides",
    "caffe": "stride",
    "jax": "window_strides",
    "theano": "subsample",
}
KERNEL = {"tensorflow": "ksize", "cntk": "pooling_window_shape", "core-ml": "kernel_sizes"}


def model_of(op: str, written: Written, size: int, kernel: int, stride: int) -> Any:
    framework, words = written
    given = {
        name: kernel // 2 if value == "half" and name != "border_mode" else value
        for name, value in words.items()
    }
    given[STRIDE.get(framework, "stride")] = stride
    weight = None
    if op == "conv":
        weight = signed(3, 2, 1, kernel, kernel)
    else:
        given[KERNEL.get(framework, "kernel_size")] = kernel
    shape = None if weight is None else weight.shape
    found = resolve(framework, op, input_shape=(1, 1, size, size), weight_shape=shape, **given)
    return found.to_model(weight)


def pads_of(model: Any) -> list[int]:
    """Its pads; [] where all are 0."""
    for one in model.graph.node[0].attribute:
        if one.name == "pads" and any(one.ints):
            return list(one.ints)
    return []


def alike(model: Any) -> bool:
    """Both sides alike already: PyTorch and Caffe can write it as it stands."""
    pads = pads_of(model)
    return pads[:2] == pads[2:]


@pytest.mark.part(14)
@pytest.mark.parametrize("op", LAYERS)
@pytest.mark.parametrize(("kernel", "stride"), [(3, 2), (5, 3), (3, 1)])
def test_a_layer_moves_to_what_the_other_framework_computes(
    op: str, kernel: int, stride: int
) -> None:
    compared = 0
    for size in SIZES:
        x = signed(size, 1, 1, size, size) - 4
        for one in LAYERS[op]:
            for other in LAYERS[op]:
                model = model_of(op, one, size, kernel, stride)
                keeps_divisor = op == "avg_pool" and {one[0], other[0]} & {"timm"}
                if other[0] == "jax" or not pads_of(model) or (keeps_divisor and one != other):
                    continue  # JAX's SAME is TensorFlow's; nothing padded is valid and stays so
                if alike(model) and other[0] in {"pytorch", "caffe"}:
                    assert not retarget(model, to=other[0]).changed
                    continue
                found = retarget(model, to=other[0])
                wanted = outputs(model_of(op, other, size, kernel, stride), x)[0]
                assert not found.skips, (one, other, found.skips)
                moved = outputs(found.model, x)[0]
                assert moved.shape == wanted.shape, (one, other, size)
                assert np.allclose(moved, wanted, rtol=1e-5, atol=1e-5), (one, other, size)
                compared += 1
    assert compared >= 2


@pytest.mark.parametrize("kernel", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_transposed_layers_move_too(kernel: int, stride: int) -> None:
    total = kernel - stride
    pad = max(0, -(-total // 2))
    extra = 2 * pad - total
    if extra >= stride:
        pytest.skip("PyTorch has no such layer")
    weight, x = signed(1, 1, 2, kernel, kernel), signed(2, 1, 1, 7, 7)
    given = {"input_shape": x.shape, "weight_shape": weight.shape}
    keras = resolve("keras", "conv_transpose", **given, strides=stride, padding="same")
    torch = resolve(
        "pytorch", "conv_transpose", **given, stride=stride, padding=pad, output_padding=extra
    )
    models = {"keras": keras.to_model(weight), "pytorch": torch.to_model(weight)}
    if any(len(model.graph.node) > 1 for model in models.values()):
        pytest.skip("one of them is no single node")
    results = {name: outputs(model, x)[0] for name, model in models.items()}
    for one, other in (("keras", "pytorch"), ("pytorch", "keras")):
        found = retarget(models[one], to=other)
        assert not found.skips
        moved = outputs(found.model, x)[0]
        assert np.allclose(moved, results[other], rtol=0, atol=1e-5)
        same = np.allclose(results[one], results[other], rtol=0, atol=1e-5)
        assert found.changed is not same
