"""Probes that are drawn: chains of one to six operators.

Among them quantised ones, three spatial axes, batches of several images, and branches of an If.
References come from the tests' own interpreter. A set that found something has done its work:
take a seed that was not used.
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
SEED = 20271123
QUANTISED_NEAR = 0.05
"""Of the largest reference value: what a step of the last place grows to in a few layers."""
HELD = 0.1, 0.9
"""Of all values: what quantisation cuts off shows where a runtime leaves it out."""
SHOWN = 0.1
"""Fewer values above 0 are too few behind a Relu to show what is wrong in front of it."""
CELLS = 6
"""Fewer along an axis are too few for another window."""


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


class Composed(Draft):
    """A chain whose next operator is drawn for the tensor that the last one made."""

    quantised = False

    def value(self) -> Array:
        """What the chain gives so far."""
        if not self.nodes:
            return self.data
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes,
            "so_far",
            [value("x", TensorProto.FLOAT, self.data.shape)],
            [helper.make_empty_tensor_value_info(self.last)],
            self.constants,
        )
        graph.output[0].type.tensor_type.elem_type = TensorProto.FLOAT
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        result: Array = run_model(model, {"x": self.data})[self.last]
        return result

    def scaled(self, *shape: int) -> Array:
        """Weights that keep the numbers about as large as they are."""
        fan = max(1, int(np.prod(shape[1:])))
        found: Array = (self.rng.normal(size=shape) / fan**0.5).astype(np.float32)
        return found

    def numbers(self, values: object, kind: type[np.generic]) -> str:
        return self.constant(np.array(values, kind))


def _sizes(draft: Composed) -> tuple[int, int, tuple[int, ...]]:
    shape = draft.value().shape
    return len(shape) - 2, shape[1], shape[2:]


def _conv(draft: Composed) -> None:
    rng, (rank, channels, sizes) = draft.rng, _sizes(draft)
    if min(sizes) < CELLS:
        return _plain(draft)
    kernel = each_axis(rng, 1, 5, rank)
    groups = channels if rng.integers(4) == 0 else 1
    width = channels if groups > 1 else int(rng.integers(2, 6))
    more: dict[str, Any] = {"strides": each_axis(rng, 1, 3, rank)}
    if rng.integers(4) == 0 and max(kernel) < 4:
        more = {"dilations": each_axis(rng, 1, 3, rank)}
    weight = draft.constant(draft.scaled(width, channels // groups, *kernel))
    bias = [draft.weight(width)] if rng.integers(2) else []
    more |= padding(rng, kernel)
    return draft.add("Conv", weight, *bias, kernel_shape=kernel, group=groups, **more)


def _transposed(draft: Composed) -> None:
    rng, (rank, channels, sizes) = draft.rng, _sizes(draft)
    if np.prod(sizes) > 2000:  # the interpreter loops over them
        return _plain(draft)
    strides = each_axis(rng, 1, 3, rank)
    kernel = [s + int(rng.integers(0, 3)) for s in strides]
    width = int(rng.integers(2, 5))
    more: dict[str, Any] = padding(rng, kernel)
    if "pads" in more:
        more["pads"] = [min(pad, 2) for pad in more["pads"]]
        if rng.integers(3) == 0:
            more["output_padding"] = [int(rng.integers(0, s)) for s in strides]
    weight = draft.constant(draft.scaled(channels, width, *kernel))
    return draft.add("ConvTranspose", weight, kernel_shape=kernel, strides=strides, **more)


def _pool(op: str) -> Callable[[Composed], None]:
    def drawn(draft: Composed) -> None:
        rng, (rank, _, sizes) = draft.rng, _sizes(draft)
        if min(sizes) < CELLS:
            return _plain(draft)
        # A max pool of which no window is negative would not show a padding of 0.
        if rng.integers(2) or (op == "MaxPool" and draft.value().min() < 0):
            moved = -3.0 if op == "MaxPool" else 3.0
            draft.add("Add", draft.numbers(moved, np.float32))
        kernel = each_axis(rng, 2, 4, rank)
        more: dict[str, Any] = padding(rng, kernel)
        if rng.integers(4):
            more["strides"] = each_axis(rng, 1, 3, rank)
        if op != "LpPool" and "pads" in more and rng.integers(3) == 0:
            more["ceil_mode"] = 1
        if op == "AveragePool" and rng.integers(2):
            more["count_include_pad"] = 1
        return draft.add(op, kernel_shape=kernel, **more)

    return drawn


def _pad(draft: Composed) -> None:
    rng, (rank, _, sizes) = draft.rng, _sizes(draft)
    mode = str(rng.choice(["constant", "constant", "constant", "reflect", "edge"]))
    most = min(3, *sizes) if mode == "reflect" else 3
    sides = [[int(n) for n in rng.integers(0, max(1, most), rank)] for _ in range(2)]
    if not any(map(any, sides)):
        sides[1][-1] = 1 if mode != "reflect" or sizes[-1] > 1 else 0
    return add_pad(draft, mode, sides, rank + 2, 2)


def _plain(draft: Composed) -> None:
    """An operator that pads nothing."""
    rng, (rank, channels, _) = draft.rng, _sizes(draft)
    match int(rng.integers(5)):
        case 0:
            draft.add("Relu" if np.mean(draft.value() > 0) > SHOWN else "Sigmoid")
        case 1:
            draft.add("Sigmoid")
        case 2:
            draft.add("Add", draft.constant(draft.scaled(1, channels, *[1] * rank)))
        case 3:
            draft.add("Mul", draft.constant(draft.scaled(1, channels, *[1] * rank)))
        case _:
            draft.add("Concat", draft.last, axis=1)


def _range(values: Array, kind: type[np.generic]) -> tuple[np.float32, int]:
    """Scale and zero point that hold 0 and most values, as found on other data."""
    held = np.quantile(values, HELD)
    low, high = min(0.0, float(held[0])), max(1e-3, float(held[1]))
    least = -128 if np.dtype(kind).kind == "i" else 0
    scale = np.float32((high - low) / 255)
    return scale, least + round(-low / float(scale))


def _quantise(draft: Composed, kind: type[np.generic]) -> tuple[str, str]:
    scale, zero = _range(draft.value(), kind)
    names = draft.numbers(scale, np.float32), draft.numbers(zero, kind)
    draft.add("QuantizeLinear", *names)
    draft.quantised = True
    return names


def _kind(draft: Composed) -> type[np.generic]:
    return np.uint8 if draft.rng.integers(2) else np.int8


def _between(inner: Callable[[Composed], None]) -> Callable[[Composed], None]:
    """The operator behind QuantizeLinear and DequantizeLinear, as tools write a quantised model."""

    def drawn(draft: Composed) -> None:
        names = _quantise(draft, _kind(draft))
        draft.add("DequantizeLinear", *names)
        inner(draft)

    return drawn


def _quantised_conv(draft: Composed) -> None:
    """Q, DQ, Conv of a weight behind DequantizeLinear, and often Q and DQ again."""
    rng, (rank, channels, sizes) = draft.rng, _sizes(draft)
    if min(sizes) < CELLS:
        return _plain(draft)
    kernel, width = each_axis(rng, 1, 4, rank), int(rng.integers(2, 5))
    names = _quantise(draft, _kind(draft))
    draft.add("DequantizeLinear", *names)
    source = draft.last
    draft.last = draft.constant(rng.integers(-127, 128, (width, channels, *kernel)).astype(np.int8))
    scale = 1 / (70 * np.sqrt(channels * np.prod(kernel)))
    draft.add("DequantizeLinear", draft.numbers(scale, np.float32), draft.numbers(0, np.int8))
    weight, draft.last = draft.last, source
    more = {"strides": each_axis(rng, 1, 3, rank)} | padding(rng, kernel)
    draft.add("Conv", weight, kernel_shape=kernel, **more)
    if rng.integers(2):
        draft.add("DequantizeLinear", *_quantise(draft, _kind(draft)))
    return None


def _qlinear_conv(draft: Composed) -> None:
    """QuantizeLinear, QLinearConv, DequantizeLinear."""
    rng, (rank, channels, sizes) = draft.rng, _sizes(draft)
    if min(sizes) < CELLS:
        return _plain(draft)
    kernel, width, kind = each_axis(rng, 1, 4, rank), int(rng.integers(2, 5)), _kind(draft)
    taken = _quantise(draft, kind)
    weight = draft.constant(rng.integers(-127, 128, (width, channels, *kernel)).astype(np.int8))
    scale = 1 / (70 * np.sqrt(channels * np.prod(kernel)))
    given = draft.numbers(0.03, np.float32), draft.numbers(128 if kind is np.uint8 else 0, kind)
    scales = draft.numbers(scale, np.float32), draft.numbers(0, np.int8)
    more = {"strides": each_axis(rng, 1, 3, rank)} | padding(rng, kernel)
    draft.add("QLinearConv", *taken, weight, *scales, *given, kernel_shape=kernel, **more)
    draft.add("DequantizeLinear", *given)
    return None


def _quantised_pool(draft: Composed) -> None:
    """A max pool of bytes, which came with opset 12."""
    rng, (rank, _, sizes) = draft.rng, _sizes(draft)
    if draft.opset < 12 or min(sizes) < CELLS:
        return _plain(draft)
    kernel = each_axis(rng, 2, 4, rank)
    names = _quantise(draft, _kind(draft))
    more = {"strides": each_axis(rng, 1, 3, rank)} | padding(rng, kernel)
    draft.add("MaxPool", kernel_shape=kernel, **more)
    draft.add("DequantizeLinear", *names)
    return None


def _if(draft: Composed) -> None:
    """An If whose branches hold the same padded operator; which one runs is a constant.

    So a warning about the branch that does not run is one about the other as well.
    """
    outer, source, rng = draft.nodes, draft.last, draft.rng
    seed = int(rng.integers(2**32))
    branches = []
    for side in ("then", "else"):
        draft.nodes, draft.last, draft.rng = [*outer], source, np.random.default_rng(seed)
        WINDOWS[int(draft.rng.integers(len(WINDOWS)))](draft)
        if side == "else":
            draft.add("Add", draft.numbers(0.5, np.float32))
        inner = draft.nodes[len(outer) :]
        for node in inner:
            own = {name: f"{side}_{name}" for one in inner for name in one.output}
            node.input[:] = [own.get(name, name) for name in node.input]
        for node in inner:
            node.output[:] = [f"{side}_{name}" for name in node.output]
        made = helper.make_empty_tensor_value_info(inner[-1].output[0])
        made.type.tensor_type.elem_type = TensorProto.FLOAT
        branches.append(helper.make_graph(inner, side, [], [made]))
    draft.nodes, draft.rng = outer, rng
    draft.last = draft.constant(np.array(bool(draft.rng.integers(2))))
    draft.add("If", then_branch=branches[0], else_branch=branches[1])


WINDOWS = (_conv, _conv, _transposed, _pool("MaxPool"), _pool("AveragePool"))
QUANTISED = (
    _quantised_conv,
    _quantised_conv,
    _qlinear_conv,
    _quantised_pool,
    _between(_pad),
    _between(_pool("AveragePool")),
    _between(_pool("MaxPool")),
)
FLOAT = (*WINDOWS, *WINDOWS, _pad, _pad, _pad, _plain, _plain, _plain, _pool("LpPool"))


def compose(rng: Generator) -> Composed:
    """One chain; a fifth are quantised, a fifth have three axes, a third a batch above 1."""
    rank = int(rng.choice([1, 2, 2, 2, 3]))
    batch = int(rng.choice([1, 1, 2, 3]))
    shape = (batch, int(rng.integers(2, 5)), *(int(n) for n in rng.integers(8, 13, rank)))
    opset = int(rng.choice([11, 13, 17, 18, 19]))
    draft = Composed(rng, shape, opset, 0.0)
    quantised = opset > 11 and rng.integers(4) == 0
    for _ in range(int(rng.integers(1, 7))):
        if rng.integers(20) == 0:
            _if(draft)
            continue
        kinds = QUANTISED if quantised and rng.integers(2) else FLOAT
        kinds[int(rng.integers(len(kinds)))](draft)
    if quantised and not draft.quantised:
        QUANTISED[int(rng.integers(len(QUANTISED)))](draft)
    padding = {
        "Conv",
        "ConvTranspose",
        "MaxPool",
        "AveragePool",
        "LpPool",
        "Pad",
        "QLinearConv",
        "If",
    }
    if not padding & {node.op_type for node in draft.nodes}:
        raise ValueError("nothing in it can pad")
    return draft


def drawn(
    count: int = COUNT, seed: int = SEED
) -> Iterator[tuple[str, onnx.ModelProto, Array, bool]]:
    """`count` named models with their inputs, and whether bytes are in them.

    Drafts that no text gives a meaning are drawn again.
    """
    found = number = 0
    while found < count:
        rng = np.random.default_rng([seed, number])
        number += 1
        try:
            draft = compose(rng)
            model = draft.model()
        except (ValueError, NotImplementedError):
            continue
        found += 1
        yield f"composed-{number - 1}", model, draft.data, draft.quantised


def cases(folder: Path, count: int = COUNT, seed: int = SEED) -> dict[str, Case]:
    """The models as files, with references."""
    found = {}
    for name, model, data, quantised in drawn(count, seed):
        path = folder / f"{name}.onnx"
        onnx.save(model, path)
        references = run_model(model, {"x": data})
        near = QUANTISED_NEAR * float(np.abs(references["y"]).max()) if quantised else None
        found[name] = Case(path, {"x": data}, references, near)
    return found
