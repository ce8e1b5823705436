"""Models that native code reads out of bounds: slices, sizes below 0, functions in functions."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

node = helper.make_node


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


def cut_of(sizes: Sequence[int]) -> ModelProto:
    """A Slice of an input whose stated sizes are below 0."""
    nodes = [node("Slice", ["x", "a", "b", "ax"], ["y"])]
    return made_of(nodes, [value("x", sizes)], {"a": [0], "b": [100], "ax": [0]})
