"""Networks of the size of real ones, built on the spot: structure exact, weights random."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

SAME = "SAME_UPPER"


class Network:
    """Collects nodes and weights; convolutions have auto_pad=SAME_UPPER."""

    def __init__(self, channels: int = 3, size: int = 224, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)
        self.nodes: list[NodeProto] = []
        self.weights: list[TensorProto] = []
        self.last = "x"
        self.channels = channels
        self.shape = (1, channels, size, size)

    def conv(self, out: int, kernel: int, stride: int = 1, group: int = 1) -> str:
        """A convolution behind the last tensor."""
        name = f"conv{len(self.nodes)}"
        shape = (out, self.channels // group, kernel, kernel)
        weight = self._random.standard_normal(shape, np.float32) * 0.05
        self.weights.append(numpy_helper.from_array(weight, f"{name}_w"))
        self.nodes.append(
            helper.make_node(
                "Conv",
                [self.last, f"{name}_w"],
                [name],
                name=name,
                auto_pad=SAME,
                kernel_shape=[kernel, kernel],
                strides=[stride, stride],
                group=group,
            )
        )
        self.last, self.channels = name, out
        return name

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Any other node; without inputs it follows the last tensor."""
        name = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(kind, list(inputs) or [self.last], [name], name=name, **attributes)
        )
        self.last = name
        return name

    def model(self) -> ModelProto:
        """The model, opset 17."""
        graph = helper.make_graph(
            self.nodes,
            "network",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)],
            [helper.make_tensor_value_info(self.last, TensorProto.FLOAT, None)],
            self.weights,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def resnet50() -> ModelProto:
    """ResNet-50 at 224: 53 convolutions and a max pool, about 100 MB."""
    net = Network()
    net.conv(64, 7, 2)
    net.op("Relu")
    net.op("MaxPool", auto_pad=SAME, kernel_shape=[3, 3], strides=[2, 2])
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            _bottleneck(net, width, stride if block == 0 else 1, first=block == 0)
    net.op("GlobalAveragePool")
    return net.model()


def _bottleneck(net: Network, width: int, stride: int, *, first: bool) -> None:
    source, channels = net.last, net.channels
    shortcut = source
    if first:
        shortcut = net.conv(4 * width, 1, stride)
        net.last, net.channels = source, channels
    net.conv(width, 1)
    net.op("Relu")
    net.conv(width, 3, stride)
    net.op("Relu")
    net.conv(4 * width, 1)
    net.op("Add", net.last, shortcut)
    net.op("Relu")


def mobilenetv2() -> ModelProto:
    """MobileNetV2 at 224: 52 convolutions, about 14 MB."""
    net = Network()
    net.conv(32, 3, 2)
    net.op("Relu")
    plan = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1))
    for expand, out, blocks, stride in (*plan, (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(blocks):
            _inverted(net, expand, out, stride if block == 0 else 1)
    net.conv(1280, 1)
    net.op("GlobalAveragePool")
    net.conv(1000, 1)
    return net.model()


def _inverted(net: Network, expand: int, out: int, stride: int) -> None:
    source, channels = net.last, net.channels
    if expand > 1:
        net.conv(channels * expand, 1)
        net.op("Relu")
    net.conv(net.channels, 3, stride, group=net.channels)
    net.op("Relu")
    net.conv(out, 1)
    if stride == 1 and channels == out:
        net.op("Add", net.last, source)


def chain(count: int) -> ModelProto:
    """`count` nodes in a row: Conv, Relu, MaxPool, each Conv with a weight of its own."""
    net = Network(channels=2, size=32)
    for index in range(count):
        match index % 3:
            case 0:
                net.conv(2, 3)
            case 1:
                net.op("Relu")
            case _:
                net.op("MaxPool", auto_pad=SAME, kernel_shape=[3, 3])
    return net.model()


def external(path: Path, gigabytes: float, convs: int = 100) -> None:
    """A model of convolutions whose weights lie in a sparse file beside it."""
    size = int(gigabytes * 2**30 / convs) // 4096 * 4096
    channels = 512
    rows = size // (channels * 4 * 9)
    net = Network(channels=channels, size=64)
    for index in range(convs):
        name = f"conv{index}"
        tensor = TensorProto(name=f"{name}_w", data_type=TensorProto.FLOAT)
        tensor.dims.extend((rows if index % 2 else channels, channels, 3, 3))
        tensor.data_location = TensorProto.EXTERNAL
        length = 4 * int(np.prod(tensor.dims))
        for key, value in (("location", path.stem + ".data"), ("offset", index * size)):
            tensor.external_data.add(key=key, value=str(value))
        tensor.external_data.add(key="length", value=str(min(length, size)))
        net.weights.append(tensor)
        net.op("Conv", "x", f"{name}_w", auto_pad=SAME)
    path.write_bytes(net.model().SerializeToString())
    with path.with_suffix(".data").open("wb") as data:
        data.truncate(size * convs)
