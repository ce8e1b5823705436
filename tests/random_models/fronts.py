"""The nodes in front of the operator: Pads in all their spellings, and what a Pad may cross."""

import math
from typing import Any

import numpy as np
from onnx import helper

from tests.random_models.graphs import INT64_MAX, Array, Graph
from tests.random_models.kinds import MICROSOFT
from tests.random_models.spec import Spec, Step
from tests.random_models.stages import Stage, permutation, quantised, stages

ZERO = {"uint8": 7, "int8": -3}
SCALE = 0.5


def add_steps(graph: Graph, spec: Spec, first: int, last: int, tensor: str) -> str:
    """Add the steps `first` to `last` of the front behind `tensor`; what they make."""
    found = stages(spec)
    for number in range(first, last):
        step, stage, after = spec.front[number], found[number], found[number + 1]
        output = f"t{number}"
        match step.op:
            case "Pad":
                tensor = _pad(graph, spec, stage, number, tensor)
            case "Transpose":
                tensor = graph.node("Transpose", [tensor], output, perm=permutation(after))
            case "Unsqueeze":
                tensor = graph.unsqueezed(tensor, after.axes.index("N"), output)
            case "Cast":
                to = helper.np_dtype_to_tensor_dtype(np.dtype(after.dtype))
                tensor = graph.node("Cast", [tensor], output, to=to)
            case "QuantizeLinear" | "DequantizeLinear":
                axis = stage.axes.index("C") if step.channels else None
                tensor = quantisation(graph, spec, step.op, tensor, output, axis)
            case _:
                more = {"alpha": 0.25} if step.op == "LeakyRelu" else {}
                tensor = graph.node(step.op, [tensor], output, **more)
    return tensor


def quantisation(
    graph: Graph, spec: Spec, op: str, tensor: str, output: str, axis: int | None
) -> str:
    """QuantizeLinear or DequantizeLinear; along `axis` every channel has its own zero point."""
    dtype = quantised(spec)
    scale, zero = np.asarray(SCALE, np.float32), np.asarray(ZERO[dtype])
    if axis is not None:
        turn = np.arange(spec.channels)
        scale, zero = SCALE * 2.0 ** (turn % 2), ZERO[dtype] + turn
    suffix = "" if axis is None else f"_axis{axis}"
    names = [
        graph.constant(f"q_scale{suffix}", scale, "float32"),
        graph.constant(f"q_zero{suffix}", zero, dtype),
    ]
    more: dict[str, Any] = {} if axis is None else {"axis": axis}
    return graph.node(op, [tensor, *names], output, **more)


def _pad(graph: Graph, spec: Spec, stage: Stage, number: int, tensor: str) -> str:
    step, name, output = spec.front[number], f"p{number}", f"t{number}"
    flat, value = _flat(spec, step, stage), fill(spec, step, stage)
    mode: dict[str, Any] = {} if step.mode == "constant" else {"mode": step.mode}
    microsoft = spec.operator.domain == MICROSOFT and spec.operator.family == "pad"
    if spec.opset < 11 and not microsoft:
        more = mode if value is None else {**mode, "value": float(value)}
        return graph.node("Pad", [tensor], output, pads=flat, **more)
    inputs = [tensor, _pads(graph, spec, stage, number, tensor)]
    if step.value == "tensor":
        inputs.append(zero_point(graph, spec))
    elif value is not None:
        inputs.append(graph.constant(f"{name}_value", value, stage.dtype))
    if step.axes:
        inputs += [""] * (3 - len(inputs)) + [graph.constant(f"{name}_axes", _places(stage))]
    domain = {"domain": MICROSOFT} if microsoft else {}
    return graph.node("Pad", inputs, output, **mode, **domain)


def zero_point(graph: Graph, spec: Spec) -> str:
    """The zero point of the operator's input, which a Pad may read too."""
    dtype = spec.operator.dtype
    value = np.asarray(ZERO[dtype], dtype)
    if spec.zero == "fed" and "x_zero" not in graph.constants:
        graph.fed["x_zero"] = value
        return "x_zero"
    return graph.constant("x_zero", value, dtype)


def fill(spec: Spec, step: Step, stage: Stage) -> float | None:
    """The number that a Pad writes; None where its input is left out."""
    dtype = np.dtype(stage.dtype)
    lowest = float(np.finfo(dtype).min if dtype.kind == "f" else np.iinfo(dtype).min)
    fits = 0.0
    if spec.operator.family == "max":
        fits = -math.inf if dtype.kind == "f" else lowest
    elif stage.dtype in ZERO:
        fits = float(ZERO[stage.dtype])
    numbers = {"fits": fits, "tensor": fits, "zero": 0.0, "other": 5.0, "lowest": lowest}
    numbers["minus zero"] = -0.0
    return numbers.get(step.value)


