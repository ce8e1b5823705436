"""Constants that somebody folds: divisions by 0, slices and shapes of 2^63, indices outside."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, helper

from tests.hostile import verbs
from tests.hostile.case import Command, Place
from tests.hostile.growing import model_of
from tests.hostile.valid import reference

EXTREME = (0, 1, -1, 2, 3, 7, -3, 2**31, 2**32, 2**33, 2**62, 2**63 - 1, -(2**63), 10**9)
UNARY = ("Neg", "Abs", "Sign", "Not", "Floor", "Ceil", "Sqrt", "Reciprocal", "Exp", "Log", "Round",
         "NonZero", "Size", "Shape", "Identity", "Flatten", "Squeeze", "BitwiseNot", "IsNaN",
         "Unique", "ReduceProd", "ReduceSum", "ReduceMax", "ArgMax", "CumSum", "Det", "Trilu",
         "EyeLike", "ConstantOfShape", "Transpose")  # fmt: skip
BINARY = ("Add", "Sub", "Mul", "Div", "Mod", "Pow", "Max", "Min", "BitShift", "Equal", "Less",
          "Greater", "And", "Xor", "Gather", "GatherElements", "GatherND", "Reshape", "Expand",
          "Tile", "Unsqueeze", "Concat", "Split", "Pad", "MatMul", "TopK", "CumSum", "ReduceSum",
          "Squeeze", "Compress")  # fmt: skip
TERNARY = ("Range", "Where", "Slice", "ScatterND", "ScatterElements", "OneHot", "Clip", "Pad",
           "Resize")  # fmt: skip
KINDS = ("int64", "int64", "int64", "int64", "int32", "float32", "float64", "bool", "float16")


def folding(random: Random, place: Place) -> Sequence[Command]:
    """A few operators on extreme constants, of which the pads or the shape of something is made."""
    found = _slice(random) if random.random() < 0.15 else _model(random)
    place.write("model.onnx", found.SerializeToString())
    place.write("data.npz", reference(random, found))
    return verbs.every(random)


def _array(random: Random) -> np.ndarray:
    shape = random.choice([(), (1,), (2,), (3,), (4,), (6,), (8,), (0,), (2, 2), (1, 3), (2, 0)])
    values = [random.choice(EXTREME) for _ in range(int(np.prod(shape)))]
    with np.errstate(all="ignore"):
        return np.asarray(values, np.int64).reshape(shape).astype(random.choice(KINDS))


def _model(random: Random) -> ModelProto:
    constants: dict[str, Any] = {f"c{n}": _array(random) for n in range(4)}
    names = [*constants, *(["s"] if random.random() < 0.5 else [])]
    nodes = [helper.make_node("Shape", ["x"], ["s"])]
    for n in range(random.randrange(1, 7)):
        group, count = random.choice([(UNARY, 1), (BINARY, 2), (BINARY, 2), (TERNARY, 3)])
        op = random.choice(group)
        inputs = [random.choice(names) for _ in range(count)]
        if op == "Slice":
            inputs += [random.choice(names) for _ in range(random.randrange(3))]
        more: dict[str, Any] = {"axis": random.choice([0, 0, 1, -1, 2**40])} if op in _AXIS else {}
        if op == "BitShift":
            more["direction"] = random.choice(["LEFT", "RIGHT"])
        nodes.append(helper.make_node(op, inputs, [f"n{n}"], **more))
        names += [f"n{n}", f"n{n}"]
        if random.random() < 0.3:
            nodes.append(
                helper.make_node(
                    "Cast", [f"n{n}"], [f"k{n}"], to=random.choice([7, 7, 1, 6, 9, 8, 99])
                )
            )
            names.append(f"k{n}")
    return _with_end(random, nodes, names[-1], constants)


_AXIS = ("Concat", "Gather", "GatherElements", "Split", "Flatten", "ArgMax", "OneHot", "TopK",
         "Compress", "ScatterElements")  # fmt: skip


def _with_end(
    random: Random, nodes: list[NodeProto], name: str, constants: dict[str, Any]
) -> ModelProto:
    weights = {"w": np.ones((1, 1, 3), np.float32)}
    match random.randrange(4):
        case 0 | 1:
            nodes += [
                helper.make_node("Pad", ["x", name], ["z"], "pad"),
                helper.make_node("Conv", ["z", "w"], ["y"], "op", pads=[1, 1]),
            ]
        case 2:
            nodes += [
                helper.make_node("Reshape", ["x", name], ["z"]),
                helper.make_node(
                    "Conv", ["z", "w"], ["y"], "op", auto_pad="SAME_UPPER", strides=[2]
                ),
            ]
        case _:
            nodes += [
                helper.make_node("Expand", ["x", name], ["z"]),
                helper.make_node(
                    "MaxPool", ["z"], ["y"], "op", kernel_shape=[3], pads=[1, 1], ceil_mode=1
                ),
            ]
    return model_of(
        nodes,
        {"x": random.choice([[1, 1, 9], [1, 1, "L"]])},
        constants=constants | weights,
        opset=random.choice([13, 17, 18, 19]),
    )


def _slice(random: Random) -> ModelProto:
    """The Slice that onnx's own inference never comes back from, and its relatives."""

    def pick() -> list[int]:
        return [random.choice([*EXTREME, -(2**63), 2**63 - 1])]

    constants: dict[str, Any] = {
        "starts": pick(), "ends": pick(), "axes": [random.choice([0, 2, -1, 5])], "steps": pick(),
        "data": np.arange(random.choice([1, 5, 300])),
    }  # fmt: skip
    data = random.choice(["data", "x", "s"])
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Slice", [data, "starts", "ends", "axes", "steps"], ["z"]),
    ]
    if data == "x":
        nodes.append(helper.make_node("MaxPool", ["z"], ["y"], "op", kernel_shape=[3], pads=[1, 1]))
        return model_of(nodes, {"x": [1, 1, 9]}, constants=constants)
    return _with_end(random, nodes, "z", constants)
