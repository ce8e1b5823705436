"""Random small networks, each with the padding that is right and one that is wrong."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper

from tests.diagnosis.ways import Layer, Sizes, flat, sizes_after, written

Array = NDArray[Any]
CHANNELS = 4
OPERATORS = {
    "conv": "Conv",
    "max": "MaxPool",
    "average": "AveragePool",
    "transposed": "ConvTranspose",
}
# Which way each kind of layer is padded in, by framework; a Pad node in front stands for "hand".
FRAMEWORKS: dict[str, dict[str, tuple[str, ...]]] = {
    "tensorflow": {
        "conv": ("upper",), "max": ("upper",), "average": ("upper",), "transposed": ("upper",),
    },
    "pytorch": {
        "conv": ("symmetric",), "max": ("symmetric",), "average": ("symmetric counted",),
        "transposed": ("symmetric",),
    },
    "caffe": {
        "conv": ("symmetric",), "max": ("symmetric ceil", "ceil"),
        "average": ("symmetric ceil counted", "ceil"), "transposed": ("plain",),
    },
    "lower": {
        "conv": ("lower",), "max": ("lower",), "average": ("lower",), "transposed": ("lower",),
    },
    "hand": {
        "conv": ("hand", "hand symmetric"), "max": ("hand", "upper"),
        "average": ("upper counted",), "transposed": ("upper",),
    },
    "none": {
        "conv": ("valid", "symmetric"), "max": ("valid", "ceil"), "average": ("valid",),
        "transposed": ("none", "plain"),
    },
}  # fmt: skip


@dataclass(frozen=True)
class Step:
    """A layer, its two ways, and whether a second path joins behind it."""

    layer: Layer
    right: str
    wrong: str
    residual: bool


@dataclass(frozen=True)
class Spec:
    """What `build` makes a model from; `head` is features, pooled or dense."""

    seed: int
    sizes: Sizes
    steps: tuple[Step, ...]
    head: str
    dynamic: bool

    @property
    def wrong_count(self) -> int:
        return sum(step.right != step.wrong for step in self.steps)


def drawn(seed: int, longest: int = 9) -> Spec:
    """A network of 3 to 9 padded layers in one, two or three dimensions."""
    random = Random(seed)
    rank = random.choice((1, 2, 2, 2, 3))
    length = random.randint(3 if longest < 10 else 8, longest if rank < 3 else longest * 5 // 9)
    dynamic = random.random() < 0.2
    right, wrong = random.sample(sorted(FRAMEWORKS), 2)
    part = random.choice((0.3, 0.6, 1.0))
    odd = random.random() < 0.3
    size = random.randint(24, 64) if rank == 1 else random.randint(20, 44 if rank == 2 else 24)
    steps, strided = [], 1
    for _ in range(length):
        layer = _layer(random, rank, may_stride=strided < size // 4)
        strided *= max(layer.stride) if layer.op != "transposed" else 1
        truth = random.choice(FRAMEWORKS[right][layer.op])
        other = random.choice(FRAMEWORKS[wrong][layer.op]) if random.random() < part else truth
        if odd and random.random() < 0.3:
            truth = random.choice(FRAMEWORKS[random.choice(sorted(FRAMEWORKS))][layer.op])
        residual = layer.op == "conv" and random.random() < 0.25
        steps.append(Step(layer, truth, other, residual))
    sizes = (size,) * rank if random.random() < 0.6 else tuple(size + n for n in range(rank))
    head = random.choice(("features", "features", "pooled", "dense"))
    return Spec(
        seed, sizes, tuple(steps), "pooled" if dynamic and head == "dense" else head, dynamic
    )


def _layer(random: Random, rank: int, *, may_stride: bool) -> Layer:
    op = random.choice(("conv", "conv", "conv", "conv", "max", "average", "transposed"))
    stride = random.choice((1, 2, 2, 2, 3)) if may_stride else 1
    if op == "transposed":
        return Layer(op, (random.choice((3, 4, 5)),) * rank, (2,) * rank, (1,) * rank)
    if op in ("max", "average"):
        return Layer(op, (random.choice((2, 3, 3)),) * rank, (max(stride, 2),) * rank, (1,) * rank)
    kernel = random.choice((1, 2, 3, 3, 3, 4, 5, 7) if rank < 3 else (1, 2, 3, 3))
    dilation = random.choice((1, 1, 1, 2)) if stride == 1 else 1
    group = random.choice((1, 1, 1, 4))
    kernels = [kernel] * rank
    if rank == 2 and random.random() < 0.15:
        kernels[1] = random.choice((1, 3, 5))
    return Layer(op, tuple(kernels), (stride,) * rank, (dilation,) * rank, group)


class Unbuildable(Exception):
    """The layers leave no cell."""


class _Graph:
    """One of the two models; `joins` are the steps whose second path fits in the right one."""

    def __init__(self, spec: Spec, which: str, joins: Collection[int] | None = None) -> None:
        self.spec, self.which = spec, which
        self.weights = np.random.default_rng(spec.seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[TensorProto] = []
        self.sizes = spec.sizes
        self.known = joins
        self.joins: set[int] = set()

    def constant(self, name: str, value: Array) -> str:
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def add(self, op: str, inputs: Sequence[str], name: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, list(inputs), [f"{name}:0"], name, **attributes))
        return f"{name}:0"

    def layer(self, x: str, name: str, layer: Layer, way: str) -> str:
        found = written(layer, way.removesuffix(" counted"), self.sizes, dynamic=self.spec.dynamic)
        if found.front is not None:
            pads = np.array(flat([(0, 0), (0, 0), *found.front]), np.int64)
            x = self.add("Pad", [x, self.constant(f"{name}_p", pads)], f"{name}_pad")
        attributes = dict(found.attributes)
        attributes |= {"kernel_shape": layer.kernel, "strides": layer.stride}
        inputs = [x]
        if layer.op in ("conv", "transposed"):
            attributes |= {"dilations": layer.dilation, "group": layer.group}
            inputs += self.filters(name, layer)
        if layer.op == "average":
            attributes["count_include_pad"] = int(way.endswith("counted"))
        self.sizes = sizes_after(layer, self.sizes, found)
        if min(self.sizes) < 1:
            raise Unbuildable
        return self.add(OPERATORS[layer.op], inputs, name, **attributes)

    def filters(self, name: str, layer: Layer) -> list[str]:
        cells = int(np.prod(layer.kernel)) * CHANNELS // layer.group
        shape = (CHANNELS, CHANNELS // layer.group, *layer.kernel)
        value = self.weights.standard_normal(shape) * np.sqrt(1.7 / cells)
        bias = 0.2 * self.weights.standard_normal(CHANNELS)
        return [
            self.constant(f"{name}_w", value.astype(np.float32)),
            self.constant(f"{name}_b", bias.astype(np.float32)),
        ]

    def step(self, x: str, index: int, step: Step) -> str:
        before = self.sizes
        y = self.layer(x, f"n{index}", step.layer, getattr(step, self.which))
        if step.residual:
            y = self.joined(x, y, index, step, before)
        if step.layer.op in ("conv", "transposed") and index % 3:
            y = self.add("LeakyRelu", [y], f"n{index}_act", alpha=0.2)
        return y

    def joined(self, x: str, y: str, index: int, step: Step, before: Sizes) -> str:
        behind, self.sizes = self.sizes, before
        ones = (1,) * len(before)
        short = Layer("conv", ones, step.layer.stride, ones)
        z = self.layer(x, f"n{index}b", short, "valid")
        fits = self.sizes == behind if self.known is None else index in self.known
        self.sizes = behind
        if not fits:
            self.nodes.pop()
            del self.constants[-2:]
            return y
        self.joins.add(index)
        return self.add("Add", [y, z], f"n{index}_add")

    def head(self, x: str, features: Sizes) -> str:
        if self.spec.head == "pooled":
            return self.add("GlobalAveragePool", [x], "gap")
        if self.spec.head == "dense":
            count = CHANNELS * int(np.prod(features))
            value = self.weights.standard_normal((count, 6)) / np.sqrt(count)
            x = self.add("Flatten", [x], "flat")
            return self.add("MatMul", [x, self.constant("fc_w", value.astype(np.float32))], "fc")
        return x


def models(spec: Spec) -> tuple[ModelProto, ModelProto]:
    """The right model and the wrong one. Raises Unbuildable where the right one has no cell."""
    right = _Graph(spec, "right")
    x = _chained(right)
    features = right.sizes
    wrong = _Graph(spec, "wrong", right.joins)
    z = _chained(wrong)
    return _model(right, right.head(x, features)), _model(wrong, wrong.head(z, features))


def _chained(graph: _Graph) -> str:
    x = "x"
    for index, step in enumerate(graph.spec.steps):
        x = graph.step(x, index, step)
    return x


def _model(graph: _Graph, y: str) -> ModelProto:
    rank = len(graph.spec.sizes)
    sizes: list[Any] = [f"d{n}" for n in range(rank)] if graph.spec.dynamic else [*graph.spec.sizes]
    given = helper.make_tensor_value_info("x", 1, [1, CHANNELS, *sizes])
    made = helper.make_tensor_value_info(y, 1, None)
    content = helper.make_graph(graph.nodes, "network", [given], [made], graph.constants)
    return helper.make_model(content, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