def _places(stage: Stage) -> list[int]:
    return [index for index, axis in enumerate(stage.axes) if isinstance(axis, int)]


def _flat(spec: Spec, step: Step, stage: Stage) -> list[int]:
    """The pads in the order of the stage's axes; those of spatial axes alone with `axes`."""
    sides: dict[int | str, tuple[int, int]] = {
        axis: (step.pads[axis], step.pads[spec.rank + axis]) for axis in range(spec.rank)
    }
    sides |= {"N": step.outside[::2], "C": step.outside[1::2]}  # type: ignore[dict-item]
    axes = [axis for axis in stage.axes if isinstance(axis, int) or not step.axes]
    begins, ends = zip(*(sides[axis] for axis in axes), strict=True)
    return [*begins, *ends]


def _pads(graph: Graph, spec: Spec, stage: Stage, number: int, tensor: str) -> str:
    step, name = spec.front[number], f"p{number}_pads"
    flat = _flat(spec, step, stage)
    match step.source:
        case "input":
            graph.fed[name] = np.asarray(flat, np.int64)
            return name
        case "chain":
            return _pads_of_torch(graph, flat, name)
        case "shape":
            return _pads_of_shape(graph, stage, tensor, name)
    other = np.asarray(flat, np.int64)
    other[len(flat) // 2 - 1 if stage.axes[-1] != "C" else len(flat) // 2 - 2] += 1
    name = graph.constant(name, flat)
    graph.others[name] = other
    return name


def _pads_of_torch(graph: Graph, flat: list[int], name: str) -> str:
    """What TorchScript exports for F.pad: the last axes' pads, turned round and transposed."""
    axes = len(flat) // 2
    pairs = list(zip(flat[:axes], flat[axes:], strict=True))[::-1]
    written = max((index for index, pair in enumerate(pairs) if any(pair)), default=0) + 1
    given = [pad for pair in pairs[:written] for pad in pair]
    tensor = graph.constant(f"{name}_given", given)
    if written < axes:
        count = graph.constant(f"{name}_missing", [2 * (axes - written)])
        zero = helper.make_tensor("zero", 7, [1], [0])
        zeros = graph.node("ConstantOfShape", [count], f"{name}_zeros", value=zero)
        tensor = graph.node("Concat", [tensor, zeros], f"{name}_all", axis=0)
    tensor = _reshaped(graph, tensor, [-1, 2], f"{name}_pairs")
    bounds = {"starts": [-1], "ends": [-INT64_MAX], "axes": [0], "steps": [-1]}
    names = [graph.constant(f"{name}_{key}", value) for key, value in bounds.items()]
    tensor = graph.node("Slice", [tensor, *names], f"{name}_turned")
    tensor = graph.node("Transpose", [tensor], f"{name}_sides", perm=[1, 0])
    tensor = _reshaped(graph, tensor, [-1], f"{name}_flat")
    return graph.node("Cast", [tensor], name, to=7)


def _reshaped(graph: Graph, tensor: str, shape: list[int], name: str) -> str:
    wanted = graph.constant(f"{name}_shape", shape)
    return graph.node("Reshape", [tensor, wanted], name)


def _pads_of_shape(graph: Graph, stage: Stage, tensor: str, name: str) -> str:
    """begin = size % 2, end = 2 - begin for every spatial axis, none for the others."""
    places = _places(stage)
    ahead, behind = places[0], len(stage.axes) - places[-1] - 1
    shape = graph.node("Shape", [tensor], f"{name}_shape")
    which = graph.constant(f"{name}_places", places)
    sizes = graph.node("Gather", [shape, which], f"{name}_sizes", axis=0)
    two = graph.constant(f"{name}_two", [2])
    begins = graph.node("Mod", [sizes, two], f"{name}_begins")
    ends = graph.node("Sub", [two, begins], f"{name}_ends")
    parts = []
    for middle in (begins, ends):
        for count, side in ((ahead, "ahead"), (behind, "behind")):
            if side == "behind":
                parts.append(middle)
            if count:
                parts.append(graph.constant(f"{name}_{side}", np.zeros(count)))
    return graph.node("Concat", parts, name, axis=0)


def overridden(graph: Graph) -> dict[str, Array]:
    """Other values for initializers that are inputs too, for a second run."""
    return {name: value for name, value in graph.others.items() if name in graph.constants}
