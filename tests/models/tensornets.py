"""TensorNets' residual networks as ONNX: structure and padding as they are, width reduced.

After taehoonlee/tensornets, resnets.py: `case` 'stated' pads as each variant does there, 1 and 2
pad strided windows of more than one cell as SAME (asymmetric) or by k//2 on both sides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

Case = Literal["stated", 1, 2]
Block = Callable[["Net", str, str, int, int, bool], str]
SIZE, STEM = 64, 8


@dataclass(frozen=True)
class Variant:
    """`pool` is the padding of pool1 as TensorNets states it, (begin, end)."""

    block: Block
    filters: int
    blocks: tuple[int, int, int, int]
    pool: tuple[int, int] = (1, 1)
    preact: bool = False
    slim: bool = False


class Net:
    """Writes nodes one after the other; methods give the name of what they made."""

    def __init__(self, case: Case, seed: int = 0) -> None:
        self.case = case
        self.nodes: list[NodeProto] = []
        self.weights: list[TensorProto] = []
        self.channels = {"x": 3}
        self._random = np.random.default_rng(seed)

    def add(self, op: str, name: str, *inputs: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, list(inputs), [name], name, **attributes))
        self.channels[name] = self.channels[inputs[0]]
        return name

    def constant(self, name: str, values: Any) -> str:
        self.weights.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def pad(self, x: str, name: str, pair: tuple[int, int], mode: str = "constant") -> str:
        begin, end = pair
        pads = self.constant(f"{name}/pads", np.array([0, 0, begin, begin, 0, 0, end, end]))
        return self.add("Pad", name, x, pads, mode=mode)

    def window(self, kernel: int, stride: int, stated: tuple[int, int]) -> tuple[int, int]:
        half = kernel // 2
        if self.case == "stated":
            return stated
        return (half - 1, half) if self.case == 1 and stride > 1 else (half, half)

    def conv(self, x: str, name: str, filters: int, kernel: int, stride: int, **more: Any) -> str:
        """A convolution behind a Pad of k//2, or none with `same`."""
        same, groups = more.pop("same", False), more.get("group", 1)
        if kernel > 1 and not same:
            half = kernel // 2
            x = self.pad(x, f"{name}/pad", self.window(kernel, stride, (half, half)))
        shape = (filters, self.channels[x] // groups, kernel, kernel)
        scale = (2.0 / (shape[1] * kernel * kernel)) ** 0.5
        values = self._random.standard_normal(shape).astype(np.float32) * np.float32(scale)
        weight = self.constant(f"{name}/w", values)
        if same:
            more["pads"] = [kernel // 2] * 4
        made = self.add("Conv", name, x, weight, strides=[stride] * 2, **more)
        self.channels[made] = filters
        return made

    def norm(self, x: str, name: str) -> str:
        count, draw = self.channels[x], self._random
        rows = (draw.uniform(0.5, 1, count), draw.normal(0, 0.1, count), np.zeros(count))
        held = [self.constant(f"{name}/{i}", row.astype(np.float32)) for i, row in enumerate(rows)]
        one = self.constant(f"{name}/v", np.ones(count, np.float32))
        return self.add("BatchNormalization", name, x, *held, one)

    def convbn(self, x: str, name: str, filters: int, kernel: int, stride: int, **m: Any) -> str:
        return self.norm(self.conv(x, name, filters, kernel, stride, **m), f"{name}/bn")

    def relu(self, x: str, name: str) -> str:
        return self.add("Relu", f"{name}/relu", x)


def block1(net: Net, x: str, name: str, filters: int, stride: int, shortcut: bool) -> str:
    short = net.convbn(x, f"{name}/0", 4 * filters, 1, stride) if shortcut else x
    y = net.relu(net.convbn(x, f"{name}/1", filters, 1, stride), f"{name}/1")
    y = net.relu(net.convbn(y, f"{name}/2", filters, 3, 1, same=True), f"{name}/2")
    y = net.convbn(y, f"{name}/3", 4 * filters, 1, 1)
    return net.relu(net.add("Add", f"{name}/add", y, short), f"{name}/out")


def block2(net: Net, x: str, name: str, filters: int, stride: int, shortcut: bool) -> str:
    short = net.convbn(x, f"{name}/0", 4 * filters, 1, stride) if shortcut else x
    y = net.relu(net.norm(x, f"{name}/pre"), f"{name}/pre")
    y = net.relu(net.convbn(y, f"{name}/1", filters, 1, 1), f"{name}/1")
    y = net.relu(net.convbn(y, f"{name}/2", filters, 3, stride), f"{name}/2")
    return net.add("Add", f"{name}/out", net.conv(y, f"{name}/3", 4 * filters, 1, 1), short)


def block2_slim(net: Net, x: str, name: str, filters: int, stride: int, shortcut: bool) -> str:
    pre = net.relu(net.norm(x, f"{name}/pre"), f"{name}/pre")
    short = x
    if shortcut:
        short = net.conv(pre, f"{name}/0", 4 * filters, 1, stride)
    elif stride > 1:
        one = {"kernel_shape": [1, 1], "strides": [stride] * 2}
        short = net.add("MaxPool", f"{name}/0", x, **one)
    y = net.relu(net.convbn(pre, f"{name}/1", filters, 1, 1), f"{name}/1")
    y = net.relu(net.convbn(y, f"{name}/2", filters, 3, stride), f"{name}/2")
    return net.add("Add", f"{name}/out", net.conv(y, f"{name}/3", 4 * filters, 1, 1), short)


def block3(
    groups: int, widened: float, net: Net, x: str, name: str, filters: int, stride: int, short: bool
) -> str:
    wide = int(filters * widened)
    kept = net.convbn(x, f"{name}/0", wide, 1, stride) if short else x
    y = net.relu(net.convbn(x, f"{name}/1", filters, 1, 1), f"{name}/1")
    y = net.relu(net.convbn(y, f"{name}/2", filters, 3, stride, group=groups), f"{name}/2")
    y = net.convbn(y, f"{name}/3", wide, 1, 1)
    return net.relu(net.add("Add", f"{name}/add", y, kept), f"{name}/out")


C32, C64, WIDE = partial(block3, 32, 2), partial(block3, 64, 1), partial(block3, 1, 2)
SLIM = {"pool": (0, 1), "preact": True, "slim": True}
VARIANTS: dict[str, Variant] = {
    "ResNet50": Variant(block1, 4, (3, 4, 6, 3)),
    "ResNet101": Variant(block1, 4, (3, 4, 23, 3)),
    "ResNet152": Variant(block1, 4, (3, 8, 36, 3)),
    "ResNet50v2": Variant(block2_slim, 4, (3, 4, 6, 3), **SLIM),  # type: ignore[arg-type]
    "ResNet101v2": Variant(block2_slim, 4, (3, 4, 23, 3), **SLIM),  # type: ignore[arg-type]
    "ResNet152v2": Variant(block2_slim, 4, (3, 8, 36, 3), **SLIM),  # type: ignore[arg-type]
    "ResNet200v2": Variant(block2, 4, (3, 24, 36, 3)),
    "ResNeXt50c32": Variant(C32, 32, (3, 4, 6, 3)),
    "ResNeXt101c32": Variant(C32, 32, (3, 4, 23, 3)),
    "ResNeXt101c64": Variant(C64, 64, (3, 4, 23, 3)),
    "WideResNet50": Variant(WIDE, 4, (3, 4, 6, 3)),
}


def network(name: str, case: Case) -> ModelProto:
    """A variant with images of 64 by 64; weights depend on the variant only."""
    variant = VARIANTS[name]
    net = Net(case, len(name) + 1000 * list(VARIANTS).index(name))
    y = net.conv("x", "conv1", STEM, 7, 2)
    if not variant.preact:
        y = net.relu(net.norm(y, "conv1/bn"), "conv1")
    y = net.pad(y, "pool1/pad", net.window(3, 2, variant.pool), "edge")
    y = net.add("MaxPool", "pool1", y, kernel_shape=[3, 3], strides=[2, 2])
    for index, count in enumerate(variant.blocks):
        last = index == len(variant.blocks) - 1
        for block in range(count):
            edge = block == count - 1 if variant.slim else block == 0
            strided = edge and (not last if variant.slim else index > 0)
            filters, stride = variant.filters * 2**index, 2 if strided else 1
            place = f"conv{index + 2}/block{block + 1}"
            y = variant.block(net, y, place, filters, stride, block == 0)
    if variant.preact or name == "ResNet200v2":
        y = net.relu(net.norm(y, "postnorm"), "postnorm")
    net.add("GlobalAveragePool", "y", y)
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        net.nodes,
        name,
        [info("x", TensorProto.FLOAT, [1, 3, SIZE, SIZE])],
        [info("y", TensorProto.FLOAT, [1, net.channels["y"], 1, 1])],
        net.weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
