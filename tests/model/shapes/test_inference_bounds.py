"""What inference does in this process, and what only in a child that can be ended."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, numpy_helper

from onnxpad import inspect, processes
from onnxpad.errors import LimitMet
from onnxpad.model.shapes import native_inference
from onnxpad.model.shapes.native_inference import calls_in, infer_shapes
from onnxpad.processes import ChildEnded, limited
from tests.benchmarks import networks
from tests.models import runaway
from tests.models.runaway import made_of, node, value

MODELS = Path(__file__).resolve().parents[3] / "models"


def stays_here(model: ModelProto, *, data_prop: bool) -> bool:
    """Whether inference of a model needs no child."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "limited", lambda: pytest.fail("a child was asked"))
        try:
            infer_shapes(model, data_prop=data_prop)
        except pytest.fail.Exception:
            return False
    return True


ENDLESS = {
    "step": runaway.sliced_shape(runaway.LEAST, runaway.LEAST, runaway.LEAST),
    "step32": runaway.sliced_shape(0, 2**63 - 1, 2**32),
    "doubled": runaway.doubled_values(40),
    "copied": runaway.long_by_reshape([2**30, 1], [0]),
    "squeezed": runaway.long_by_reshape([4, 2**20], [-1]),
    **{name: runaway.long_axis(name) for name in ("Add", "Cast", "Concat", "Gather", "Size")},
}
CRASHING = {
    "step31": runaway.sliced_shape(0, 2**63 - 1, 2**31),
    "negative": runaway.negative_size(),
    "negative input": runaway.cut_of([-5]),
    "two negative sizes": runaway.cut_of([-5, -3]),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_inference_without_end_is_ended(name: str) -> None:
    model = ENDLESS[name]
    assert not stays_here(model, data_prop=True)
    with limited(seconds=0.5) as work:
        started = time.monotonic()
        with pytest.raises(LimitMet, match="onnx's shape inference took more than"):
            infer_shapes(model, data_prop=True)
        with pytest.raises(LimitMet):
            infer_shapes(model, data_prop=True)
        assert time.monotonic() - started < 20
        assert list(work.met) == ["onnx's shape inference"]


@pytest.mark.parametrize("name", CRASHING)
def test_inference_that_crashes_is_an_answer(name: str) -> None:
    assert not stays_here(CRASHING[name], data_prop=True)
    with limited() as work:
        with pytest.raises(ChildEnded, match="crashed"):
            infer_shapes(CRASHING[name], data_prop=True)
        assert "crashed" in work.met["onnx's shape inference"]


def test_a_network_of_computed_pads_is_inferred_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes.Work, "child", lambda *_: pytest.fail("a child was asked"))
    assert inspect(networks.computed_pads()).nodes


def test_functions_that_call_too_often_are_counted_without_going_through_them() -> None:
    assert calls_in(runaway.nested_functions(5)) == 1 + 2 + 4 + 8 + 16
    assert calls_in(runaway.nested_functions(60)) > 2**59
    assert not stays_here(runaway.nested_functions(60), data_prop=False)
    assert stays_here(runaway.nested_functions(5), data_prop=False)


def test_functions_in_a_circle_are_many_calls() -> None:
    model = runaway.nested_functions(3)
    model.functions[2].node[0].op_type, model.functions[2].node[0].domain = "f0", "d"
    assert calls_in(model) >= 2**62


@pytest.mark.parametrize("step", [1, -1, 2, 2**30])
def test_steps_that_exporters_write_stay_here(step: int) -> None:
    model = runaway.sliced_shape(-1 if step < 0 else 0, -(2**63) if step < 0 else 2**63 - 1, step)
    assert stays_here(model, data_prop=True)
    infer_shapes(model, data_prop=True)


@pytest.mark.parametrize(
    "path", sorted(MODELS.glob("*.onnx")), ids=lambda path: path.stem.partition(".")[0]
)
def test_real_models_are_inferred_alike_in_either_process(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = onnx.load(path)
    here = onnx.shape_inference.infer_shapes(model, data_prop=True)
    assert infer_shapes(model, data_prop=True) == here
    monkeypatch.setattr(native_inference, "is_bounded", lambda *_: False)
    with limited():
        assert infer_shapes(model, data_prop=True) == here


def test_an_error_in_the_child_is_onnx_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    model = made_of(
        [node("Concat", ["x", "z"], ["y"], axis=1)], [value("x", [2, 3]), value("z", [3, 3])]
    )
    with pytest.raises(onnx.shape_inference.InferenceError) as here:
        infer_shapes(model, strict_mode=True)
    monkeypatch.setattr(native_inference, "is_bounded", lambda *_: False)
    with pytest.raises(onnx.shape_inference.InferenceError) as there:
        infer_shapes(model, strict_mode=True)
    assert str(here.value) == str(there.value)


def test_the_child_is_kept_for_the_next_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_inference, "is_bounded", lambda *_: False)
    relu = made_of([node("Relu", ["x"], ["y"])], [value("x", [2])])
    infer_shapes(relu)
    before = {child.pid for child in processes.running()}
    infer_shapes(relu)
    assert {child.pid for child in processes.running()} == before


def cut_after(operator: str, **attributes: Any) -> ModelProto:
    nodes = [
        node(operator, ["x"], ["t"], **attributes),
        node("Add", ["t", "x"], ["y"]),
    ]
    return made_of(nodes, [value("x", [1, 2, 3, 4])])


def test_tensors_of_several_axes_are_never_followed() -> None:
    assert stays_here(cut_after("Relu"), data_prop=True)
    assert stays_here(cut_after("Softmax", axis=1), data_prop=True)
    assert not stays_here(cut_after("NonZero"), data_prop=True)


def test_long_inputs_of_one_axis_are_followed_in_the_child() -> None:
    for size, here in ((1000, True), (2**24, False)):
        model = made_of(
            [node("Cast", ["x"], ["y"], to=TensorProto.INT32)],
            [value("x", [size], TensorProto.INT64)],
        )
        assert stays_here(model, data_prop=True) == here
        assert stays_here(model, data_prop=False)


@pytest.mark.parametrize("shape", [np.array([np.nan]), np.array([1.5, 2]), np.array(["a", "b"])])
def test_a_shape_that_is_no_whole_numbers_says_nothing(shape: np.ndarray[Any, Any]) -> None:
    tensor = numpy_helper.from_array(shape.astype(object if shape.dtype.kind == "U" else "f4"), "s")
    for reader in (node("Reshape", ["x", "s"], ["y"]), node("Slice", ["x", *"ssss"], ["y"])):
        model = made_of([reader], [value("x", [4])])
        model.graph.initializer.append(tensor)
        assert isinstance(stays_here(model, data_prop=True), bool)
