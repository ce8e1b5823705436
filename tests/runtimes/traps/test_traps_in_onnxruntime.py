"""What the traps say of onnxruntime is what onnxruntime does."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, helper

from onnxpad import rewrite
from onnxpad.geometry.windows import Axis
from onnxpad.padding.as_written import AsWritten
from onnxpad.padding.chain import AutoPad, Chain
from onnxpad.padding.fills import Constant, Fill, Implicit
from onnxpad.padding.operators import OPERATORS
from onnxpad.runtimes.traps import traps_of
from tests.models.text import text_model
from tests.models.traps import TRAPS
from tests.oracle import operators as oracle
from tests.runtimes.onnxruntime.installed import where_pools_are_harmed

runtime = pytest.importorskip("onnxruntime")
Array = NDArray[Any]
OFF = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
ON = runtime.GraphOptimizationLevel.ORT_ENABLE_ALL


def run(model: ModelProto, level: Any = OFF, **given: Array) -> Array | None:
    """The first output for ramps (negative where the type is), None where the model fails."""
    options = runtime.SessionOptions()
    options.graph_optimization_level = level
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    constants = {tensor.name for tensor in model.graph.initializer}
    try:
        session = runtime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        feeds = {i.name: ramp(i) for i in model.graph.input if i.name not in constants}
        feeds |= given
        found: Array = session.run(None, feeds)[0]
    except Exception:  # noqa: BLE001 - onnxruntime's exceptions have no common type
        return None
    return found


def ramp(value: Any) -> Array:
    tensor = value.type.tensor_type
    shape = [dim.dim_value for dim in tensor.shape.dim]
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    numbers = np.arange(1, np.prod(shape) + 1).reshape(shape)
    return (numbers if dtype.kind == "u" else -numbers).astype(dtype)


REFUSED = (
    "auto-pad-with-pads",
    "same-with-dilation",
    "pads-reach-kernel",
    "negative-pads",
    "input-shorter-than-window",
    "output-padding-beyond-stride",
    "reflect-beyond-input",
    "no-cpu-kernel",
)


@pytest.mark.parametrize("code", REFUSED)
def test_refused(code: str) -> None:
    assert run(TRAPS[code][0]) is None
    assert run(TRAPS[code][1]) is not None


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("pad-fused-beyond-kernel", marks=where_pools_are_harmed),
        "pad-on-weight",
        "pad-fused-beside-identity",
    ],
)
def test_refused_with_default_optimisations_only(code: str) -> None:
    trapped, free = TRAPS[code]
    assert run(trapped, OFF) is not None
    assert run(trapped, ON) is None
    assert run(free, ON) is not None


@pytest.mark.parametrize(
    "node",
    ["AveragePool <kernel_shape=[2], pads=[1, 0], count_include_pad=1> (r)", "Conv (r, w)"],
)
def test_split_pads_writes_no_pad_beside_an_identity_that_is_fused(node: str) -> None:
    node = node.replace("Conv (", "Conv <pads=[1, 0]> (")
    nodes = f"r = Neg (x) s = Identity (r) [node] y = {node}"
    model = text_model(nodes, constants="float[1,1,3] w = {1, 10, 100}", outputs="y, s")
    after = rewrite(model, passes=["split-pads"])
    assert after.changed
    assert same(run(model, OFF), run(after.model, ON))


@where_pools_are_harmed
@pytest.mark.parametrize("code", ["pad-fused-into-max-pool", "pad-fused-with-ceil-mode"])
def test_changed_by_default_optimisations(code: str) -> None:
    trapped, free = TRAPS[code]
    assert not same(run(trapped, OFF), run(trapped, ON))
    assert same(run(free, OFF), run(free, ON))


def test_a_quantised_average_divides_an_overhanging_window_by_the_whole_kernel() -> None:
    x = np.array([[[20, 40, 60, 80, 100, 120]]], np.uint8)
    trapped, free = TRAPS["quantised-average-overhang"]
    expected = oracle.qlinear_average_pool(
        x,
        0.5,
        3,
        0.5,
        np.array(3, np.uint8),
        (3,),
        strides=(2,),
        pads=(1, 1),
        ceil_mode=True,
        count_include_pad=True,
    )
    found = run(trapped, x=x)
    assert found is not None
    assert np.array_equal(found[..., :-1], expected[..., :-1])
    assert found[0, 0, -1] < expected[0, 0, -1]
    assert run(free, x=x) is not None


def same(one: Array | None, other: Array | None) -> bool:
    return (
        one is not None
        and other is not None
        and one.shape == other.shape
        and np.allclose(one, other, rtol=1e-5, atol=1e-6)
    )


FILLS: dict[str, Fill] = {
    "Conv": Constant(0),
    "MaxPool": Implicit.LOWEST,
    "AveragePool": Implicit.NOTHING,
}


def by_the_text(op: str, x: Array, kernel: int, geometry: dict[str, Any]) -> Array:
    if op == "Conv":
        weight = 10.0 ** np.arange(kernel).reshape(1, 1, kernel)
        return oracle.conv(x, weight, **geometry)
    if op == "MaxPool":
        return oracle.pool_max(x, (kernel,), **geometry)[0]
    return oracle.pool_average(x, (kernel,), **geometry)


def same_model(op: str, size: int, kernel: int, geometry: dict[str, Any], opset: int) -> ModelProto:
    attributes = {"kernel_shape": [kernel]} | geometry
    inputs = ["x", "w"] if op == "Conv" else ["x"]
    node = helper.make_node(op, inputs, ["y"], "node", **attributes)
    weights = ", ".join(str(10**k) for k in range(kernel))
    model = text_model(
        "y = Relu (x)",
        f"float[1,1,{size}] x",
        constants=f"float[1,1,{kernel}] w = {{{weights}}}" if op == "Conv" else "",
        opset=opset,
    )
    model.graph.node[0].CopyFrom(node)
    return model


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize(("op", "opset"), [("Conv", 22), ("MaxPool", 22), ("AveragePool", 18)])
def test_same_is_a_trap_exactly_where_onnxruntime_leaves_the_text(
    op: str, opset: int, mode: str
) -> None:
    """Dilated pools with one window are the exception: left-out dilation may not show there."""
    dilations = (1,) if opset < 19 else (1, 2)
    for size, kernel, stride, dilation in itertools.product(
        (1, 2, 3, 5, 8, 9), (1, 2, 3), (1, 2, 4, 5), dilations
    ):
        geometry = {"auto_pad": mode, "strides": [stride]}
        geometry |= {"dilations": [dilation]} if opset >= 19 else {}
        model = same_model(op, size, kernel, geometry, opset)
        x = -np.arange(1, size + 1, dtype=np.float32).reshape(1, 1, size)
        agrees = same(run(model), by_the_text(op, x, kernel, geometry))
        axis = Axis(size, kernel, stride, dilation)
        chain = Chain(OPERATORS["", op], opset, (axis,), AutoPad(mode), FILLS[op], "float32")
        found = {trap.code for trap in traps_of(chain, AsWritten())} - {"window-of-padding"}
        if op == "MaxPool" and dilation > 1 and stride >= size:
            assert agrees or found, model
        else:
            assert agrees is not bool(found), (model, found)
