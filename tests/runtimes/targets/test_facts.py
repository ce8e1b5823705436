"""Facts about runtimes that models of several operators brought to light, and their limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import onnxpad
from onnxpad.runtimes.conditions.plain_facts import CROP
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.judge import judge_plain
from onnxpad.runtimes.targets import find_target

Step = tuple[str, list[Any], dict[str, Any]]

TRANSPOSED = {"kernel_shape": [3, 3], "strides": [2, 2], "output_shape": [8, 8]}
POOL = {"kernel_shape": [4, 4], "strides": [3, 3]}
PADDED: Step = ("Pad", [np.array([0, 0, 1, 1, 0, 0, 1, 1])], {})
CUT = {
    "kernel_shape": [4, 2],
    "strides": [2, 2],
    "pads": [3, 1, 1, 0],
    "ceil_mode": 1,
    "count_include_pad": 1,
}
SAME_ROUNDED_UP = {
    "kernel_shape": [2, 4],
    "strides": [2, 1],
    "auto_pad": "SAME_LOWER",
    "ceil_mode": 1,
    "count_include_pad": 1,
}
SPARSE = {"kernel_shape": [1], "strides": [2]}
DEEP = {"kernel_shape": [3] * 3, "strides": [2] * 3}


def weights(*shape: int) -> Any:
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


def transposed(groups: int, **more: Any) -> onnx.ModelProto:
    attributes = TRANSPOSED | {"group": groups} | more
    return chain(17, [1, 4, 4, 4], ("ConvTranspose", [weights(4, 2, 3, 3)], attributes))


def shifted(kernel: int) -> onnx.ModelProto:
    given = {"kernel_shape": [kernel] * 2, "strides": [3, 3], "auto_pad": "SAME_UPPER"}
    return chain(13, [1, 2, 12, 12], ("Conv", [weights(3, 2, kernel, kernel)], given))


def short_transposed(kernel: int, **more: Any) -> onnx.ModelProto:
    given = {"kernel_shape": [kernel], "strides": [2], "auto_pad": "SAME_UPPER", **more}
    return chain(13, [1, 2, 4], ("ConvTranspose", [weights(2, 2, kernel)], given))


def behind_pad(op: str, size: Any, **more: Any) -> onnx.ModelProto:
    arrays = [weights(3, 2, 2, 2)] if op == "Conv" else []
    given = {"kernel_shape": [2, 2], "strides": [1, 1], **more}
    return chain(15, [1, 2, size, 8], PADDED, (op, arrays, given))


def pool(op: str, **more: Any) -> onnx.ModelProto:
    return chain(19, [1, 2, 11, 11], (op, [], POOL | more))


def valued(opset: int, value: float) -> onnx.ModelProto:
    pads = [0, 0, 1, 2, 0, 0, 2, 0]
    if opset < 11:
        return chain(opset, [1, 2, 5, 6], ("Pad", [], {"pads": pads, "value": value}))
    return chain(opset, [1, 2, 5, 6], ("Pad", [np.array(pads), np.float32(value)], {}))


def deep(op: str, **more: Any) -> onnx.ModelProto:
    arrays = {"Conv": [weights(4, 4, 3, 3, 3)], "ConvTranspose": [weights(4, 2, 3, 3, 3)]}
    return chain(13, [1, 4, 9, 9, 9], (op, arrays.get(op, []), DEEP | more))


FAILING = {
    "openvino": [
        transposed(2),
        transposed(2, auto_pad="SAME_LOWER"),
        behind_pad("Conv", "h", auto_pad="SAME_UPPER"),
        behind_pad("AveragePool", "h", auto_pad="SAME_LOWER", count_include_pad=1),
    ],
    "opencv-classic": [
        pool("MaxPool", auto_pad="VALID", ceil_mode=1),
        pool("AveragePool", auto_pad="VALID", ceil_mode=1),
        pool("MaxPool", dilations=[2, 2]),
    ],
    "mnn": [
        pool("MaxPool", auto_pad="VALID", ceil_mode=1),
        valued(9, 1.5),
        valued(10, -2.0),
        deep("MaxPool", dilations=[1, 1, 1]),
        deep("AveragePool", dilations=[1, 1, 1]),
        deep("ConvTranspose", group=2),
        chain(13, [1, 4, 9, 9, 9], ("Conv", [weights(4, 4, 3, 3, 3)], {"pads": [1] * 6})),
        shifted(1),
        short_transposed(1),
        short_transposed(3, dilations=[2]),
        transposed(2, auto_pad="SAME_UPPER"),
        transposed(2),
        chain(15, [1, 2, 5, 6], ("Pad", [np.array([0, 0, -1, 1, 0, 0, 0, -1])], {})),
        chain(15, [1, 2, 2, 2], ("AveragePool", [], CUT)),
        chain(20, [1, 2, "w"], ("MaxPool", [], SPARSE | {"ceil_mode": 1})),
    ],
    "tinygrad": [short_transposed(1)],
    "onnx2torch": [
        valued(9, 1.5),
        valued(10, -2.0),
        chain(22, [1, 2, 9, 9], ("Conv", [weights(3, 2, 3, 3)], {"pads": [1] * 4})),
    ],
    "ncnn": [pool("AveragePool", dilations=[1, 1])],
    "tvm": [transposed(1, auto_pad="SAME_UPPER"), short_transposed(1, output_shape=[6])],
    "onnxruntime@1.31": [behind_pad("AveragePool", 7, pads=[1, 0, 0, 1], count_include_pad=1)],
}
FINE = {
    "openvino": [
        transposed(1),
        chain(15, [1, 2, "h", "w"], ("AveragePool", [], SAME_ROUNDED_UP)),
        behind_pad("Conv", 7, auto_pad="SAME_UPPER"),
        behind_pad("Conv", "h", pads=[1, 0, 0, 1]),
    ],
    "opencv-classic": [pool("MaxPool", ceil_mode=1), pool("MaxPool", auto_pad="VALID")],
    "mnn": [
        chain(20, [1, 2, "w"], ("MaxPool", [], SPARSE | {"kernel_shape": [2], "ceil_mode": 1})),
        pool("MaxPool", ceil_mode=1),
        valued(9, 0.0),
        valued(11, 1.5),
        shifted(3),
    ],
    "tinygrad": [short_transposed(2)],
    "onnx2torch": [valued(9, 0.0), valued(11, 1.5)],
    "ncnn": [pool("AveragePool")],
    "tvm": [short_transposed(1)],
    "onnxruntime": [
        behind_pad("AveragePool", 7, pads=[1, 0, 0, 1]),
        behind_pad("AveragePool", 7, pads=[1, 0, 0, 1], count_include_pad=1),
    ],
}


def cases(table: dict[str, list[onnx.ModelProto]]) -> list[Any]:
    return [
        pytest.param(name, model, id=f"{name}-{number}")
        for name, models in table.items()
        for number, model in enumerate(models)
    ]


@pytest.mark.parametrize(("target", "model"), cases(FAILING))
def test_what_fails_there_is_foreseen(target: str, model: onnx.ModelProto) -> None:
    done = onnxpad.rewrite(model, target=target)
    assert done.changed != bool(done.unfit)


@pytest.mark.parametrize(("target", "model"), cases(FINE))
def test_its_neighbours_stay_as_they_are(target: str, model: onnx.ModelProto) -> None:
    done = onnxpad.rewrite(model, target=target)
    assert not done.changed
    assert not done.unfit


@pytest.mark.parametrize(
    ("target", "operator", "refused", "taken"),
    [("onnx2torch", "Slice", 9, 10), ("onnx2torch", CROP[-1], 19, 18), ("tvm", "Slice", 9, 10)],
)
def test_plain_operators_by_opset(target: str, operator: str, refused: int, taken: int) -> None:
    found = find_target(target)
    assert judge_plain(found, operator, refused).answer is Answer.REFUSES
    assert judge_plain(found, operator, taken).answer is Answer.TAKES
