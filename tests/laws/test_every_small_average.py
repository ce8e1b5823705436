"""Every small average, with its padding counted or not, against numpy and onnxruntime."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import attributes
from tests.oracle.interpreter import run_model
from tests.oracle.onnxruntime_levels import ran
from tests.oracle.windows import Array, pool_average

SIZES = range(1, 8)
WINDOWS = tuple(product(range(1, 5), range(1, 4), range(1, 3)))
SIDES = tuple(product(range(4), repeat=2))
WRITTEN = ("SAME_UPPER", "SAME_LOWER", "VALID", *SIDES)


def average(size: int | str, opset: int, geometry: dict[str, Any]) -> onnx.ModelProto:
    graph = helper.make_graph(
        [helper.make_node("AveragePool", ["x"], ["y"], "op", **geometry)],
        "average",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, size])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, "m"])],
    )
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", opset)])


def geometries(counts: int) -> Iterator[tuple[int, dict[str, Any]]]:
    for turn, ((kernel, stride, dilation), padding, ceil) in enumerate(
        product(WINDOWS, WRITTEN, (0, 1))
    ):
        found: dict[str, Any] = {"kernel_shape": [kernel], "strides": [stride]}
        if dilation > 1:
            found["dilations"] = [dilation]
        found |= {"auto_pad": padding} if isinstance(padding, str) else {"pads": list(padding)}
        found |= {"ceil_mode": ceil} if ceil else {}
        found |= {"count_include_pad": counts} if counts else {}
        opset = 19 if dilation > 1 else (10, 11, 13, 18, 19, 22)[turn % 6]
        yield opset, found


def numpy_average(x: Array, geometry: dict[str, Any]) -> Array | None:
    given = {key: value for key, value in geometry.items() if key != "kernel_shape"}
    given["ceil_mode"] = bool(given.get("ceil_mode", 0))
    given["count_include_pad"] = bool(given.get("count_include_pad", 0))
    try:
        return pool_average(x, geometry["kernel_shape"], **given)
    except ValueError:
        return None


def close(found: Array | str, wanted: Array) -> None:
    assert not isinstance(found, str), found
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=2e-6)


@pytest.mark.sweep
@pytest.mark.parametrize("rule", ["counted-padding", "uncounted-padding"])
def test_every_small_average(rule: str) -> None:
    rng, turn, changed = np.random.default_rng(5), 0, 0
    for opset, geometry in geometries(int(rule == "counted-padding")):
        turn += 1
        size = SIZES[turn % len(SIZES)]
        done = rewrite(average(size, opset, geometry), passes=[rule])
        if not done.changed:
            continue
        changed += 1
        x = rng.standard_normal((1, 2, size)).astype(np.float32)
        wanted = numpy_average(x, geometry)
        assert wanted is not None, (size, geometry)
        assert isinstance(done.model, onnx.ModelProto)
        onnx.checker.check_model(done.model, full_check=True)
        try:
            close(run_model(done.model, {"x": x})["y"], wanted)
            if attributes(done.model).get("auto_pad", "VALID") != "VALID":
                continue  # nothing to count, and onnxruntime may take SAME otherwise
            if isinstance(ran(average(size, opset, geometry), {"x": x}, optimised=True), str):
                continue  # onnxruntime refuses the model that there was as well
            for optimised in (False, True):
                close(ran(done.model, {"x": x}, optimised=optimised), wanted)
        except AssertionError as error:
            raise AssertionError(f"{opset} {size} {geometry}") from error
    assert changed > 500


@pytest.mark.sweep
def test_every_small_average_of_any_size() -> None:
    rng, changed = np.random.default_rng(6), 0
    for opset, geometry in geometries(0):
        done = rewrite(average("n", opset, geometry), passes=["uncounted-padding"])
        if not done.changed:
            continue
        changed += 1
        assert isinstance(done.model, onnx.ModelProto)
        onnx.checker.check_model(done.model, full_check=True)
        for size in SIZES:
            x = rng.standard_normal((1, 2, size)).astype(np.float32)
            wanted = numpy_average(x, geometry)
            if wanted is not None:
                close(ran(done.model, {"x": x}, optimised=bool(size % 2)), wanted)
    assert changed > 250
