"""Differences that no padding explains, or that the reference cannot check: nothing is claimed."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, helper, numpy_helper

from onnxpad import Diagnosis, RequestError, diagnose, retarget
from tests.diagnosis.texts import END, HALF, NONE, against, deep, network
from tests.models import runaway
from tests.models.tiny import tiny
from tests.retargeting.running import Array, outputs, relative, signed

ONE = np.ones(1, np.float32)


def changed(model: ModelProto, name: str, factor: float = 1.01) -> ModelProto:
    """The model with another weight."""
    for held in model.graph.initializer:
        if held.name == name:
            value = numpy_helper.to_array(held) * np.float32(factor)
            held.CopyFrom(numpy_helper.from_array(value, name))
    return model


def of_deep(true: ModelProto, *tensors: str, budget: float = 60) -> Diagnosis:
    del true.graph.output[:]
    names, x = [*tensors, "y"], signed(0, 1, 3, 32, 32)
    true.graph.output.extend(helper.make_tensor_value_info(name, 1, None) for name in names)
    reference = dict(zip(names, outputs(true, x), strict=True))
    return diagnose(deep(HALF, 32), inputs={"x": x}, outputs=reference, budget=budget)


def test_another_weight_is_not_explained_and_located() -> None:
    found = of_deep(changed(deep(HALF, 32), "v", 1.1), "a", "c")
    assert (found.explained, found.cause, found.plan.entries) == (False, "unknown", ())
    assert found.complete
    assert found.difference is not None
    assert (found.difference.tensor, found.difference.after) == ("c", "a")
    assert found.difference.where == "everywhere"


def test_padding_and_a_weight_together_are_told_apart() -> None:
    found = of_deep(changed(deep(END, 32), "u"), "a", "c", "e")
    assert not found.explained
    assert "padding seems a part of it" in found.reason
    assert found.nearest is not None
    assert {entry.node for entry in found.nearest.entries} == {"a", "c"}
    assert found.before is not None
    assert found.nearest_residual is not None
    assert found.nearest_residual < found.before / 3
    assert found.difference is not None
    assert found.difference.tensor == "e"


def test_a_short_budget_ends_the_search_and_claims_nothing() -> None:
    found = of_deep(changed(deep(END, 32), "u"), budget=0.3)
    assert (found.explained, found.cause, found.complete) == (False, "unknown", False)
    assert "the search ended with its budget: a larger --budget tries" in found.reason


def test_a_run_is_ended_at_the_budget_and_at_limits() -> None:
    given = {"inputs": {"x": ONE}, "outputs": {"y": ONE}, "device": "cpu"}
    started = time.monotonic()
    found = diagnose(runaway.endless_loop(), budget=1, **given)  # type: ignore[arg-type]
    assert time.monotonic() - started < 8
    assert (found.explained, found.cause, found.complete) == (False, "unknown", False)
    assert found.reason.startswith("the time was up while onnxruntime was running")
    assert found.to_json()["residual"] is None
    found = diagnose(runaway.endless_loop(), timeout=0.5, **given)  # type: ignore[arg-type]
    assert "took more than 0.5 s" in found.reason
    given["outputs"] = {"y": ONE[0]}
    found = diagnose(runaway.four_gigabytes(), memory="300M", **given)  # type: ignore[arg-type]
    assert "more than 300 MiB of memory" in found.reason


def test_an_operator_on_an_empty_axis_is_no_internal_error() -> None:
    pool = "z = Slice (x, a, a, b) [op] y = MaxPool <kernel_shape = [3], pads = [1, 1]> (z)"
    model = tiny(pool, "float[1,1,9]", constants="int64[1] a = {9}, int64[1] b = {2}")
    nine = np.ones((1, 1, 9), np.float32)
    found = diagnose(model, inputs={"x": nine}, outputs={"y": nine}, device="cpu", budget=3)
    assert not found.explained


BODY = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 1, 8, 8] x, float[1, 1, 3, 3] w, bool c) => (float[1, 1, N, M] y) {
  y = If (c) <
    then_branch = t () => (float[1, 1, K, K] a) {
      a = Conv <strides = [2, 2], pads = [PADS]> (x, w)
    },
    else_branch = e () => (float[1, 1, K, K] b) { b = Neg (x) }
  >
}
"""


def test_padding_that_is_not_searched_leaves_the_cause_unknown() -> None:
    feeds = {"x": signed(0, 1, 1, 8, 8), "w": signed(1, 1, 1, 3, 3), "c": np.array(True)}
    wrong, right = (onnx.parser.parse_model(BODY.replace("PADS", one)) for one in (HALF, END))
    found = diagnose(wrong, inputs=feeds, outputs={"y": outputs(right, feeds)[0]})
    assert (found.explained, found.cause) == (False, "unknown")
    assert "other ways to pad these were not tried: " in found.reason


def conv(pads: str, strides: str = "1, 1", tail: str = "Tanh (a)") -> ModelProto:
    body = f"a = Conv <strides = [{strides}], pads = [{pads}]> (x, w) y = {tail}"
    return network(body, "float[1, 2, 14, 13] x", w=(2, 2, 3, 3))


