"""Random networks that had the right padding and were damaged in one to five places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from tests.retargeting.running import outputs

Array = NDArray[Any]
FILLS = (0.5, -1.0, 114 / 255, -0.37, 1.0)
OPERATORS = {"conv": "Conv", "max": "MaxPool", "average": "AveragePool"}
_IMAGE = 3
_SEEN = 1e-3


@dataclass(frozen=True)
class Way:
    """How a layer is padded: by `pads` of its own or `auto`, or by a Pad in front (`front`)."""

    pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    auto: str = ""
    front: tuple[int, int, int, int] = (0, 0, 0, 0)
    mode: str = "constant"
    fill: float = 0.0
    ceil: int = 0
    counts: int = 1


@dataclass(frozen=True)
class Layer:
    """One layer as it has to be, and as it is: `damage` says what was done to it."""

    op: str
    kernel: int
    stride: int
    activation: str
    right: Way
    wrong: Way
    damage: str = ""


@dataclass(frozen=True)
class Network:
    """A chain of layers; `samples` are sizes, open ones where they may differ."""

    seed: int
    channels: int
    layers: tuple[Layer, ...]
    sizes: tuple[tuple[int, int], ...]
    is_open: bool

    @property
    def damages(self) -> tuple[str, ...]:
        return tuple(layer.damage for layer in self.layers if layer.damage)


@dataclass
class Case:
    """The damaged model, its samples, and one more that no diagnosis sees."""

    network: Network
    right: ModelProto
    wrong: ModelProto
    x: list[Array] = field(default_factory=list)
    y: list[Array] = field(default_factory=list)


def case(seed: int, most: int = 5) -> Case:
    """The network of a seed: only damage that the first sample shows is left in it."""
    return made(_drawn(Random(seed), seed, most))


def made(network: Network) -> Case:
    """The models and values of a network, without the damage that the first sample hides."""
    drawn, seed = _shown(network), network.seed
    found = Case(drawn, model(drawn, "right"), model(drawn, "wrong"))
    values = np.random.default_rng(seed)
    for height, width in (*drawn.sizes, drawn.sizes[-1]):
        x = values.standard_normal((1, _IMAGE, height, width)).astype(np.float32)
        found.x.append(x)
        found.y.append(outputs(found.right, x)[0])
    return found


def _shown(network: Network) -> Network:
    values = np.random.default_rng(network.seed)
    x = values.standard_normal((1, _IMAGE, *network.sizes[0])).astype(np.float32)
    right = outputs(model(network, "right"), x)[0]
    kept = []
    for index, layer in enumerate(network.layers):
        others = [replace(one, wrong=one.right) for one in network.layers]
        others[index] = layer
        made = outputs(model(replace(network, layers=tuple(others)), "wrong"), x)[0]
        seen = made.shape != right.shape or np.abs(made - right).max() > _SEEN * np.abs(right).max()
        kept.append(layer if seen else replace(layer, wrong=layer.right, damage=""))
    return replace(network, layers=tuple(kept))


def _drawn(random: Random, seed: int, most: int) -> Network:
    length, count = random.randint(4, 8), random.randint(1, most)
    hurt = set(random.sample(range(length), min(count, length)))
    layers, jump = [], 1
    for index in range(length):
        stride = random.choice((1, 2)) if jump < 8 else 1
        layer = _layer(random, stride)
        jump *= stride
        layers.append(_damaged(random, layer) if index in hurt else layer)
    first = random.randint(40, 56), random.randint(40, 56)
    is_open = random.random() < 0.4
    sizes = [first]
    if random.random() < 0.5:
        more = (random.randint(1, 9), random.randint(1, 9)) if is_open else (0, 0)
        sizes.append((first[0] + more[0], first[1] + more[1]))
    return Network(seed, random.choice((4, 6, 8)), tuple(layers), tuple(sizes), is_open)


def _layer(random: Random, stride: int) -> Layer:
    op = random.choice(("conv", "conv", "conv", "max", "average"))
    kernel = random.choice((3, 3, 4, 5)) if op == "conv" else 3
    stride = stride if op == "conv" else 2 if stride == 2 else random.choice((1, 2))
    activation = random.choice(("Relu", "Tanh", "LeakyRelu")) if op == "conv" else ""
    half = kernel // 2
    ways = [
        Way(pads=(half,) * 4),
        Way(auto="SAME_UPPER"),
        Way(pads=(half - 1 + kernel % 2,) * 2 + (half,) * 2),
    ]
    if op == "conv":
        ways += [Way(front=(half,) * 4), Way(front=(half,) * 4, mode="reflect")]
    else:
        ways += [Way(pads=(half,) * 4, ceil=1)]
    way = replace(random.choice(ways), counts=random.choice((0, 1)) if op == "average" else 1)
    return Layer(op, kernel, stride, activation, way, way)


def _damaged(random: Random, layer: Layer) -> Layer:
    kind = random.choice([name for name, (fits, _) in DAMAGES.items() if layer.op in fits])
    right, wrong = DAMAGES[kind][1](random, layer)
    return replace(layer, right=right, wrong=wrong, damage=kind)


def _auto(random: Random, layer: Layer) -> tuple[Way, Way]:
    right = Way(auto="SAME_UPPER", counts=layer.right.counts)
    half = (layer.kernel // 2,) * 4
    return right, replace(
        right, **random.choice(({"auto": "SAME_LOWER"}, {"auto": "", "pads": half}))
    )


def _sides(random: Random, layer: Layer) -> tuple[Way, Way]:
    more = layer.kernel // 2
    less, more = (
        (more - 1, more) if layer.kernel % 2 == 0 or random.random() < 0.7 else (more, more + 1)
    )
    ways = [
        replace(layer.right, auto="", pads=pads, front=(0,) * 4, ceil=0)
        for pads in ((less, less, more, more), (more, more, less, less))
    ]
    random.shuffle(ways)
    return ways[0], ways[1]


def _ceil(random: Random, layer: Layer) -> tuple[Way, Way]:
    way = replace(layer.right, auto="", pads=random.choice(((0,) * 4, (1,) * 4)))
    ways = [replace(way, ceil=0), replace(way, ceil=1)]
    random.shuffle(ways)
    return ways[0], ways[1]


def _counts(random: Random, layer: Layer) -> tuple[Way, Way]:
    ways = [replace(layer.right, auto="", pads=(1,) * 4, counts=counts) for counts in (0, 1)]
    random.shuffle(ways)
    return ways[0], ways[1]


def _mode(random: Random, layer: Layer) -> tuple[Way, Way]:
    pads = (layer.kernel // 2,) * 4
    ways = [Way(front=pads), Way(front=pads, mode=random.choice(("reflect", "edge")))]
    random.shuffle(ways)
    return ways[0], ways[1]


def _fill(random: Random, layer: Layer) -> tuple[Way, Way]:
    pads = (layer.kernel // 2,) * 4
    right = Way(front=pads, fill=random.choice(FILLS))
    return right, random.choice((Way(front=pads), Way(pads=pads)))


_Draw = Callable[[Random, Layer], tuple[Way, Way]]
DAMAGES: dict[str, tuple[tuple[str, ...], _Draw]] = {
    "auto_pad": (("conv", "max", "average"), _auto),
    "sides": (("conv", "max", "average"), _sides),
    "ceil": (("max", "average"), _ceil),
    "counts": (("average",), _counts),
    "mode": (("conv",), _mode),
    "fill": (("conv",), _fill),
}


def model(network: Network, which: str, *, inner: Sequence[str] = ()) -> ModelProto:
    """The model as it has to be ("right") or as it is ("wrong"); `inner` are more outputs."""
    weights = np.random.default_rng(network.seed)
    nodes: list[NodeProto] = []
    held: list[TensorProto] = []
    x, channels = "x", _IMAGE
    for index, layer in enumerate(network.layers):
        way: Way = getattr(layer, which)
        name, inputs = f"n{index}", []
        if any(way.front):
            _pad(nodes, held, x, name, way)
            x = f"{name}_padded"
        if layer.op == "conv":
            inputs = _weights(weights, held, name, (network.channels, channels, layer.kernel))
            channels = network.channels
        made = helper.make_node(
            OPERATORS[layer.op], [x, *inputs], [f"{name}_out"], name, **_attributes(layer, way)
        )
        nodes.append(made)
        x = f"{name}_out"
        if layer.activation:
            nodes.append(helper.make_node(layer.activation, [x], [f"{name}_act"], f"{name}_a"))
            x = f"{name}_act"
    sizes: list[Any] = ["h", "w"] if network.is_open else [*network.sizes[0]]
    given = helper.make_tensor_value_info("x", 1, [1, _IMAGE, *sizes])
    names = [*inner, x]
    results = [helper.make_tensor_value_info(one, 1, None) for one in names]
    graph = helper.make_graph(nodes, "network", [given], results, held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)


def _attributes(layer: Layer, way: Way) -> dict[str, Any]:
    found: dict[str, Any] = {"kernel_shape": [layer.kernel] * 2, "strides": [layer.stride] * 2}
    found |= {"auto_pad": way.auto} if way.auto else {"pads": list(way.pads)}
    if layer.op != "conv" and way.ceil:
        found["ceil_mode"] = 1
    if layer.op == "average":
        found["count_include_pad"] = way.counts
    return found


def _weights(
    weights: np.random.Generator, held: list[TensorProto], name: str, sizes: tuple[int, int, int]
) -> list[str]:
    made, read, kernel = sizes
    shape = (made, read, kernel, kernel)
    value = weights.standard_normal(shape) * np.sqrt(1.7 / (read * kernel**2))
    bias = 0.2 * weights.standard_normal(made)
    held += [
        numpy_helper.from_array(value.astype(np.float32), f"{name}_w"),
        numpy_helper.from_array(bias.astype(np.float32), f"{name}_b"),
    ]
    return [f"{name}_w", f"{name}_b"]


def _pad(nodes: list[NodeProto], held: list[TensorProto], x: str, name: str, way: Way) -> None:
    top, left, bottom, right = way.front
    pads = np.array([0, 0, top, left, 0, 0, bottom, right], np.int64)
    held += [
        numpy_helper.from_array(pads, f"{name}_pads"),
        numpy_helper.from_array(np.array(way.fill, np.float32), f"{name}_fill"),
    ]
    inputs = [x, f"{name}_pads", *([f"{name}_fill"] if way.mode == "constant" else [])]
    nodes.append(helper.make_node("Pad", inputs, [f"{name}_padded"], f"{name}_pad", mode=way.mode))
