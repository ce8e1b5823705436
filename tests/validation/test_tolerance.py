"""A tolerance that is asked for decides beside the bound of the arithmetic, never instead of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto

import onnxpad
from onnxpad import RequestError, Verdict
from tests.models.text import text_model
from tests.models.tiny import tiny

MODELS = Path(__file__).parents[2] / "models"


def scaled(factor: float) -> ModelProto:
    return tiny("y = Mul (x, w)", "float[1,1,3]", constants=f"float[1] w = {{{factor}}}")


def judged(one: ModelProto, other: ModelProto, **asked: Any) -> onnxpad.Validation:
    return onnxpad.validate(one, other, samples=1, run_only=True, **asked)


def test_a_difference_within_it_is_tolerated_and_the_bound_is_told() -> None:
    found = judged(scaled(1.0), scaled(1.001), rtol=0.01)
    assert found.verdict is Verdict.TOLERATED
    assert found.ok
    assert "by the arithmetic" in found.reason
    assert found.tolerance is not None
    assert found.tolerance.share == pytest.approx(0.1, rel=0.02)
    assert found.to_json()["tolerance"]["met"] is True


def test_without_it_the_bound_decides() -> None:
    found = judged(scaled(1.0), scaled(1.001))
    assert (found.verdict, found.tolerance) == (Verdict.DIFFERENT, None)


def test_a_refuted_proof_is_tolerated_where_runs_are() -> None:
    found = onnxpad.validate(scaled(1.0), scaled(1.001), samples=1, rtol=0.01)
    assert found.verdict is Verdict.TOLERATED
    assert found.proof is not None
    assert found.proof.verdict == "refuted"


def test_shapes_of_inputs_are_facts_about_dimensions() -> None:
    model = tiny("y = Relu (x)", "float[n,1,w]")
    found = onnxpad.validate(model, model, samples=2, input_shapes={"x": (2, 1, 9)}, run_only=True)
    assert {shape["x"] for shape in found.input_shapes} == {(2, 1, 9)}
    for shape, said in (
        ((2, 1), "the shape given for 'x' is 2 x 1, and the file says n x 1 x w"),
        ((2, 3, 9), "the shape given for 'x' is 2 x 3 x 9, and the file says n x 1 x w"),
    ):
        with pytest.raises(RequestError, match=said):
            onnxpad.validate(model, model, input_shapes={"x": shape})
    with pytest.raises(RequestError, match="'x' has 2 for 'n', where n=4 is given"):
        onnxpad.validate(model, model, dims={"n": 4}, input_shapes={"x": (2, 1, 9)})


@pytest.mark.parametrize("pair", [(-np.inf, 0.0), (np.inf, 5.0), (0.0, -np.inf)])
def test_no_tolerance_allows_for_an_infinity(pair: tuple[float, float]) -> None:
    given, right = (np.array([1.0, value], np.float32) for value in pair)
    model = text_model("y = Identity (x)", "float[2] x", outputs="float[2] y")
    found = onnxpad.validate(model, inputs={"x": given}, outputs={"y": right}, atol=1e-5, rtol=1e-3)
    assert found.verdict is Verdict.DIFFERENT
