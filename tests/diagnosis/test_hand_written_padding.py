"""Padding that no framework has by itself: numbers, mirrors and values that somebody wrote."""

from __future__ import annotations

import pytest
from onnx import ModelProto, numpy_helper, parser

from onnxpad.diagnosis import Cause, diagnose
from onnxpad.errors import RequestError
from onnxpad.retargeting import retarget
from tests.retargeting.running import Array, outputs, signed

ONE = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 2, H, H] x) => (float[1, 3, K, L] y) <int64[8] p = {0, 0, PADS}> {
  BODY
}
"""
CONV = "y = Conv <strides = [STEP, STEP], pads = [PADS]> (x, w)"
BEHIND = 'q = Pad <mode = "MODE"> (x, p) y = Conv <strides = [STEP, STEP]> (q, w)'
VALUED = BEHIND.replace("(x, p)", "(x, p, v)").replace(
    'q = Pad <mode = "MODE">', "v = Constant <value_float = -1.0> () q = Pad"
)


def one(body: str, pads: str, kernel: int, step: int, size: int, mode: str = "") -> ModelProto:
    begins, ends = (", ".join(pads.split(", ")[half]) for half in (slice(0, 2), slice(2, 4)))
    text = ONE.replace("BODY", body).replace("0, 0, PADS", f"0, 0, {begins}, 0, 0, {ends}")
    text = text.replace("PADS", pads).replace("MODE", mode).replace("STEP", str(step))
    return weighted(text.replace("H, H", f"{size}, {size}"), 3, 2, kernel, kernel)


def weighted(text: str, *shape: int) -> ModelProto:
    model = parser.parse_model(text)
    model.graph.initializer.append(numpy_helper.from_array(signed(1, *shape), "w"))
    return model


def checked(wrong: ModelProto, right: ModelProto, shape: tuple[int, ...]) -> None:
    """The plan gives the reference on a sample that the diagnosis has not seen."""
    name = wrong.graph.output[0].name
    found = diagnose(wrong, inputs={"x": signed(2, *shape)}, outputs={name: of(right, 2, shape)})
    assert found.explained, found.reason
    assert found.cause is Cause.PADDING
    mended = retarget(wrong, plan=found.plan).model
    assert isinstance(mended, ModelProto)
    assert of(mended, 3, shape) == pytest.approx(of(right, 3, shape), abs=1e-5)


def of(model: ModelProto, seed: int, shape: tuple[int, ...]) -> Array:
    return outputs(model, {"x": signed(seed, *shape)})[0]


HALF, NONE = "1, 1, 1, 1", "0, 0, 0, 0"
ZEROS, END = one(CONV, HALF, 3, 1, 9), "0, 0, 1, 1"
CASES = {
    "2 of 11 cells for SAME": (
        one(CONV, "3, 3, 4, 4", 11, 4, 40),
        one(CONV, "2, 2, 2, 2", 11, 4, 40),
    ),
    "1 of 4 cells for none": (one(CONV, NONE, 4, 2, 33), one(CONV, HALF, 4, 2, 33)),
    "a mirror for zeros": (ZEROS, one(BEHIND, HALF, 3, 1, 9, "reflect")),
    "zeros for a mirror": (one(BEHIND, HALF, 3, 1, 9, "reflect"), ZEROS),
    "zeros for a value": (one(VALUED, HALF, 3, 1, 9), ZEROS),
    "an edge at the end": (
        one(BEHIND, HALF, 3, 2, 32, "edge"),
        one(BEHIND, END, 3, 2, 32, "edge"),
    ),
    "a value at the end": (one(VALUED, HALF, 3, 2, 32), one(VALUED, END, 3, 2, 32)),
}


@pytest.mark.part(3)
@pytest.mark.parametrize(("wrong", "right"), CASES.values(), ids=CASES)
def test_what_somebody_wrote_by_hand_is_found(wrong: ModelProto, right: ModelProto) -> None:
    dims = wrong.graph.input[0].type.tensor_type.shape.dim
    checked(wrong, right, tuple(dim.dim_value for dim in dims))


@pytest.mark.sweep
def test_two_layers_that_only_together_have_the_size() -> None:
    """The last layers of a PatchGAN: windows of 4 with padding=1, exported as SAME."""
    text = """
    <ir_version: 8, opset_import: ["" : 17]>
    g (float[1, 2, 16, 16] x) => (float[1, 2, K, L] y) {
      a = Conv <pads = [PADS]> (x, w)
      b = Relu (a)
      y = Conv <pads = [PADS]> (b, w)
    }
    """
    both = ("1, 1, 2, 2", HALF)
    wrong, right = (weighted(text.replace("PADS", pads), 2, 2, 4, 4) for pads in both)
    checked(wrong, right, (1, 2, 16, 16))


def test_a_size_that_no_known_padding_gives_is_no_proof() -> None:
    wrong, right = one(CONV, NONE, 1, 1, 8), one(CONV, HALF, 1, 1, 8)
    shape = (1, 2, 8, 8)
    found = diagnose(wrong, inputs={"x": signed(0, *shape)}, outputs={"y": of(right, 0, shape)})
    assert (found.explained, found.cause) == (False, Cause.UNKNOWN)


def test_a_plan_that_is_refused_is_no_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RequestError("it would not run")

    monkeypatch.setattr("onnxpad.diagnosis.fitting.retarget", refuse)
    wrong, right = one(CONV, HALF, 3, 2, 8), one(CONV, END, 3, 2, 8)
    shape = (1, 2, 8, 8)
    found = diagnose(wrong, inputs={"x": signed(0, *shape)}, outputs={"y": of(right, 0, shape)})
    assert (found.explained, found.cause) == (False, Cause.UNKNOWN)
    assert "is not written: it would not run" in found.reason
