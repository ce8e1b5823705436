"""Models that drive native code out of bounds: loops without end, memory, crashes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

node = helper.make_node
LEAST = -(2**63)


def value(name: str, shape: Sequence[int | str], dtype: int = TensorProto.FLOAT) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)


def made_of(
    nodes: Sequence[NodeProto],
    inputs: Sequence[ValueInfoProto] = (),
    constants: Mapping[str, Any] | None = None,
    outputs: Sequence[str] = ("y",),
    opset: int = 18,
) -> ModelProto:
    """A model; constants are whole numbers unless they are arrays."""
    held = [
        numpy_helper.from_array(
            np.asarray(one, None if isinstance(one, np.ndarray) else np.int64), n
        )
        for n, one in (constants or {}).items()
    ]
    graph = helper.make_graph(
        list(nodes), "g", list(inputs), [ValueInfoProto(name=name) for name in outputs], held
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def endless_loop() -> ModelProto:
    """A Loop whose condition stays true."""
    body = helper.make_graph(
        [node("Identity", ["c"], ["d"]), node("Identity", ["v"], ["w"])],
        "b",
        [value("i", [], TensorProto.INT64), value("c", [], TensorProto.BOOL), value("v", [1])],
        [value("d", [], TensorProto.BOOL), value("w", [1])],
    )
    loop = node("Loop", ["", "on", "x"], ["y"], body=body)
    return made_of([loop], [value("x", [1])], {"on": np.array(True)})


def four_gigabytes() -> ModelProto:
    """A constant of 2^30 cells, summed to one."""
    nodes = [
        node("ConstantOfShape", ["s"], ["b"]),
        node("Add", ["b", "x"], ["c"]),
        node("ReduceSum", ["c"], ["y"], keepdims=0),
    ]
    return made_of(nodes, [value("x", [1])], {"s": [2**30]})


def sliced_shape(start: int, end: int, step: int) -> ModelProto:
    """A Slice of the two numbers of a shape."""
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Slice", ["s", "a", "b", "z", "st"], ["t"]),
        node("Reshape", ["x", "t"], ["y"]),
    ]
    return made_of(nodes, [value("x", [2, 3])], {"a": [start], "b": [end], "z": [0], "st": [step]})


def endless_slice_before_a_conv() -> ModelProto:
    """A Conv whose sizes hang, for all that the text of the graph says, on an endless Slice."""
    nodes = [
        node("Slice", ["s", "a", "a", "z", "a"], ["t"]),
        node("Concat", ["t", "u"], ["c"], axis=0),
        node("Reshape", ["x", "c"], ["v"]),
        node("Conv", ["v", "w"], ["y"], auto_pad="SAME_UPPER"),
    ]
    inputs = [value("x", [1, 2, 8, 8]), value("u", [3], TensorProto.INT64)]
    weights = np.ones((2, 2, 3, 3), np.float32)
    constants = {"s": [1, 2], "a": [LEAST], "z": [0], "w": weights}
    return made_of(nodes, inputs, constants, ("y", "t"))


def doubled_values(rounds: int) -> ModelProto:
    """A Concat of a shape with itself, again and again."""
    nodes = [node("Shape", ["x"], ["s0"])]
    nodes += [node("Concat", [f"s{n}", f"s{n}"], [f"s{n + 1}"], axis=0) for n in range(rounds)]
    nodes.append(node("Reshape", ["x", f"s{rounds}"], ["y"]))
    return made_of(nodes, [value("x", [2, 3])])


def nested_functions(depth: int) -> ModelProto:
    """Functions of which each calls the next one twice."""
    model = made_of([node("f0", ["x"], ["y"], domain="d")], [value("x", [2, 3])])
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("d", 1)]
    model.opset_import.append(opsets[1])
    for level in range(depth):
        name = f"f{level + 1}"
        calls = [node(name, ["x"], ["a"], domain="d"), node(name, ["a"], ["y"], domain="d")]
        body = calls if level < depth - 1 else [node("Relu", ["x"], ["y"])]
        model.functions.append(helper.make_function("d", f"f{level}", ["x"], ["y"], body, opsets))
    return model


def negative_size() -> ModelProto:
    """A kernel larger than its input, and a Slice of the result."""
    nodes = [node("Conv", ["x", "w"], ["t"]), node("Slice", ["t", "a", "b", "ax"], ["y"])]
    inputs = [value("x", [1, 1, 8]), value("w", [1, 1, 20])]
    return made_of(nodes, inputs, {"a": [0], "b": [100], "ax": [2]})


def long_axis(operator: str) -> ModelProto:
    """An operator that follows values, of an axis of 2^30 cells."""
    inputs = {"Add": ["b", "x"], "Concat": ["b", "b"], "Gather": ["x", "b"]}.get(operator, ["b"])
    attributes: dict[str, Any] = {"Cast": {"to": 7}, "Concat": {"axis": 0}}.get(operator, {})
    nodes = [
        node("ConstantOfShape", ["s"], ["b"]),
        node(operator, inputs, ["y"], **attributes),
    ]
    return made_of(nodes, [value("x", [1])], {"s": [2**30]})


def long_by_reshape(sizes: Sequence[int], target: Sequence[int]) -> ModelProto:
    """A Cast of one long axis that a Reshape makes of an input."""
    nodes = [node("Reshape", ["x", "t"], ["b"]), node("Cast", ["b"], ["y"], to=7)]
    return made_of(nodes, [value("x", sizes)], {"t": target})


def cut_of(sizes: Sequence[int]) -> ModelProto:
    """A Slice of an input whose stated sizes are below 0."""
    nodes = [node("Slice", ["x", "a", "b", "ax"], ["y"])]
    return made_of(nodes, [value("x", sizes)], {"a": [0], "b": [100], "ax": [0]})
