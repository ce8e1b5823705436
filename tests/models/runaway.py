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


def cut_of(sizes: Sequence[int]) -> ModelProto:
    """A Slice of an input whose stated sizes are below 0."""
    nodes = [node("Slice", ["x", "a", "b", "ax"], ["y"])]
    return made_of(nodes, [value("x", sizes)], {"a": [0], "b": [100], "ax": [0]})


def rewritten_beside_a_crash() -> ModelProto:
    """A pool whose sizes are corrected behind a rewrite, in a model that crashes inference."""
    model = negative_size()
    pool = node(
        "MaxPool", ["x"], ["z"], kernel_shape=[2], strides=[3], ceil_mode=1, auto_pad="SAME_UPPER"
    )
    model.graph.node.append(pool)
    model.graph.output.append(value("z", [1, 1, "n"]))
    return model
