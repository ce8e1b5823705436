"""Small models that ask for far more than they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import (
    AttributeProto,
    FunctionProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    helper,
    numpy_helper,
)

OPSETS = [helper.make_opsetid("", 19), helper.make_opsetid("d", 1)]
Size = int | str


def value(name: str, dims: Sequence[Size] | None, dtype: int = TensorProto.FLOAT) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, dims)


def whole(name: str, numbers: object) -> TensorProto:
    return numpy_helper.from_array(np.array(numbers, np.int64), name)


def graph(
    nodes: Sequence[NodeProto],
    inputs: Sequence[ValueInfoProto],
    outputs: Sequence[str],
    constants: Sequence[TensorProto] = (),
    functions: Sequence[FunctionProto] = (),
) -> ModelProto:
    body = helper.make_graph(nodes, "g", inputs, [value(o, None) for o in outputs], constants)
    return helper.make_model(body, opset_imports=OPSETS, functions=functions, ir_version=10)


def window(op: str = "MaxPool", size: Size = 8, kernel: int = 3, **attributes: Any) -> ModelProto:
    """One pool, or a convolution with a weight of ones."""
    inputs, constants = ["x"], []
    if "Conv" in op:
        inputs.append("w")
        constants.append(numpy_helper.from_array(np.ones((1, 1, kernel), np.float32), "w"))
    else:
        attributes["kernel_shape"] = [kernel]
    node = helper.make_node(op, inputs, ["y"], "op", **attributes)
    return graph([node], [value("x", [1, 1, size])], ["y"], constants)


def pad(mode: str, sides: tuple[int, int], size: Size = 8) -> ModelProto:
    """A Pad in front of a pool."""
    nodes = [
        helper.make_node("Pad", ["x", "p"], ["q"], "pad", mode=mode),
        helper.make_node("MaxPool", ["q"], ["y"], "op", kernel_shape=[3]),
    ]
    begin, end = sides
    return graph(nodes, [value("x", [1, 1, size])], ["y"], [whole("p", [0, 0, begin, 0, 0, end])])


def folded(nodes: Sequence[NodeProto], *constants: TensorProto) -> ModelProto:
    """A Pad whose pads `p` the nodes compute."""
    rest = [
        helper.make_node("Pad", ["x", "p"], ["q"], "pad"),
        helper.make_node("MaxPool", ["q"], ["y"], "op", kernel_shape=[3]),
    ]
    return graph([*nodes, *rest], [value("x", [1, 1, 8])], ["y"], constants)


def sums_of_sizes(rounds: int = 60) -> ModelProto:
    """Each round doubles the text of both sizes, which another node then reads."""
    nodes = [
        helper.make_node("Shape", ["x"], ["sizes"]),
        helper.make_node("Gather", ["sizes", "second"], ["a0"]),
        helper.make_node("Gather", ["sizes", "third"], ["b0"]),
    ]
    for k in range(rounds):
        nodes += [
            helper.make_node("Add", [f"a{k}", f"b{k}"], [f"c{k}"]),
            helper.make_node("Mul", [f"c{k}", "three"], [f"d{k}"]),
            helper.make_node("Div", [f"d{k}", "two"], [f"a{k + 1}"]),
            helper.make_node("Div", [f"c{k}", "five"], [f"b{k + 1}"]),
            helper.make_node("ConstantOfShape", [f"a{k + 1}"], [f"e{k}"]),
        ]
    nodes += [
        helper.make_node("Concat", ["zeros", f"a{rounds}"], ["p"], axis=0),
        helper.make_node("Pad", ["x", "p"], ["y"], "pad"),
    ]
    numbers = {"second": [2], "third": [3], "two": [2], "three": [3], "five": [5]}
    constants = [whole(name, held) for name, held in numbers.items()] + [whole("zeros", [0] * 7)]
    return graph(nodes, [value("x", [1, 1, "H", "W"])], ["y"], constants)


def calls(depth: int, *, twice: bool) -> ModelProto:
    """Functions that call the next one, with two different sizes if `twice`."""
    functions = []
    for k in range(depth):
        body = [helper.make_node(f"F{k + 1}", ["a", "one"], ["b"], domain="d")]
        if twice:
            body = [
                helper.make_node("Concat", ["a", "a"], ["even"], axis=2),
                helper.make_node("Concat", ["a", "a", "one"], ["odd"], axis=2),
                helper.make_node(f"F{k + 1}", ["even", "one"], ["u"], domain="d"),
                helper.make_node(f"F{k + 1}", ["odd", "one"], ["v"], domain="d"),
                helper.make_node("Concat", ["u", "v"], ["b"], axis=2),
            ]
        functions.append(helper.make_function("d", f"F{k}", ["a", "one"], ["b"], body, OPSETS))
    same: dict[str, Any] = {"kernel_shape": [3], "strides": [2], "auto_pad": "SAME_UPPER"}
    last = [helper.make_node("MaxPool", ["a"], ["b"], "op", **same)]
    functions.append(helper.make_function("d", f"F{depth}", ["a", "one"], ["b"], last, OPSETS))
    call = helper.make_node("F0", ["x", "one"], ["y"], "call", domain="d")
    inputs = [value("x", [1, 1, 3]), value("one", [1, 1, 1])]
    return graph([call], inputs, ["y"], (), functions)


def halves(depth: int) -> ModelProto:
    """Functions that each pool by two and call the next with both sizes: depth ** 2 / 2 ways."""
    half: dict[str, Any] = {"kernel_shape": [3], "strides": [2], "auto_pad": "SAME_UPPER"}
    body = [
        helper.make_node("AveragePool", ["a"], ["h"], "half", **half),
        helper.make_node("F1", ["a"], ["c"], domain="d"),
        helper.make_node("F1", ["h"], ["d"], domain="d"),
        helper.make_node("Concat", ["c", "d"], ["b"], axis=2),
    ]
    functions = []
    for k in range(depth):
        for node in body[1:3]:
            node.op_type = f"F{k + 1}"
        functions.append(helper.make_function("d", f"F{k}", ["a"], ["b"], body, OPSETS))
    same: dict[str, Any] = {"kernel_shape": [3], "auto_pad": "SAME_UPPER"}
    last = [helper.make_node("MaxPool", ["a"], ["b"], "op", **same)]
    functions.append(helper.make_function("d", f"F{depth}", ["a"], ["b"], last, OPSETS))
    call = helper.make_node("F0", ["x"], ["y"], "call", domain="d")
    return graph([call], [value("x", [1, 1, "L"])], ["y"], (), functions)


def nested_ifs(depth: int) -> ModelProto:
    """An If in an If; more than a file can hold, which a model in memory can."""
    model = graph([], [value("x", [1, 1, 8]), value("c", [], TensorProto.BOOL)], [])
    body = model.graph
    for k in range(depth):
        body.output.append(value(f"y{k}", None))
        node = body.node.add(op_type="If", name=f"if{k}", input=["c"], output=[f"y{k}"])
        body = node.attribute.add(name="then_branch", type=AttributeProto.GRAPH).g
    body.output.append(value("y", None))
    body.node.append(helper.make_node("Relu", ["x"], ["y"]))
    return model


def chain(op: str, count: int, size: Size = 8, **attributes: Any) -> ModelProto:
    """The same operator many times, one behind the other."""
    inputs = ["w"] if "Conv" in op else ["p"] if op == "Pad" else []
    nodes = [
        helper.make_node(op, [f"t{k}", *inputs], [f"t{k + 1}"], f"op{k}", **attributes)
        for k in range(count)
    ]
    weight = numpy_helper.from_array(np.ones((1, 1, 3), np.float32), "w")
    constants = [weight, whole("p", [0, 0, 1, 0, 0, 1])]
    return graph(nodes, [value("t0", [1, 1, size])], [f"t{count}"], constants)
