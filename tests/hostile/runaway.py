"""Models that load and do not end, or take all memory, as soon as somebody runs them."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import onnx
from onnx import GraphProto, ModelProto, helper

from tests.hostile import verbs
from tests.hostile.case import Command, Place
from tests.hostile.growing import model_of
from tests.hostile.valid import reference

MOST = 2**63 - 1


def running(random: Random, place: Place) -> Sequence[Command]:
    """A model that costs what it costs only when it is run: validate, diagnose, --validate."""
    found = random.choice([_loop, _loop, _scan, _allocation, _slow, _odd])(random)
    place.write("model.onnx", found.SerializeToString())
    place.write("data.npz", reference(random, found))
    drawn = [
        verbs.validate(random),
        verbs.diagnose(random),
        verbs.inspect(random),
        _judged(verbs.rewrite(random)),
        _judged(verbs.retarget(random)),
    ]
    return random.sample(drawn, 3)


def _judged(command: Command) -> Command:
    if "--validate" in command.arguments:
        return command
    verb = command.arguments[0]
    more = ("--validate", "--device", "cpu", "--samples", "1", *verbs.limits(verb))
    return Command((*command.arguments, *more), output=command.output)


def _body(random: Random, *, scan: bool) -> GraphProto:
    """A body that keeps its condition and pools, and collects or grows what it carries."""
    nodes = [helper.make_node("Identity", ["c"], ["d"])]
    grows = random.random() < 0.3
    pool: dict[str, Any] = {"kernel_shape": [3], "auto_pad": "SAME_UPPER"}
    nodes.append(
        helper.make_node("Concat", ["v", "v"], ["w"], axis=2)
        if grows
        else helper.make_node("MaxPool", ["v"], ["w"], "pool", **pool)
    )
    outputs = [
        helper.make_tensor_value_info("d", onnx.TensorProto.BOOL, []),
        helper.make_tensor_value_info("w", onnx.TensorProto.FLOAT, None),
    ]
    if scan:
        nodes.append(helper.make_node("Identity", ["w"], ["each"]))
        outputs.append(helper.make_tensor_value_info("each", onnx.TensorProto.FLOAT, None))
    inputs = [
        helper.make_tensor_value_info("i", onnx.TensorProto.INT64, []),
        helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, []),
        helper.make_tensor_value_info("v", onnx.TensorProto.FLOAT, None),
    ]
    return helper.make_graph(nodes, "body", inputs, outputs)


def _loop(random: Random) -> ModelProto:
    """A Loop without an end, with one, or in another; its condition is never false."""
    scan = random.random() < 0.4
    trips = random.choice([MOST, 10**9, 10**6, 40, 0, -1])
    node = helper.make_node(
        "Loop",
        [random.choice(["m", "m", ""]), random.choice(["yes", ""]), "x"],
        ["y", *(["all"] if scan else [])],
        "loop",
        body=_body(random, scan=scan),
    )
    constants = {"m": trips, "yes": True}
    return model_of([node], {"x": [1, 1, random.choice([4, 1000])]}, constants=constants)


def _scan(random: Random) -> ModelProto:
    """A Scan over an axis that Expand makes as long as it likes."""
    body = helper.make_graph(
        [
            helper.make_node("Add", ["s", "e"], ["t"]),
            helper.make_node("Concat", ["t", "t"], ["o"], axis=0),
        ],
        "body",
        [helper.make_tensor_value_info(name, 1, [4]) for name in ("s", "e")],
        [helper.make_tensor_value_info(name, 1, None) for name in ("t", "o")],
    )
    size = random.choice([4, 2**20, 2**28, 2**33])
    nodes = [
        helper.make_node("Expand", ["one", "n"], ["e"]),
        helper.make_node("Scan", ["x", "e"], ["y", "o"], "scan", body=body, num_scan_inputs=1),
    ]
    constants = {"one": np.ones((1, 4), np.float32), "n": [size, 4]}
    return model_of(nodes, {"x": [4]}, constants=constants)


def _allocation(random: Random) -> ModelProto:
    """Tensors of gigabytes out of nothing, from what is only known when it runs."""
    size = random.choice([2**20, 2**28, 2**30, 2**33, 2**40])
    nodes = [
        helper.make_node("ReduceMax", ["x"], ["m"], keepdims=0),
        helper.make_node("Cast", ["m"], ["i"], to=7),
        helper.make_node("Mul", ["i", "zero"], ["o"]),
        helper.make_node("Add", ["o", "n"], ["s"]),
        random.choice(
            [
                helper.make_node("ConstantOfShape", ["s"], ["z"]),
                helper.make_node("Expand", ["x", "s"], ["z"]),
                helper.make_node("RandomNormal", [], ["z"], shape=[1, 1, min(size, 2**33)]),
            ]
        ),
        helper.make_node("MaxPool", ["z"], ["y"], "op", kernel_shape=[3], pads=[1, 1]),
    ]
    constants = {"zero": 0, "n": [1, 1, size]}
    return model_of(nodes, {"x": [1, 1, 1]}, constants=constants)


def _slow(random: Random) -> ModelProto:
    """A convolution or a product with more to do than a minute holds."""
    size = random.choice([64, 512, 4096])
    nodes = [
        helper.make_node("Expand", ["x", "n"], ["z"]),
        helper.make_node("Expand", ["w1", "k"], ["w"]),
        helper.make_node("Conv", ["z", "w"], ["y"], "op", auto_pad="SAME_UPPER"),
    ]
    constants = {
        "n": [1, 16, size, size], "k": [16, 16, size // 4 + 1, size // 4 + 1],
        "w1": np.ones((1, 1, 1, 1), np.float32),
    }  # fmt: skip
    return model_of(nodes, {"x": [1, 1, 1, 1]}, constants=constants)


def _odd(random: Random) -> ModelProto:
    """Any operator of onnx with inputs and attributes that nobody thought of."""
    schemas = [one for one in onnx.defs.get_all_schemas() if one.domain == ""]
    nodes, names = [], ["x", "x", "i", "f", "b", "s", ""]
    for n in range(random.randrange(1, 6)):
        schema = random.choice(schemas)
        count = random.randrange(min(schema.min_input, 5), min(schema.max_input, 5) + 1)
        outputs = [f"o{n}_{k}" for k in range(max(1, min(schema.min_output, 4)))]
        node = helper.make_node(schema.name, random.choices(names, k=count), outputs)
        for name, entry in schema.attributes.items():
            if entry.required or random.random() < 0.2:
                _set(random, node, name, entry.type)
        nodes.append(node)
        names += outputs * 2
    nodes.append(
        helper.make_node("MaxPool", [names[-1]], ["y"], "op", kernel_shape=[3], pads=[1, 1])
    )
    constants = {
        "i": [random.choice([0, 1, 2, -1, 2**31, MOST]) for _ in range(random.randrange(4))],
        "f": np.asarray([1.0, np.nan, 1e38], np.float32),
        "b": [True, False],
        "s": random.choice([0, 1, 2**40]),
    }
    return model_of(
        nodes,
        {"x": random.choice([[1, 1, 9], [2, 3], [1, 1, 4, 4], []])},
        constants=constants,
        opset=random.choice([13, 17, 19, 21]),
    )


def _set(random: Random, node: onnx.NodeProto, name: str, kind: object) -> None:
    integer = random.choice([0, 1, 2, -1, 7, 2**31, MOST])
    values: dict[str, Any] = {
        "INT": integer,
        "INTS": [integer] * random.randrange(1, 4),
        "FLOAT": random.choice([0.0, -1.0, float("nan"), 1e38]),
        "FLOATS": [float("inf")] * random.randrange(1, 3),
        "STRING": random.choice(["", "linear", "constant", "x" * 999]),
        "STRINGS": ["a", ""],
        "TENSOR": onnx.numpy_helper.from_array(np.asarray([integer % 2**62])),
        "GRAPH": _body(random, scan=False),
    }
    value = values.get(str(kind).rpartition(".")[2])
    if value is not None:
        node.attribute.append(helper.make_attribute(name, value))
