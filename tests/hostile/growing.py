"""Small models that describe large things: sizes, expressions, contexts, nesting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, helper

from tests.hostile import verbs
from tests.hostile.case import Command, Place
from tests.hostile.valid import reference

Shapes = Mapping[str, Sequence[int | str | None]]
FLOAT, INT64, BOOL = 1, 7, 9


def model_of(
    nodes: Sequence[NodeProto],
    inputs: Shapes,
    *,
    constants: Mapping[str, Any] | None = None,
    opset: int = 17,
    functions: Sequence[FunctionProto] = (),
    output: str = "y",
    kind: int = FLOAT,
) -> ModelProto:
    """A model with one output of unknown shape."""
    held = [
        helper.make_node(
            "Constant",
            [],
            [name],
            value=onnx.numpy_helper.from_array(np.asarray(value)),
        )
        for name, value in (constants or {}).items()
    ]
    graph = helper.make_graph(
        [*held, *nodes],
        "hostile",
        [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(output, kind, None)],
    )
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("local", 1)]
    return helper.make_model(graph, ir_version=8, opset_imports=imports, functions=functions)


def attack(random: Random, place: Place, found: ModelProto) -> Sequence[Command]:
    """Every verb on such a model."""
    place.write("model.onnx", found.SerializeToString())
    place.write("data.npz", reference(random, found))
    return verbs.every(random)


def blow_ups(random: Random, place: Place) -> Sequence[Command]:
    """Sizes, and texts of sizes, that double from node to node; windows and pads without end."""
    made = random.choice([_expressions, _doubled, _windows, _wide_pads, _filled, _nested, _long])
    return attack(random, place, made(random))


def _end(random: Random, name: str, rank: int) -> list[NodeProto]:
    """Something padded behind a tensor called `name`."""
    axes = max(1, rank - 2)
    return [
        random.choice(
            [
                helper.make_node("MaxPool", [name], ["y"], "end", kernel_shape=[3] * axes,
                                 strides=[2] * axes, auto_pad="SAME_UPPER"),
                helper.make_node("AveragePool", [name], ["y"], "end", kernel_shape=[3] * axes,
                                 pads=[1] * 2 * axes, ceil_mode=1),
                helper.make_node("LpPool", [name], ["y"], "end", kernel_shape=[2] * axes,
                                 auto_pad="SAME_LOWER"),
            ]
        )
    ]  # fmt: skip


def _expressions(random: Random) -> ModelProto:
    """Rounds of arithmetic on two sizes that are not known, which become those of a tensor."""
    rounds = random.choice([3, 8, 20, 60, 200])
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "two"], ["a0"]),
        helper.make_node("Gather", ["s", "three"], ["b0"]),
    ]
    operators = ["Add", "Mul", "Div", "Sub", "Max", "Min", "Mod"]
    for n in range(rounds):
        first, second = random.choice(operators[:4]), random.choice(operators)
        nodes.append(helper.make_node(first, [f"a{n}", f"b{n}"], [f"a{n + 1}"]))
        nodes.append(
            helper.make_node(second, [f"b{n}", f"a{n + random.randrange(2)}"], [f"b{n + 1}"])
        )
    nodes += [
        helper.make_node("Unsqueeze", [f"a{rounds}", "zero"], ["u"]),
        helper.make_node("Unsqueeze", [f"b{rounds}", "zero"], ["v"]),
        helper.make_node("Concat", ["ones", "u", "v"], ["t"], axis=0),
        helper.make_node(random.choice(["Reshape", "Expand"]), ["x", "t"], ["z"]),
    ]
    constants = {"two": 2, "three": 3, "zero": [0], "ones": [1, 1]}
    return model_of(
        [*nodes, *_end(random, "z", 4)], {"x": ["N", "C", "H", "W"]}, constants=constants
    )


def _doubled(random: Random) -> ModelProto:
    """A tensor doubled so many times by Concat, Tile, Expand, Resize, Pad, ConvTranspose."""
    rounds = random.choice([10, 25, 40, 64, 300])
    size: Any = random.choice([1, 3, "H", "N*2"])
    nodes, name = [], "x"
    for n in range(rounds):
        out = f"d{n}"
        nodes.append(
            random.choice(
                [
                    helper.make_node("Concat", [name, name], [out], axis=2),
                    helper.make_node("Tile", [name, "twice"], [out]),
                    helper.make_node(
                        "Pad",
                        [name, "pads"],
                        [out],
                        mode=random.choice(["wrap", "edge", "constant", "reflect"]),
                    ),
                    helper.make_node("Resize", [name, "", "scales"], [out]),
                    helper.make_node("ConvTranspose", [name, "w"], [out], strides=[2]),
                ]
            )
        )
        name = out
    constants = {
        "twice": [1, 1, 2],
        "pads": [0, 0, 1, 0, 0, 2],
        "scales": np.asarray([1, 1, 2], "float32"),
        "w": np.ones((1, 1, 3), "float32"),
    }
    return model_of(
        [*nodes, *_end(random, name, 3)], {"x": [1, 1, size]}, constants=constants, opset=19
    )


def _windows(random: Random) -> ModelProto:
    """Axes, kernels, strides, dilations and pads of up to 2^62."""

    def large() -> int:
        return random.choice([1, 2, 3, 7, 2**16, 2**24, 2**31, 2**33, 2**40, 2**62])

    op = random.choice(["MaxPool", "AveragePool", "LpPool", "Conv", "ConvTranspose", "MaxPool"])
    attributes: dict[str, Any] = {"strides": [large()], "dilations": [large()]}
    if op in ("AveragePool", "LpPool"):
        attributes.pop("dilations")
    if "Pool" in op:
        attributes["kernel_shape"] = [large()]
        if op != "LpPool" and random.random() < 0.5:
            attributes["ceil_mode"] = 1
    if random.random() < 0.5:
        attributes["auto_pad"] = random.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
    else:
        attributes["pads"] = [large(), large()]
    kept = {
        name: value
        for name, value in attributes.items()
        if random.random() < 0.7 or name == "kernel_shape"
    }
    weights = [] if "Pool" in op else ["w"]
    constants = {"w": np.ones((1, 1, 3), "float32")} if weights else {}
    node = helper.make_node(op, ["x", *weights], ["y"], "op", **kept)
    size: Any = random.choice([1, 9, 2**16, 2**24, 2**33, 2**40, 2**62, "L"])
    return model_of([node], {"x": [1, 1, size]}, constants=constants, opset=19)


def _wide_pads(random: Random) -> ModelProto:
    """A Pad in each mode with pads of up to 2^62, in front of something."""
    ends = [
        random.choice([0, 1, 5, 2**20, 2**24, 2**33, 2**62, -1, -(2**24), -(2**62)])
        for _ in range(2)
    ]
    mode = random.choice(["constant", "reflect", "edge", "wrap"])
    nodes = [helper.make_node("Pad", ["x", "p"], ["z"], "pad", mode=mode)]
    constants: dict[str, Any] = {"p": [0, 0, ends[0], 0, 0, ends[1]]}
    if random.random() < 0.5:
        constants["w"] = np.ones((1, 1, 3), "float32")
        nodes.append(helper.make_node("Conv", ["z", "w"], ["y"], "op"))
    else:
        nodes += _end(random, "z", 3)
    size: Any = random.choice([1, 5, 2**24, 2**33, "L"])
    return model_of(nodes, {"x": [1, 1, size]}, constants=constants, opset=19)


def _filled(random: Random) -> ModelProto:
    """Tensors that a few bytes describe: ConstantOfShape, Range, EyeLike, Expand."""
    size: Any = random.choice([2**10, 2**20, 2**28, 2**30, 2**33, 2**62])
    made = random.choice(
        [
            [helper.make_node("ConstantOfShape", ["n"], ["z"])],
            [helper.make_node("Expand", ["one", "n"], ["z"])],
            [helper.make_node("Tile", ["one", "n"], ["z"])],
            [
                helper.make_node("Range", ["start", "stop", "step"], ["r"]),
                helper.make_node("Unsqueeze", ["r", "axes"], ["q"]),
                helper.make_node("Cast", ["q"], ["z"], to=1),
            ],
        ]
    )
    constants = {
        "n": [1, 1, size],
        "one": np.ones((1, 1, 1), "float32"),
        "start": 0,
        "stop": size,
        "step": random.choice([1, -1, 2**30]),
        "axes": [0, 1],
    }
    joined = helper.make_node("Concat", ["z", "x"], ["c"], axis=2)
    return model_of([*made, joined, *_end(random, "c", 3)], {"x": [1, 1, 4]}, constants=constants)


def _nested(random: Random) -> ModelProto:
    """An If in an If in an If, as deep as protobuf takes, or deeper."""
    depth = random.choice([2, 10, 24, 31])
    inner = GraphProto(name="innermost")
    inner.node.extend(_end(random, "x", 3))
    inner.output.append(helper.make_tensor_value_info("y", FLOAT, None))
    graph = inner.SerializeToString()
    for level in range(depth):
        node = NodeProto(op_type="If", input=["c"], output=["y"], name="if").SerializeToString()
        for name in ("then_branch", "else_branch")[: random.choice([1, 2]) if level < 12 else 1]:
            entry = AttributeProto(name=name, type=AttributeProto.GRAPH).SerializeToString()
            node += _field(5, entry + _field(6, graph))
        outer = GraphProto(name=f"level{level}")
        outer.output.append(helper.make_tensor_value_info("y", FLOAT, None))
        graph = outer.SerializeToString() + _field(1, node)
    found = model_of([], {"x": [1, 1, 9]}, constants={"c": True})
    deep = ModelProto()
    deep.ParseFromString(found.SerializeToString() + _field(7, graph))
    return deep


def _field(number: int, data: bytes) -> bytes:
    """A message in a field of another, as protobuf writes it."""
    length, size = bytearray(), len(data)
    while size > 127:
        length.append(size & 127 | 128)
        size >>= 7
    return bytes([number << 3 | 2, *length, size]) + data


def _long(random: Random) -> ModelProto:
    """Thousands of nodes in a row, or of readers of one tensor."""
    count = random.choice([100, 1000, 5000])
    op = random.choice(["Relu", "Pad", "MaxPool", "Identity", "Shape"])
    nodes, name = [], "x"
    wide = random.random() < 0.3
    for n in range(count):
        inputs = [name, "p"] if op == "Pad" else [name]
        more: dict[str, Any] = {"kernel_shape": [3], "pads": [1, 1]} if op == "MaxPool" else {}
        nodes.append(helper.make_node(op, inputs, [f"t{n}"], **more))
        name = name if wide or op == "Shape" else f"t{n}"
    constants = {"p": [0, 0, 1, 0, 0, 1]}
    return model_of([*nodes, *_end(random, name, 3)], {"x": [1, 1, 9]}, constants=constants)


def functions(random: Random, place: Place) -> Sequence[Command]:
    """Functions that call each other: in circles, twice each, with what they do not have."""
    count = random.choice([1, 2, 3, 8, 14, 20, 60])
    way = random.choice(["circle", "doubling", "doubling", "missing", "attributes", "names"])
    made = [_function(random, way, number, count) for number in range(count)]
    if way == "names":
        made += made[: random.randrange(1, 3)]
    call = helper.make_node("f0", ["x"], ["y"], "call", domain="local")
    if way == "attributes":
        call.attribute.append(
            helper.make_attribute("pads", random.choice([[1, 1], [1], 3, "SAME"]))
        )
    found = model_of([call], {"x": random.choice([[1, 1, 64], [1, 1, "L"]])}, functions=made)
    return attack(random, place, found)


def _function(random: Random, way: str, number: int, count: int) -> FunctionProto:
    later = f"f{(number + 1) % count}" if way == "circle" else f"f{number + 1}"
    pool: dict[str, Any] = {"kernel_shape": [3], "auto_pad": "SAME_UPPER"}
    last = number == count - 1 and way != "circle"
    if last and way != "missing":
        nodes = [helper.make_node("MaxPool", ["a"], ["b"], "pool", **pool)]
    else:
        nodes = [
            helper.make_node("AveragePool", ["a"], ["h"], "half", strides=[2], **pool),
            helper.make_node(later, ["a"], ["c"], "one", domain="local"),
            helper.make_node(later, ["h"], ["d"], "two", domain="local"),
            helper.make_node("Concat", ["c", "d"], ["b"], axis=2),
        ]
    if way == "attributes":
        for node in nodes:
            entry = node.attribute.add(name="pads", type=AttributeProto.INTS)
            entry.ref_attr_name = random.choice(["pads", "other", ""])
    imports = [helper.make_opsetid("", random.choice([17, 17, 17, 9, 0]))]
    if random.random() < 0.8:
        imports.append(helper.make_opsetid("local", 1))
    return helper.make_function(
        "local", f"f{number}", ["a"], ["b"], nodes, imports,
        attributes=["pads"] if way == "attributes" else [],
    )  # fmt: skip
