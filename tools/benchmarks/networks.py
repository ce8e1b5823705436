"""Networks of the size of real ones, built on the spot: structure exact, weights random."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

SAME = "SAME_UPPER"


class Network:
    """Collects nodes and weights."""

    def __init__(self, channels: int = 3, size: int = 224, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)
        self.nodes: list[NodeProto] = []
        self.weights: list[TensorProto] = []
        self.last = "x"
        self.channels = channels
        self.shape: tuple[int | str, ...] = (1, channels, size, size)
        self._widths: dict[str, int] = {}

    def conv(self, out: int, kernel: int, stride: int = 1, group: int = 1) -> str:
        """A convolution behind the last tensor, with auto_pad=SAME_UPPER."""
        return self._convolution(out, kernel, stride, group, auto_pad=SAME)

    def padded_conv(self, out: int, kernel: int, stride: int = 1, pad: int | None = None) -> str:
        """The same with pads, by default the half of the kernel at each side."""
        pads = [kernel // 2 if pad is None else pad] * 4
        return self._convolution(out, kernel, stride, 1, pads=pads)

    def same_conv(self, out: int, kernel: int, stride: int, group: int = 1) -> str:
        """The same behind a Pad whose pads the graph computes from the sizes that it meets."""
        source = self.last
        shape = self.op("Shape", source)
        sides = [side for axis in (3, 2) for side in self._same_pads(shape, axis, kernel, stride)]
        listed = self.op("Concat", *sides, self._constant([0, 0, 0, 0]), axis=0)
        pairs = self.op("Reshape", listed, self._constant([-1, 2]))
        turned = self.op("Slice", pairs, *map(self._constant, ([-1], [-(2**63) + 1], [0], [-1])))
        flat = self.op("Reshape", self.op("Transpose", turned, perm=[1, 0]), self._constant([-1]))
        self.op("Pad", source, self.op("Cast", flat, to=TensorProto.INT64), mode="constant")
        return self._convolution(out, kernel, stride, group, pads=[0] * 4)

    def width_of(self, tensor: str) -> int:
        """The channels of what a convolution, or what follows it, writes."""
        return self._widths[tensor]

    def _same_pads(self, shape: str, axis: int, kernel: int, stride: int) -> tuple[str, str]:
        """Begin and end: (ceil(size / stride) - 1) * stride + kernel - size, the half first.

        Divided in floating point and clipped at 0, as timm 1.0 has it.
        """
        whole = self.op("Gather", shape, self._constant(axis), axis=0)
        size = self.op("Cast", whole, to=TensorProto.FLOAT)
        count = self.op("Ceil", self.op("Div", size, self._constant(float(stride))))
        before = self.op("Sub", count, self._constant(1.0))
        reach = self.op("Mul", before, self._constant(float(stride)))
        wide = self.op(
            "Add", self.op("Add", reach, self._constant(kernel - 1.0)), self._constant(1.0)
        )
        total = self.op("Clip", self.op("Sub", wide, size), self._constant(0.0))
        total = self.op("Cast", total, to=TensorProto.INT64)
        begin = self.op("Div", total, self._constant(2))
        end = self.op("Sub", total, begin)
        first, second = (self.op("Unsqueeze", side, self._constant([0])) for side in (begin, end))
        return first, second

    def _constant(self, value: float | list[int]) -> str:
        name = f"constant{len(self.nodes)}"
        held = numpy_helper.from_array(
            np.array(value, np.float32 if isinstance(value, float) else np.int64)
        )
        self.nodes.append(helper.make_node("Constant", [], [name], name=name, value=held))
        return name

    def _convolution(self, out: int, kernel: int, stride: int, group: int, **padding: Any) -> str:
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
                **padding,
                kernel_shape=[kernel, kernel],
                strides=[stride, stride],
                group=group,
            )
        )
        self.last, self.channels = name, out
        self._widths[name] = out
        return name

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Any other node; without inputs it follows the last tensor."""
        name = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(kind, list(inputs) or [self.last], [name], name=name, **attributes)
        )
        self.last = name
        self._widths[name] = self.channels
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


