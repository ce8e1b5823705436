"""What the ONNX text does not allow of a node, against what onnxruntime opens."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import onnxpad
from onnxpad import OnnxpadError

OPERATORS = ("Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool", "Pad", "ConvInteger")
DAMAGES = ("none", "length", "type", "element type", "rank of a constant", "rank", "value", "text")


def harmed(
    random: Random, attributes: dict[str, Any], constants: dict[str, Any], dims: list[int]
) -> list[int]:
    """Make one thing wrong, or nothing; the sizes of the input."""
    match random.choice(DAMAGES), random.choice(list(attributes)):
        case "length", name if isinstance(attributes[name], list):
            attributes[name] = [*attributes[name], 1]
        case "type", name:
            attributes[name] = random.choice((1.5, "x", [1.5], 3))
        case "element type", _ if constants:
            name = random.choice(list(constants))
            constants[name] = constants[name].astype(random.choice(("i4", "f8", "f2", "i8")))
        case "rank of a constant", _ if constants:
            name = random.choice(list(constants))
            constants[name] = constants[name][None]
        case "rank", _:
            return [*dims, 5]
        case "value", name if isinstance(attributes[name], list):
            attributes[name] = [-1, *attributes[name][1:]]
        case "text", _:
            attributes[random.choice(("auto_pad", "mode"))] = random.choice(("SAME", "wrong"))
    return dims


def damaged(random: Random) -> onnx.ModelProto:
    """A model of one operator, in most cases with something wrong about it."""
    op, opset = random.choice(OPERATORS), random.choice((8, 11, 13, 18, 19, 21))
    rank = random.choice((1, 2))
    dtype = np.dtype(np.uint8 if op == "ConvInteger" else np.float32)
    dims = [1, 2, *(random.randint(4, 7) for _ in range(rank))]
    attributes: dict[str, Any] = {}
    constants: dict[str, Any] = {}
    if op == "Pad":
        pads = [random.randint(0, 1) for _ in range(2 * len(dims))]
        attributes["mode"] = random.choice(("constant", "edge"))
        if opset < 11:
            attributes["pads"] = pads
        else:
            constants |= {"p": np.array(pads), "v": np.zeros((), np.float32)}
    else:
        kernel = [random.randint(2, 3) for _ in range(rank)]
        attributes |= {"kernel_shape": kernel, "strides": [1] * rank, "pads": [1] * 2 * rank}
        if op.startswith("Conv"):
            constants["w"] = np.ones((2, 2, *kernel), dtype)
    dims = harmed(random, attributes, constants, dims)
    code = helper.np_dtype_to_tensor_dtype(dtype)
    graph = helper.make_graph(
        [helper.make_node(op, ["x", *constants], ["y"], name="node", **attributes)],
        "g",
        [helper.make_tensor_value_info("x", code, dims)],
        [helper.make_tensor_value_info("y", TensorProto.INT32 if "Int" in op else code, None)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def opens(model: onnx.ModelProto) -> bool:
    try:
        onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    except Exception:  # noqa: BLE001 - it raises many kinds
        return False
    return True


def runs(model: onnx.ModelProto) -> bool:
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (value,) = model.graph.input
    dims = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
    dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
    try:
        session.run(None, {"x": np.ones(dims, dtype)})
    except Exception:  # noqa: BLE001 - as above
        return False
    return True


def refused(model: onnx.ModelProto) -> bool:
    try:
        (nodes,) = onnxpad.inspect(model, target="onnxruntime").targets.values()
    except OnnxpadError:
        return True
    return any(str(one.judgement.answer) == "refuses" for one in nodes)


@pytest.mark.sweep
def test_what_onnxruntime_does_not_open_is_refused_and_nothing_that_runs() -> None:
    random = Random(11)
    models = [damaged(random) for _ in range(200)]
    closed = [model for model in models if not opens(model)]
    assert len(closed) > 50
    missed = [model for model in closed if not refused(model)]
    assert len(missed) <= len(closed) // 100
    healthy = [model for model in models if opens(model) and runs(model)]
    assert len(healthy) > 25
    assert not [onnx.printer.to_text(model) for model in healthy if refused(model)]


@pytest.mark.parametrize(
    ("pads", "value", "word"),
    [
        (np.ones(8, np.int32), np.float32(0), "int64"),
        (np.ones((1, 8), np.int64), np.float32(0), "1D"),
        (np.ones(8, np.int64), np.float64(0), "constant_value"),
    ],
)
def test_the_reason_names_the_input(pads: Any, value: Any, word: str) -> None:
    graph = helper.make_graph(
        [helper.make_node("Pad", ["x", "p", "v"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 4, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(pads, "p"), numpy_helper.from_array(np.asarray(value), "v")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    (node,) = onnxpad.inspect(model, target="onnxruntime").targets["onnxruntime"]
    assert word in node.judgement.reason


@pytest.mark.parametrize(
    "text",
    [
        "p = Constant <value_ints = [0, 0, 1, 1, 0, 0, 1, 1]> () y = Pad (x, p)",
        (
            "g = Constant <value_floats = [0.5, 0.5]> () "
            "s = Constant <value_ints = [1, 1, 1, 2]> () "
            'r = Reshape (g, s) y = GridSample <mode = "bilinear"> (x, r)'
        ),
    ],
)
def test_other_spellings_are_taken(text: str) -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 16]> g (float[1,1,4,4] x) => (float[a,b,c,d] y) '
        f"{{{text}}}"
    )
    assert opens(model)
    assert not refused(model)
