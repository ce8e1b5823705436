"""A second set of probes, drawn at random: other sizes, channels, kernels, pads and seeds.

References come from the tests' own interpreter, in the semantics of the newest text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.random import Generator
from onnx import TensorProto, helper, numpy_helper

from tests.oracle.interpreter import run_model
from tests.runtimes.live.running import Case

Array = np.ndarray[Any, Any]
COUNT = 160
SEED = 20_240


class Draft:
    """One model being written: a chain of nodes from `x` to `y`."""

    def __init__(self, rng: Generator, shape: tuple[int, ...], opset: int, centre: float) -> None:
        self.rng = rng
        self.opset = opset
        self.data = (rng.normal(size=shape) + centre).astype(np.float32)
        self.last = "x"
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, values: Array) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def add(self, op: str, *inputs: str, **attributes: Any) -> None:
        made = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, [self.last, *inputs], [made], **attributes))
        self.last = made

    def weight(self, *shape: int) -> str:
        return self.constant(self.rng.normal(size=shape).astype(np.float32))

    def model(self) -> onnx.ModelProto:
        self.nodes[-1].output[0] = "y"
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.data.shape)]
        outputs = [helper.make_empty_tensor_value_info("y")]
        graph = helper.make_graph(self.nodes, "drawn", inputs, outputs, self.constants)
        imports = [helper.make_opsetid("", self.opset)]
        model = helper.make_model(graph, ir_version=8, opset_imports=imports)
        bare = run_model(_typed(model), {"x": self.data})["y"]
        model.graph.output[0].CopyFrom(
            helper.make_tensor_value_info("y", TensorProto.FLOAT, bare.shape)
        )
        return model


def _typed(model: onnx.ModelProto) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    copy.graph.output[0].type.tensor_type.elem_type = TensorProto.FLOAT
    return copy


def each_axis(rng: Generator, low: int, high: int, rank: int) -> list[int]:
    """The same number on every axis most of the time, else one for each."""
    if rng.integers(4):
        return [int(rng.integers(low, high))] * rank
    return [int(n) for n in rng.integers(low, high, rank)]


def _rank(rng: Generator) -> int:
    return int(rng.choice([1, 2, 2, 2, 2, 3]))


def _opset(rng: Generator, *opsets: int) -> int:
    return int(rng.choice(opsets or (11, 13, 17, 18)))


def _shape(rng: Generator, rank: int, channels: int) -> tuple[int, ...]:
    return (1, channels, *(int(n) for n in rng.integers(9, 17, rank)))


def padding(rng: Generator, kernel: list[int]) -> dict[str, Any]:
    """auto_pad, symmetric pads, or pads that differ; below the kernel."""
    match int(rng.integers(5)):
        case 0:
            return {"auto_pad": "SAME_UPPER"}
        case 1:
            return {"auto_pad": "SAME_LOWER"}
        case 2:
            sides = [int(rng.integers(0, (k + 1) // 2 + (k > 1))) for k in kernel]
            return {"pads": [min(s, k // 2) for s, k in zip(sides, kernel, strict=True)] * 2}
        case _:
            return {"pads": [int(rng.integers(0, k)) for k in (*kernel, *kernel)]}


def _conv(rng: Generator) -> Draft:
    rank, groups = _rank(rng), int(rng.choice([1, 1, 2]))
    kernel, cin = each_axis(rng, 1, 6, rank), 2 * int(rng.integers(1, 4))
    draft = Draft(rng, _shape(rng, rank, cin), _opset(rng), 0.0)
    width = 2 * int(rng.integers(1, 4))
    weight = draft.weight(width, cin // groups, *kernel)
    steps = {"strides": each_axis(rng, 1, 4, rank)}
    if rng.integers(3) == 0:
        steps = {"dilations": each_axis(rng, 2, 4, rank)}
    bias = [draft.weight(width)] if rng.integers(2) else []
    draft.add(
        "Conv", weight, *bias, kernel_shape=kernel, group=groups, **steps, **padding(rng, kernel)
    )
    return draft


def _transposed(rng: Generator) -> Draft:
    rank = _rank(rng)
    strides = each_axis(rng, 1, 4, rank)
    kernel = [s + int(rng.integers(0, 3)) for s in strides]
    channels = int(rng.integers(2, 5))
    draft = Draft(rng, (1, channels, *(int(n) for n in rng.integers(4, 8, rank))), _opset(rng), 0.0)
    width = int(rng.integers(2, 5))
    weight = draft.weight(channels, width, *kernel)
    bias = [draft.weight(width)] if rng.integers(2) else []
    more: dict[str, Any] = padding(rng, kernel)
    if "pads" in more:
        more["pads"] = [min(pad, 2) for pad in more["pads"]]
        if rng.integers(3) == 0:
            more["output_padding"] = [int(rng.integers(0, s)) for s in strides]
    draft.add("ConvTranspose", weight, *bias, kernel_shape=kernel, strides=strides, **more)
    return draft


def _pool(op: str) -> Callable[[Generator], Draft]:
    def drawn(rng: Generator) -> Draft:
        rank = _rank(rng)
        kernel, opset = each_axis(rng, 2, 5, rank), _opset(rng, 11, 13, 18, 19)
        centre = -3.0 if op == "MaxPool" else 3.0
        draft = Draft(rng, _shape(rng, rank, int(rng.integers(2, 5))), opset, centre)
        more: dict[str, Any] = padding(rng, kernel)
        if rng.integers(4):
            more["strides"] = each_axis(rng, 1, 4, rank)
        if op != "LpPool" and "pads" in more and rng.integers(3) == 0:
            more["ceil_mode"] = 1
        if op == "AveragePool" and rng.integers(2):
            more["count_include_pad"] = 1
        if op == "LpPool":
            more["p"] = int(rng.integers(1, 4))
        draft.add(op, kernel_shape=kernel, **more)
        return draft

    return drawn


def _pad(rng: Generator) -> Draft:
    rank = int(rng.choice([3, 4, 4, 4, 5]))
    draft = Draft(rng, (1, *(int(n) for n in rng.integers(4, 10, rank - 1))), _opset(rng), 0.0)
    mode = str(rng.choice(["constant", "constant", "constant", "reflect", "edge"]))
    first = 1 if rng.integers(5) == 0 else 2
    sides = [[int(n) for n in rng.integers(0, 4, rank - first)] for _ in range(2)]
    if mode == "constant" and rng.integers(5) == 0:
        sides = [[-side for side in one] for one in sides]
        sides = [[max(side, -1) for side in one] for one in sides]
    if not any(map(any, sides)):
        sides[1][-1] = 1
    add_pad(draft, mode, sides, rank, first)
    return draft


def add_pad(draft: Draft, mode: str, sides: list[list[int]], rank: int, first: int) -> None:
    rng = draft.rng
    listed = draft.opset >= 18 and rng.integers(4) == 0
    spare = [] if listed else [0] * first
    pads = draft.constant(np.array([*spare, *sides[0], *spare, *sides[1]], np.int64))
    value = ""
    if mode == "constant" and rng.integers(2):
        chosen = float(rng.choice([0.0, 0.0, 1.5, -2.0]))
        value = draft.constant(np.array(chosen, np.float32))
    inputs = [pads, *([value] if value or listed else [])]
    if listed:
        inputs.append(draft.constant(np.arange(first, rank)))
    written = {"mode": mode} if mode != "constant" or rng.integers(2) else {}
    draft.add("Pad", *inputs, **written)


def _padded_conv(rng: Generator) -> Draft:
    kernel, channels = each_axis(rng, 2, 5, 2), 2 * int(rng.integers(1, 4))
    draft = Draft(rng, _shape(rng, 2, channels), _opset(rng), 0.0)
    mode = str(rng.choice(["constant", "constant", "constant", "reflect", "edge"]))
    sides = [[int(n) for n in rng.integers(0, 3, 2)] for _ in range(2)]
    if not any(map(any, sides)):
        sides[1][-1] = 1
    add_pad(draft, mode, sides, 4, 2)
    weight = draft.weight(3, channels, *kernel)
    draft.add("Conv", weight, kernel_shape=kernel, strides=each_axis(rng, 1, 3, 2))
    return draft


FAMILIES: dict[str, Callable[[Generator], Draft]] = {
    "conv": _conv,
    "transposed": _transposed,
    "max": _pool("MaxPool"),
    "average": _pool("AveragePool"),
    "lp": _pool("LpPool"),
    "pad": _pad,
    "padded-conv": _padded_conv,
}
_SHARES: tuple[str, ...] = ("conv",) * 5 + ("transposed",) * 4 + ("max",) * 4 + ("average",) * 4
_SHARES += ("lp",) + ("pad",) * 4 + ("padded-conv",) * 2


def drawn(count: int = COUNT, seed: int = SEED) -> Iterator[tuple[str, onnx.ModelProto, Array]]:
    """Named models with their inputs; drafts that no text gives a meaning are left out."""
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        family = _SHARES[int(rng.integers(len(_SHARES)))]
        draft = FAMILIES[family](rng)
        try:
            yield f"{family}-{number}", draft.model(), draft.data
        except ValueError:
            continue


def cases(folder: Path, count: int = COUNT, seed: int = SEED) -> dict[str, Case]:
    """The models as files, with references."""
    found = {}
    for name, model, data in drawn(count, seed):
        path = folder / f"{name}.onnx"
        onnx.save(model, path)
        found[name] = Case(path, {"x": data}, run_model(model, {"x": data}))
    return found