def shared(count: int) -> ModelProto:
    """`count` nodes in a row that read one weight and the pads of one initializer."""
    net = Network(channels=2, size=32)
    pads = numpy_helper.from_array(np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64), "pads")
    net.weights += [_weight(), pads]
    for _ in range(count // 4):
        net.op("Pad", net.last, "pads")
        net.op("Conv", net.last, "weight")
        net.op("Conv", net.last, "weight", auto_pad=SAME)
        net.op("Relu")
    return net.model()


def inputs(count: int) -> ModelProto:
    """Half of `count` inputs, each with a Conv and a Relu of its own, and as many results."""
    net = Network(channels=2, size=8)
    net.weights.append(_weight())
    given, made = [], []
    for index in range(count // 2):
        given.append(helper.make_tensor_value_info(f"in{index}", TensorProto.FLOAT, (1, 2, 8, 8)))
        net.op("Conv", f"in{index}", "weight", auto_pad=SAME)
        made.append(helper.make_tensor_value_info(net.op("Relu"), TensorProto.FLOAT, None))
    model = net.model()
    model.graph.ClearField("input")
    model.graph.ClearField("output")
    model.graph.input.extend(given)
    model.graph.output.extend(made)
    return model


def ifs(count: int) -> ModelProto:
    """`count` nodes: a Pad, and an If with a Conv behind that Pad in each of its branches."""
    net = Network(channels=2, size=8)
    pads = numpy_helper.from_array(np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64), "pads")
    net.weights += [_weight(), pads]
    for index in range(count // 4):
        padded = net.op("Pad", net.last, "pads")
        branches = [_branch(f"{side}{index}", padded) for side in ("then", "else")]
        net.op("If", "condition", then_branch=branches[0], else_branch=branches[1])
    model = net.model()
    model.graph.input.append(helper.make_tensor_value_info("condition", TensorProto.BOOL, ()))
    return model


def _weight() -> TensorProto:
    return numpy_helper.from_array(np.ones((2, 2, 3, 3), np.float32), "weight")


def _branch(name: str, read: str) -> GraphProto:
    conv = helper.make_node("Conv", [read, "weight"], [name], name=name, auto_pad=SAME)
    made = helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
    return helper.make_graph([conv], name, [], [made])


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


def resnet34() -> ModelProto:
    """ResNet-34 as PyTorch writes it, pads of both sides alike, with an open batch."""
    net = Network()
    net.shape = ("N", 3, 224, 224)
    net.padded_conv(64, 7, 2)
    net.op("Relu")
    net.op("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            _basic(net, width, stride if block == 0 else 1)
    net.op("GlobalAveragePool")
    return net.model()


def _basic(net: Network, width: int, stride: int) -> None:
    source, channels = net.last, net.channels
    shortcut = source
    if stride > 1:
        shortcut = net.padded_conv(width, 1, stride)
        net.last, net.channels = source, channels
    net.padded_conv(width, 3, stride)
    net.op("Relu")
    net.padded_conv(width, 3)
    net.op("Add", net.last, shortcut)
    net.op("Relu")


def squeezenet(*sizes: int | str) -> ModelProto:
    """SqueezeNet-1.0 as PyTorch writes it: 26 convolutions, three max pools that round up."""
    net = Network()
    net.shape = sizes or net.shape
    net.padded_conv(96, 7, 2, pad=0)
    net.op("Relu")
    for stage in (((16, 64), (16, 64), (32, 128)), ((32, 128), (48, 192), (48, 192), (64, 256))):
        net.op("MaxPool", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
        for squeeze, expand in stage:
            _fire(net, squeeze, expand)
    net.op("MaxPool", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
    _fire(net, 64, 256)
    net.padded_conv(1000, 1)
    net.op("Relu")
    net.op("GlobalAveragePool")
    return net.model()


def open_squeezenet() -> ModelProto:
    """The same with an input of any size."""
    return squeezenet("N", 3, "H", "W")


def _fire(net: Network, squeeze: int, expand: int) -> None:
    net.padded_conv(squeeze, 1)
    source = net.op("Relu")
    sides = []
    for kernel in (1, 3):
        net.last, net.channels = source, squeeze
        net.padded_conv(expand, kernel)
        sides.append(net.op("Relu"))
    net.op("Concat", *sides, axis=1)
    net.channels = 2 * expand


def computed_pads() -> ModelProto:
    """EfficientNet-B0 with open sizes, each convolution behind a Pad that the graph computes.

    The pads are computed as TorchScript writes timm's `pad_same`, one Constant for each number.
    """
    net = Network()
    net.shape = ("N", 3, "H", "W")
    net.same_conv(32, 3, 2)
    net.op("Relu")
    plan = ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3))
    for expand, out, blocks, stride, kernel in (
        *plan,
        (6, 112, 3, 1, 5),
        (6, 192, 4, 2, 5),
        (6, 320, 1, 1, 3),
    ):
        for block in range(blocks):
            _inverted_same(net, (expand, out, kernel), stride if block == 0 else 1)
    net.same_conv(1280, 1, 1)
    net.op("GlobalAveragePool")
    return net.model()


def _inverted_same(net: Network, plan: tuple[int, int, int], stride: int) -> None:
    expand, out, kernel = plan
    source, channels = net.last, net.channels
    if expand > 1:
        net.same_conv(channels * expand, 1, 1)
        net.op("Relu")
    net.same_conv(net.channels, kernel, stride, group=net.channels)
    net.op("Relu")
    wide = net.last
    net.op("GlobalAveragePool")
    net.same_conv(max(1, channels // 4), 1, 1)
    net.op("Relu")
    net.same_conv(net.width_of(wide), 1, 1)
    net.op("Mul", wide, net.op("Sigmoid"))
    net.same_conv(out, 1, 1)
    if stride == 1 and channels == out:
        net.op("Add", net.last, source)
