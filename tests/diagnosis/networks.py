"""Networks whose padding a test chooses node by node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import ModelProto, helper, numpy_helper

Array = NDArray[Any]
SYMMETRIC, UPPER = "symmetric", "upper"


class Builder:
    """Adds nodes to a graph; `pads` says by name what padding a node has."""

    def __init__(self, pads: Mapping[str, str], seed: int = 0) -> None:
        self.pads = pads
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def weight(self, name: str, value: Array) -> str:
        self.weights.append(numpy_helper.from_array(value.astype(np.float32), name))
        return name

    def add(self, op: str, inputs: Sequence[str], name: str, **attributes: Any) -> str:
        output = f"{name}_out"
        self.nodes.append(helper.make_node(op, list(inputs), [output], name, **attributes))
        return output

    def conv(
        self, x: str, name: str, shape: tuple[int, int, int], stride: int = 1, *, relu: bool = True
    ) -> str:
        outs, ins, kernel = shape
        w = self.random.standard_normal((outs, ins, kernel, kernel))
        w *= np.sqrt(1.6 / (ins * kernel * kernel))
        names = [self.weight(f"{name}_w", w)]
        names.append(self.weight(f"{name}_b", 0.1 * self.random.standard_normal(outs)))
        y = self.add(
            "Conv",
            [x, *names],
            name,
            kernel_shape=[kernel, kernel],
            strides=[stride, stride],
            pads=self.placed(name, kernel, stride),
        )
        return self.add("Relu", [y], f"{name}_relu") if relu else y

    def pool(self, x: str, op: str, name: str, **attributes: Any) -> str:
        return self.add(
            op,
            [x],
            name,
            kernel_shape=[3, 3],
            strides=[2, 2],
            pads=self.placed(name, 3, 2),
            **attributes,
        )

    def placed(self, name: str, kernel: int, stride: int) -> list[int]:
        """Pads over even sizes: alike at both sides, or the odd cell at the end."""
        half = kernel // 2
        if stride == 1 or kernel == 1 or self.pads.get(name, SYMMETRIC) == SYMMETRIC:
            return [half] * 4
        total = kernel - stride
        return [total // 2] * 2 + [total - total // 2] * 2

    def model(self, y: str, shape: Sequence[int], out: Sequence[int]) -> ModelProto:
        graph = helper.make_graph(
            self.nodes,
            "network",
            [helper.make_tensor_value_info("x", 1, list(shape))],
            [helper.make_tensor_value_info(y, 1, list(out))],
            self.weights,
        )
        opsets = [helper.make_opsetid("", 17)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def resnet(
    pads: Mapping[str, str],
    *,
    blocks: Sequence[int] = (1, 1, 1, 1),
    width: int = 8,
    size: int = 64,
    classes: int = 10,
    seed: int = 0,
) -> ModelProto:
    """A ResNet of bottlenecks; blocks (3, 4, 6, 3), width 64 and size 224 is ResNet-50.

    Strides stand at the 3x3 convolutions (v1.5), shortcuts that halve begin with an average pool
    of 3x3. Names of the eight nodes whose padding is a question: `AMBIGUOUS`.
    """
    build = Builder(pads, seed)
    x = build.conv("x", "stem", (width, 3, 7), 2)
    x = build.pool(x, "MaxPool", "pool")
    ins = width
    for stage, count in enumerate(blocks):
        inner = width * 2**stage
        for block in range(count):
            name, stride = f"s{stage}b{block}", 2 if stage and not block else 1
            short = x
            if stride == 2:
                short = build.pool(x, "AveragePool", f"{name}_avg", count_include_pad=0)
            if not block:
                short = build.conv(short, f"{name}_short", (inner * 4, ins, 1), relu=False)
            y = build.conv(x, f"{name}_1", (inner, ins, 1))
            y = build.conv(y, f"{name}_2", (inner, inner, 3), stride)
            y = build.conv(y, f"{name}_3", (inner * 4, inner, 1), relu=False)
            half = build.weight(f"{name}_half", np.array(0.6))
            y = build.add("Mul", [build.add("Add", [y, short], f"{name}_add"), half], f"{name}_mul")
            x = build.add("Relu", [y], f"{name}_relu")
            ins = inner * 4
    x = build.add("GlobalAveragePool", [x], "gap")
    x = build.add("Flatten", [x], "flat")
    w = build.weight("fc_w", build.random.standard_normal((ins, classes)) / np.sqrt(ins))
    y = build.add("MatMul", [x, w], "fc")
    return build.model(y, [1, 3, size, size], [1, classes])


AMBIGUOUS = ("stem", "pool", "s1b0_avg", "s1b0_2", "s2b0_avg", "s2b0_2", "s3b0_avg", "s3b0_2")
