"""Shape inference that never ends: the verbs end, and their reports say so."""

from onnxpad import inspect, rewrite
from tests.models import runaway
from tests.models.text import text_model


def test_a_model_that_crashes_inference_of_onnx_is_rewritten() -> None:
    done = rewrite(runaway.rewritten_beside_a_crash())
    assert done.changed
    assert done.limits_met == ()


def test_a_model_without_trouble_meets_no_limit() -> None:
    assert inspect(text_model("y = Relu (x)")).limits_met == ()
