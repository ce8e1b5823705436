"""Small models of operators in a row, and what a target says of a model."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import onnxpad
from onnxpad.runtimes.conditions.rows import Answer

Step = tuple[str, list[Any], dict[str, Any]]


def weights(*shape: int) -> Any:
    """Random numbers, always the same ones."""
    return np.random.default_rng(4).normal(size=shape).astype(np.float32)


def chain(opset: int, dims: list[Any], *steps: Step) -> onnx.ModelProto:
    """A model of `steps` (operator, constant inputs, attributes), one behind the other."""
    nodes, constants, last = [], [], "x"
    for number, (op, arrays, attributes) in enumerate(steps):
        names = [f"c{number}_{k}" for k in range(len(arrays))]
        constants += [
            numpy_helper.from_array(np.asarray(a), n) for a, n in zip(arrays, names, strict=True)
        ]
        made = f"t{number}" if number < len(steps) - 1 else "y"
        nodes.append(helper.make_node(op, [last, *names], [made], name=f"n{number}", **attributes))
        last = made
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * len(dims))]
    graph = helper.make_graph(nodes, "g", inputs, outputs, constants)
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, ir_version=8, opset_imports=imports)


def answers(model: onnx.ModelProto, target: str, **options: Any) -> dict[str, Answer]:
    """What the target does with each operator, the worst."""
    (verdicts,) = onnxpad.inspect(model, target=target, **options).targets.values()
    worst: dict[str, Answer] = {}
    for verdict in verdicts:
        answer = verdict.judgement.answer
        worst[verdict.op] = max(answer, worst.get(verdict.op, answer), key=lambda a: a.rank)
    return worst