UNLISTED = {
    "causal along one axis": (conv("2, 1, 0, 1"), conv(HALF)),
    "more on one axis": (conv("2, 1, 2, 1"), conv(HALF)),
    "a mirrored crop": (conv("2, 0, 0, 2"), conv(NONE)),
}


@pytest.mark.parametrize(("right", "wrong"), UNLISTED.values(), ids=UNLISTED)
def test_what_is_not_listed_is_not_ruled_out(right: ModelProto, wrong: ModelProto) -> None:
    found = against(wrong, right, device="cpu", budget=2)
    assert found.cause in ("padding", "unknown"), found.reason
    assert found.explained is (found.cause == "padding")
    if found.explained:
        made = retarget(wrong, plan=found.plan).model
        x = signed(77, 1, 2, 14, 13)
        assert relative(outputs(made, x)[0], outputs(right, x)[0]) < 1e-5


def test_noise_is_nothing() -> None:
    noise = signed(9, 1, 2, 14, 13)
    found = diagnose(conv(HALF), inputs={"x": signed(0, 1, 2, 14, 13)}, outputs={"y": noise})
    assert (found.explained, found.nearest, found.plan.entries) == (False, None, ())


MEAN = "a = Conv <pads = [1, 1, 1, 1]> ({}, w) y = ReduceMean <axes = [1, 2, 3]> (a)"
PAD = "q = Pad (x, p, v) " + MEAN.replace(" <pads = [1, 1, 1, 1]>", "")


def test_too_few_values_are_no_proof() -> None:
    """One number says nothing of one unknown; more samples do."""
    pads = "int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}, float v = {0.3712}"
    wrong = network(MEAN.format("x"), opset=17, w=(3, 2, 3, 3))
    right = network(PAD.format("q"), constants=pads, opset=17, w=(3, 2, 3, 3))
    found = against(wrong, right)
    assert (found.explained, found.nearest, found.plan.entries) == (False, None, ())
    assert against(wrong, right, *range(2, 20)).explained


@pytest.mark.parametrize("seed", [0, 35])
def test_one_number_near_its_limit_is_not_explained_by_chance(seed: int) -> None:
    """The reference has other weights, and the right padding."""
    body = "a = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, w) b = LeakyRelu (a)"
    tail = "c = Conv <pads = [1, 1, 1, 1]> (b, v) d = GlobalAveragePool (c) y = Sigmoid (d)"
    weights: dict[str, Any] = {"w": (8, 2, 3, 3), "v": (1, 8, 3, 3)}
    model = network(f"{body} {tail}", **weights)
    other = changed(network(f"{body} {tail}", **weights), "v", 1.02)
    found = against(model, other, seed, budget=2)
    assert (found.explained, found.nearest) == (False, None), found.reason


def test_a_plan_that_is_refused_is_no_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RequestError("it would not run")

    monkeypatch.setattr("onnxpad.diagnosis.fitting.retarget", refuse)
    found = against(conv(HALF, "2, 2"), conv(END, "2, 2"))
    assert (found.explained, found.cause) == (False, "unknown")
    assert "is not written: it would not run" in found.reason


def test_a_reference_without_borders_leaves_padding_beside_a_weight_open() -> None:
    body = "a = Conv <strides = [2, 2], pads = [PADS]> (x, w) y = GlobalAveragePool (a)"
    wrong, right = (network(body.replace("PADS", one), w=(4, 2, 3, 3)) for one in (HALF, END))
    found = against(wrong, changed(right, "w", 1.3))
    assert (found.explained, found.cause) == (False, "unknown")
    assert "save what the framework computes for 'a'" in found.settles


def in_float16(model: ModelProto) -> ModelProto:
    made: ModelProto = onnx.ModelProto.FromString(model.SerializeToString())
    for one in (*made.graph.input, *made.graph.output):
        one.type.tensor_type.elem_type = onnx.TensorProto.FLOAT16
    for held in made.graph.initializer:
        value: Array = numpy_helper.to_array(held).astype(np.float16)
        held.CopyFrom(numpy_helper.from_array(value, held.name))
    return made


def test_wrong_padding_in_float16_is_never_rounding() -> None:
    """Bounds are so wide there that other padding may fit as well: then nothing is claimed."""
    body = "a = Conv <strides = [2, 2], pads = [P]> (x, w) b = Relu (a) y = GlobalAveragePool (b)"
    for seed in (0, 3):
        wrong, right = (
            in_float16(network(body.replace("P]", f"{one}]"), w=(8, 2, 3, 3)))
            for one in (HALF, END)
        )
        x = signed(seed, 1, 2, 24, 24).astype(np.float16)
        found = diagnose(wrong, inputs={"x": x}, outputs={"y": outputs(right, x)[0]})
        assert found.cause in ("padding", "unknown")
        if found.cause == "unknown":
            assert found.reason.startswith("cannot tell which padding is right")
            assert not found.plan.entries
