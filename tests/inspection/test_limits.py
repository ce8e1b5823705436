"""Shape inference that never ends: the verbs end, and their reports say so."""

import pytest

from onnxpad import RequestError, inspect, rewrite
from tests.command import run
from tests.models import runaway
from tests.models.text import text_model


def test_a_model_that_crashes_inference_of_onnx_is_rewritten() -> None:
    done = rewrite(runaway.rewritten_beside_a_crash())
    assert done.changed
    assert done.limits_met == ()


def test_a_model_without_trouble_meets_no_limit() -> None:
    assert inspect(text_model("y = Relu (x)")).limits_met == ()


def test_limits_that_are_none_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RequestError, match="timeout is -1"):
        inspect(runaway.endless_loop(), timeout=-1)
    with pytest.raises(RequestError, match="512M or 4G"):
        inspect(runaway.endless_loop(), memory="much")
    assert run(["inspect", "model.onnx", "--memory", "much"]) == 2
    assert "give a size such as 512M or 4G" in capsys.readouterr().err
