"""What inference does in this process, and what only in a child that can be ended."""

import time
from pathlib import Path

import onnx
import pytest
from onnx import ModelProto

from onnxpad import inspect, processes
from onnxpad.errors import LimitMet
from onnxpad.model.shapes import native_inference
from onnxpad.model.shapes.native_inference import calls_in, infer_shapes
from onnxpad.processes import ChildEnded, limited
from tests.benchmarks import networks
from tests.models import runaway
from tests.models.runaway import made_of, node, value

MODELS = Path(__file__).resolve().parents[3] / "models"


def stays_here(model: ModelProto) -> bool:
    """Whether inference of a model needs no child."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "limited", lambda: pytest.fail("a child was asked"))
        try:
            infer_shapes(model)
        except pytest.fail.Exception:
            return False
    return True


CRASHING = {
    "negative": runaway.negative_size(),
    "negative input": runaway.cut_of([-5]),
    "two negative sizes": runaway.cut_of([-5, -3]),
}


def test_inference_without_end_is_ended() -> None:
    model = runaway.nested_functions(40)
    assert not stays_here(model)
    with limited(seconds=0.5) as work:
        started = time.monotonic()
        with pytest.raises(LimitMet, match="onnx's shape inference took more than"):
            infer_shapes(model)
        with pytest.raises(LimitMet):
            infer_shapes(model)
        assert time.monotonic() - started < 20
        assert list(work.met) == ["onnx's shape inference"]


@pytest.mark.parametrize("name", CRASHING)
def test_inference_that_crashes_is_an_answer(name: str) -> None:
    assert not stays_here(CRASHING[name])
    with limited() as work:
        with pytest.raises(ChildEnded, match="crashed"):
            infer_shapes(CRASHING[name])
        assert "crashed" in work.met["onnx's shape inference"]


def test_a_network_of_computed_pads_is_inferred_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes.Work, "child", lambda *_: pytest.fail("a child was asked"))
    assert inspect(networks.computed_pads()).nodes


def test_functions_that_call_too_often_are_counted_without_going_through_them() -> None:
    assert calls_in(runaway.nested_functions(5)) == 1 + 2 + 4 + 8 + 16
    assert calls_in(runaway.nested_functions(60)) > 2**59
    assert not stays_here(runaway.nested_functions(60))
    assert stays_here(runaway.nested_functions(5))


def test_functions_in_a_circle_are_many_calls() -> None:
    model = runaway.nested_functions(3)
    model.functions[2].node[0].op_type, model.functions[2].node[0].domain = "f0", "d"
    assert calls_in(model) >= 2**62


def test_slices_of_shapes_stay_here() -> None:
    assert stays_here(runaway.sliced_shape(0, 2**63 - 1, 1))


@pytest.mark.parametrize(
    "path", sorted(MODELS.glob("*.onnx")), ids=lambda path: path.stem.partition(".")[0]
)
def test_real_models_are_inferred_alike_in_either_process(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = onnx.load(path)
    here = onnx.shape_inference.infer_shapes(model)
    assert infer_shapes(model) == here
    monkeypatch.setattr(native_inference, "is_bounded", lambda *_: False)
    with limited():
        assert infer_shapes(model) == here


def test_the_child_is_kept_for_the_next_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_inference, "is_bounded", lambda *_: False)
    relu = made_of([node("Relu", ["x"], ["y"])], [value("x", [2])])
    infer_shapes(relu)
    before = {child.pid for child in processes.running()}
    infer_shapes(relu)
    assert {child.pid for child in processes.running()} == before
