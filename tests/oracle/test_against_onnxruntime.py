"""onnxruntime is right about what is drawn here: no SAME with a dilation or with kernel < stride,
pool pads below the kernel, no count_include_pad with ceil_mode in QLinearAveragePool.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator

from tests.models.one_node import Array, OneNode, assert_same, run_onnxruntime
from tests.oracle.interpreter import run_model


@dataclass(frozen=True)
class Placed:
    spatial: list[int]
    kernel: list[int]
    attributes: dict[str, Any]


def draw(
    rng: Generator, rank: int | None = None, *, pool: bool = False, dilated: bool = True
) -> Placed:
    """A geometry that holds at least one window on every axis."""
    rank = int(rng.integers(1, 4)) if rank is None else rank
    auto_pad = str(rng.choice(["NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]))
    kernel = rng.integers(1, 4, rank)
    strides, dilations = rng.integers(1, 4, rank), rng.integers(1, 3, rank)
    if auto_pad.startswith("SAME"):
        strides, dilations = np.minimum(strides, kernel), np.ones_like(kernel)
    if not dilated:
        dilations = np.ones_like(kernel)
    pads = rng.integers(0, np.tile(kernel, 2) if pool else 5, 2 * rank)
    span = dilations * (kernel - 1) + 1
    held = pads[:rank] + pads[rank:] if auto_pad == "NOTSET" else np.zeros_like(kernel)
    least = np.maximum(1, span - held) if not auto_pad.startswith("SAME") else np.ones_like(span)
    attributes = {"strides": strides.tolist(), "dilations": dilations.tolist()}
    attributes |= {"pads": pads.tolist()} if auto_pad == "NOTSET" else {"auto_pad": auto_pad}
    return Placed((least + rng.integers(0, 6, rank)).tolist(), kernel.tolist(), attributes)


def whole(rng: Generator, shape: list[int], dtype: str = "float32", reach: int = 9) -> Array:
    """Signed integer values, whose sums and products are exact in float32."""
    low = 0 if np.dtype(dtype).kind == "u" else -reach
    return rng.integers(low, reach + 1, shape).astype(dtype)


def conv(rng: Generator) -> OneNode:
    placed, group = draw(rng), int(rng.integers(1, 3))
    x = whole(rng, [int(rng.integers(1, 3)), 2 * group, *placed.spatial])
    w = whole(rng, [3 * group, 2, *placed.kernel])
    b = whole(rng, [3 * group]) if rng.integers(2) else None
    return OneNode("Conv", [x, w, b], placed.attributes | {"group": group})


def fused_conv(rng: Generator) -> OneNode:
    node = conv(rng)
    attributes = {**node.attributes, "activation": "Relu"}
    return OneNode("FusedConv", node.inputs, attributes, domain="com.microsoft")


def conv_integer(rng: Generator) -> OneNode:
    placed = draw(rng, 2)
    x = whole(rng, [1, 2, *placed.spatial], "uint8", 200)
    w = whole(rng, [3, 2, *placed.kernel], "uint8", 60)
    zeros = [whole(rng, [], "uint8", reach) for reach in (90, 40)]
    return OneNode("ConvInteger", [x, w, *zeros[: rng.integers(3)]], placed.attributes)


def qlinear_conv(rng: Generator, *, last: bool = False) -> OneNode:
    """Scales are powers of two, so that ties are exact and round half to even is seen."""
    placed, kind = draw(rng, 2), str(rng.choice(["uint8", "int8"]))
    x = whole(rng, [2, *placed.spatial], kind, 100)[None]
    x = np.moveaxis(x, 1, -1) if last else x
    w = whole(rng, [3, 2, *placed.kernel], "int8", 20)
    channels = [3] if rng.integers(2) else []
    scales = np.asarray(2.0 ** rng.integers(-3, 1, channels), np.float32)
    zeros = np.zeros(channels, np.int8) if last else whole(rng, channels, "int8", 5)
    x_quant = [np.float32(0.5), whole(rng, [], kind, 50)]
    y_quant = [np.float32(4.0), whole(rng, [], kind, 51)]
    inputs = [x, *x_quant, w, scales, zeros, *y_quant, whole(rng, [3], "int32", 300)]
    extra = {"channels_last": 1} if last else {}
    arrays = [np.asarray(value) for value in inputs]
    domain = "com.microsoft" if last else ""
    return OneNode("QLinearConv", arrays, placed.attributes | extra, domain=domain)


def qlinear_conv_last(rng: Generator) -> OneNode:
    return qlinear_conv(rng, last=True)


def conv_transpose(rng: Generator) -> OneNode:
    placed, group = draw(rng, int(rng.integers(1, 3))), int(rng.integers(1, 3))
    rank, attributes = len(placed.kernel), placed.attributes | {"group": group}
    strides, dilations = (np.array(attributes[name]) for name in ("strides", "dilations"))
    spatial = np.array(placed.spatial) % 4 + 2
    full = (spatial - 1) * strides + dilations * (np.array(placed.kernel) - 1) + 1
    if rng.integers(2):
        attributes["output_padding"] = rng.integers(0, strides).tolist()
    if rng.integers(3) == 0:
        attributes["output_shape"] = (full - rng.integers(-strides + 1, full)).tolist()
    if "pads" in attributes:
        attributes["pads"] = rng.integers(0, np.tile((full + 1) // 2, 2)).tolist()
    x = whole(rng, [2, 2 * group, *spatial.tolist()])
    w = whole(rng, [2 * group, 3, *placed.kernel])
    b = whole(rng, [3 * group]) if rng.integers(2) else None
    assert rank == len(spatial)
    return OneNode("ConvTranspose", [x, w, b], attributes)


def dynamic_conv_transpose(rng: Generator) -> OneNode:
    x, w, pads = whole(rng, [1, 2, 4, 5]), whole(rng, [2, 3, 3, 2]), rng.integers(0, 3, 4)
    attributes = {"strides": rng.integers(1, 3, 2).tolist()}
    inputs = [x, w, pads, whole(rng, [3])]
    return OneNode("ConvTransposeWithDynamicPads", inputs, attributes, domain="com.microsoft")


def _pool(rng: Generator, placed: Placed, **more: Any) -> dict[str, Any]:
    ceil = {"ceil_mode": int(rng.integers(2)), "kernel_shape": placed.kernel}
    return placed.attributes | ceil | more


def max_pool(rng: Generator) -> OneNode:
    placed = draw(rng, pool=True)
    x = whole(rng, [2, 2, *placed.spatial], str(rng.choice(["float32", "int8", "uint8"])), 120)
    order = int(rng.integers(2))
    opset = int(rng.choice([12, 22]))
    return OneNode("MaxPool", [x], _pool(rng, placed, storage_order=order), opset, outputs=2)


def nhwc_max_pool(rng: Generator) -> OneNode:
    placed = draw(rng, 2, pool=True)
    x = whole(rng, [1, *placed.spatial, 3], str(rng.choice(["int8", "uint8"])), 120)
    return OneNode("NhwcMaxPool", [x], _pool(rng, placed), domain="com.microsoft")


def average_pool(rng: Generator) -> OneNode:
    opset = int(rng.choice([10, 11, 19, 22]))
    placed = draw(rng, pool=True, dilated=opset >= 19)
    attributes = _pool(rng, placed, count_include_pad=int(rng.integers(2)))
    if opset < 19:
        del attributes["dilations"]
    return OneNode("AveragePool", [whole(rng, [2, 2, *placed.spatial])], attributes, opset)


def qlinear_average_pool(rng: Generator) -> OneNode:
    placed, last = draw(rng, 2, pool=True, dilated=False), int(rng.integers(2))
    x = whole(rng, [2, *placed.spatial], "uint8", 255)[None]
    attributes = _pool(rng, placed, count_include_pad=int(rng.integers(2)), channels_last=last)
    del attributes["dilations"]
    if attributes["count_include_pad"]:
        attributes["ceil_mode"] = 0
    values = [np.float32(0.5), np.uint8(77), np.float32(0.25), np.uint8(31)]
    inputs = [np.moveaxis(x, 1, -1) if last else x, *(np.asarray(value) for value in values)]
    return OneNode("QLinearAveragePool", inputs, attributes, domain="com.microsoft")


def lp_pool(rng: Generator) -> OneNode:
    placed, p = draw(rng, pool=True), int(rng.integers(1, 4))
    x = whole(rng, [2, 2, *placed.spatial])
    return OneNode("LpPool", [x], _pool(rng, placed, p=p), int(rng.choice([18, 22])))


def pad(rng: Generator) -> OneNode:
    """Each axis is padded or cropped on either side; reflection stays below what is left."""
    mode = str(rng.choice(["constant", "reflect", "edge", "wrap"]))
    kind, rank = str(rng.choice(["float32", "int32", "uint8"])), int(rng.integers(1, 4))
    spatial = rng.integers(4, 8, rank)
    crop = np.array([rng.permutation([int(rng.integers(0, 3)), 0]) for _ in range(rank)])
    room = spatial - crop.sum(axis=1)
    grow = np.where(crop > 0, 0, rng.integers(0, room[:, None], (rank, 2)))
    pads, axes, opset = (grow - crop).T.ravel(), None, 19
    if rng.integers(2):
        order = rng.permutation(rank)
        pads = (grow - crop)[order].T.ravel()
        axes = order - rank * rng.integers(0, 2, rank)
    elif mode != "wrap":
        opset = int(rng.choice([11, 13, 18]))
    value = np.asarray(5, kind) if rng.integers(2) else None
    x = whole(rng, spatial.tolist(), kind)
    inputs = [x, pads, value] if axes is None else [x, pads, value, axes]
    return OneNode("Pad", inputs, {"mode": mode}, opset)


RELATIVE: Mapping[Callable[[Generator], OneNode], float] = {average_pool: 1e-6, lp_pool: 1e-5}
DRAWN = (
    [conv] * 60
    + [fused_conv] * 10
    + [conv_integer] * 30
    + [qlinear_conv] * 40
    + [qlinear_conv_last] * 20
    + [conv_transpose] * 80
    + [dynamic_conv_transpose] * 10
    + [max_pool] * 80
    + [nhwc_max_pool] * 20
    + [average_pool] * 80
    + [qlinear_average_pool] * 30
    + [lp_pool] * 50
    + [pad] * 80
)


@pytest.mark.part(3)
@pytest.mark.parametrize(
    ("make", "seed"), [pytest.param(m, s, id=f"{m.__name__}-{s}") for s, m in enumerate(DRAWN)]
)
def test_agrees_with_onnxruntime(make: Callable[[Generator], OneNode], seed: int) -> None:
    node = make(np.random.default_rng(seed))
    expected = run_onnxruntime(node.model(), node.feed())
    found = run_model(node.model(), node.feed())
    assert found.keys() == expected.keys()
    assert_same(found["o0"], expected["o0"], RELATIVE.get(make, 0.0))
    if "o1" in found:
        real = found["o1"] >= 0
        np.testing.assert_array_equal(found["o1"][real], expected["o1"][real])
