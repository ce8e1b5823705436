"""Sizes on which the file, onnx's inference and onnxruntime do not agree."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from onnxpad.geometry.size import Symbol, show
from onnxpad.model.reading.survey import Survey
from onnxpad.model.shapes.shape_rules import scaled_size
from tests.oracle.onnxruntime_levels import ran

Value = onnx.ValueInfoProto


def value(name: str, dims: list[int | str] | None) -> Value:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)


def behind(
    nodes: list[onnx.NodeProto],
    dims: list[int | str],
    constants: dict[str, np.ndarray],
    *,
    opset: int = 17,
    known: tuple[Value, ...] = (),
    outputs: tuple[Value, ...] = (),
    **facts: int | str,
) -> list[str]:
    """The sizes that the Conv behind `nodes` reads, which make `r` of `x`."""
    conv = helper.make_node("Conv", ["r", "w"], ["y"], "op", auto_pad="SAME_UPPER", strides=[2, 2])
    weights = {"w": np.ones((4, 3, 3, 3), np.float32), **constants}
    graph = helper.make_graph(
        [*nodes, conv],
        "g",
        [value("x", dims)],
        [value("y", None), *outputs],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
        value_info=known,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    (site,) = Survey(model, dims={k.replace("__", "%"): v for k, v in facts.items()}).sites_now()
    return [show(axis.size) for axis in site.chain.axes]


def resize(scale: float) -> tuple[list[onnx.NodeProto], dict[str, np.ndarray]]:
    node = helper.make_node("Resize", ["x", "", "s"], ["r"], mode="nearest")
    return [node], {"s": np.asarray([1, 1, scale, scale], np.float32)}


@pytest.mark.parametrize("scale", [0.29, 1 / 3, 0.5, 0.58, 0.7, 1.0, 1.3, 1.6666666, 2.0, 2.5, 3.0])
def test_scaled_sizes_are_those_of_onnxruntime_or_open(scale: float) -> None:
    nodes, constants = resize(scale)
    known = 0
    for size in range(1, 101):
        graph = helper.make_graph(
            nodes,
            "g",
            [value("x", [1, 1, size, 1])],
            [value("r", None)],
            [numpy_helper.from_array(np.asarray([1, 1, scale, 1], np.float32), "s")],
        )
        imports = [helper.make_opsetid("", 13)]
        model = helper.make_model(graph, opset_imports=imports, ir_version=8)
        found = scaled_size(size, scale)
        if found:
            result = ran(model, {"x": np.zeros((1, 1, size, 1), np.float32)}, optimised=False)
            assert not isinstance(result, str)
            assert result.shape[2] == found, size
            known += 1
    assert known > 20
    assert constants


@pytest.mark.parametrize(("size", "scale"), [(10, 0.7), (10, 1.3), (50, 0.58), (100, 0.29)])
def test_a_product_that_rounding_settles_leaves_the_size_open(size: int, scale: float) -> None:
    nodes, constants = resize(scale)
    assert behind(nodes, [1, 3, size, size], constants) == ["?", "?"]
    stated = (value("r", [1, 3, int(size * scale), int(size * scale)]),)
    assert behind(nodes, [1, 3, size, size], constants, known=stated) == ["?", "?"]


@pytest.mark.parametrize(("scale", "expected"), [(2.0, "2*h"), (0.5, "floor(h/2)"), (1.5, "?")])
def test_scaled_symbols(scale: float, expected: str) -> None:
    nodes, constants = resize(scale)
    assert behind(nodes, [1, 3, "h", 8], constants)[0] == expected
    assert scaled_size(Symbol("h"), 1.0) == Symbol("h")


def test_upsample_has_its_scales_as_an_attribute() -> None:
    node = helper.make_node("Upsample", ["x"], ["r"], mode="nearest", scales=[1.0, 1.0, 2.0, 0.7])
    assert behind([node], [1, 3, 5, 10], {}, opset=8) == ["10", "?"]


def test_an_older_slice_does_not_keep_the_name_of_what_it_cuts() -> None:
    node = helper.make_node("Slice", ["x", "s", "e", "a"], ["r"])
    constants = {"s": np.asarray([0]), "e": np.asarray([-3]), "a": np.asarray([2])}
    assert behind([node], ["n", 3, "h", "w"], constants, opset=10) == ["?", "w"]
    stated = (value("r", ["n", 3, "h", "w"]),)
    assert behind([node], ["n", 3, "h", "w"], constants, opset=10, known=stated) == ["?", "w"]


def test_inference_comes_before_what_the_file_declares() -> None:
    node = helper.make_node("Gather", ["x", "rows"], ["r"], axis=2)
    constants = {"rows": np.asarray([0, 2, 4])}
    stale = (value("r", [1, 3, 4, 8]),)
    assert behind([node], [1, 3, 6, 8], constants, known=stale) == ["3", "8"]


def test_what_inference_does_not_find_is_read_from_the_file() -> None:
    node = helper.make_node("Reshape", ["x", "shape"], ["r"])
    shape = helper.make_node("Cast", ["floats"], ["shape"], to=TensorProto.INT64)
    constants = {"floats": np.asarray([1, 3, 4, 8], np.float32)}
    stated = (value("r", [1, 3, 4, 8]),)
    assert behind([shape, node], [96], constants, known=stated) == ["4", "8"]


def test_the_name_of_an_input_is_not_believed_of_an_output() -> None:
    node = helper.make_node("Custom", ["x"], ["r"], domain="some")
    made = (value("r", ["n", 3, "h", "v"]),)
    assert behind([node], ["n", 3, "h", "w"], {}, outputs=made) == ["?", "v"]


def test_the_state_of_a_loop_need_not_keep_the_size_of_the_first_turn() -> None:
    def sizes(after: list[int | str] | None) -> list[str]:
        conv = helper.make_node(
            "Conv", ["s", "w"], ["t"], "op", auto_pad="SAME_UPPER", strides=[2, 2]
        )
        go_on = helper.make_node("Identity", ["go"], ["on"])
        turn = helper.make_tensor_value_info("i", TensorProto.INT64, [])
        flags = [helper.make_tensor_value_info(name, TensorProto.BOOL, []) for name in ("go", "on")]
        state = value("s", [1, 3, 12, 12])
        body = helper.make_graph(
            [go_on, conv], "b", [turn, flags[0], state], [flags[1], value("t", after)]
        )
        loop = helper.make_node("Loop", ["turns", "", "x"], ["y"], body=body)
        weight = numpy_helper.from_array(np.ones((3, 3, 3, 3), np.float32), "w")
        turns = numpy_helper.from_array(np.asarray(3), "turns")
        graph = helper.make_graph(
            [loop], "g", [value("x", [1, 3, 12, 12])], [value("y", None)], [weight, turns]
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        (site,) = Survey(model).sites_now()
        return [show(axis.size) for axis in site.chain.axes]

    assert sizes(None) == ["?", "?"]
    assert sizes([1, 3, 12, 6]) == ["12", "?"]
