"""Pads with other sides, crops or another mode: found, or what was not tried is said."""

from __future__ import annotations

import pytest
from onnx import ModelProto, parser, version_converter

from onnxpad.diagnosis import Cause, Diagnosis, diagnose
from onnxpad.retargeting import retarget
from tests.diagnosis.other_pads import drawn_case
from tests.retargeting.running import outputs, relative, signed

PADDED = """
<ir_version: 8, opset_import: ["" : OPSET]>
g (float[1, 2, 12, 12] x) => (float[1, K, N, M] y)
<float[1, 2, 3, 3] w = {WEIGHTS}, int64[8] p = {0, 0, FRONT, 0, 0, BEHIND}> {
  a = Pad <mode = "MODE"> (x, p)
  b = LAYER
  y = Tanh (b)
}
"""
X, W = signed(0, 1, 2, 12, 12), signed(1, 1, 2, 3, 3)


def padded(pads: str, mode: str, opset: int = 19, layer: str = "Conv (a, w)") -> ModelProto:
    front, behind = pads.split("; ")
    weights = ", ".join(f"{one:.6f}" for one in W.ravel())
    words = {"OPSET": str(opset), "FRONT": front, "BEHIND": behind, "MODE": mode, "LAYER": layer}
    text = PADDED.replace("WEIGHTS", weights)
    for word, part in words.items():
        text = text.replace(word, part)
    return parser.parse_model(text)


def found_for(
    wrong: ModelProto, right: ModelProto, factor: float = 1, budget: float = 300
) -> Diagnosis:
    reference = outputs(right, X)[0] * factor
    return diagnose(wrong, inputs={"x": X}, outputs={"y": reference}, budget=budget)


PAIRS = {
    "a crop at the other side": ("-1, -1; 0, 0", "constant", "0, 0; -1, -1", "constant"),
    "a mirror on other sides": ("2, 0; 0, 2", "reflect", "0, 2; 2, 0", "reflect"),
    "one axis swapped": ("2, 0; 0, 2", "edge", "0, 0; 2, 2", "edge"),
    "cells moved": ("2, 1; 0, 1", "constant", "1, 1; 1, 1", "constant"),
    "wrap": ("1, 1; 1, 1", "wrap", "1, 1; 1, 1", "reflect"),
    "wrap and other sides": ("2, 0; 0, 2", "wrap", "0, 2; 2, 0", "edge"),
    "cropped and padded": ("-1, 2; 2, -1", "constant", "1, 0; 0, 1", "constant"),
}


@pytest.mark.parametrize(("pads", "mode", "given", "given_mode"), PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("layer", ["Conv (a, w)", "MaxPool <kernel_shape = [3, 3]> (a)"])
def test_what_a_pad_can_have_is_found(
    pads: str, mode: str, given: str, given_mode: str, layer: str
) -> None:
    right, wrong = padded(pads, mode, layer=layer), padded(given, given_mode, layer=layer)
    found = found_for(wrong, right)
    assert (found.explained, found.cause) == (True, Cause.PADDING), found.reason
    made = retarget(wrong, plan=found.plan).model
    assert relative(outputs(made, X)[0], outputs(right, X)[0]) < 1e-5


def test_a_convolution_that_pads_itself_may_have_read_a_wrap() -> None:
    wrong = padded("1, 1; 1, 1", "constant", layer="Conv <pads = [1, 1, 1, 1]> (x, w)")
    found = found_for(wrong, padded("1, 1; 1, 1", "wrap"))
    assert found.explained, found.reason


def test_not_padding_is_claimed_where_all_that_the_pad_can_have_was_tried() -> None:
    model = padded("0, 1; 1, 0", "reflect")
    found = found_for(model, model, 1.1)
    assert (found.cause, found.complete) == (Cause.NOT_PADDING, True), found.reason
    said = (
        "not tried: Pads that crop 2 cells or more at one side to have them at the other, in front"
    )
    assert said in found.reason


def test_a_crop_past_the_cells_of_a_pad_is_not_tried_and_said_so() -> None:
    found = found_for(padded("1, 0; 0, 0", "constant"), padded("-2, 0; 3, 0", "constant"))
    assert not found.explained
    assert "Pads that crop 2 cells or more at one side to have them" in found.reason


def test_a_wrap_that_the_opset_has_not_is_said_of_convolutions_that_pad_themselves() -> None:
    layer = "Conv <pads = [1, 1, 1, 1]> (x, w)"
    said = "not tried: mode wrap, which Pad has since opset 19 (the model has 17), in front of"
    wrong = padded("1, 1; 1, 1", "constant", 17, layer)
    found = found_for(wrong, padded("1, 1; 1, 1", "wrap"))
    assert not found.explained
    assert said in found.reason
    assert (
        "; or diagnose what onnx.version_converter.convert_version(model, 19) makes"
        in found.settles
    )
    raised = version_converter.convert_version(wrong, 19)
    assert found_for(raised, padded("1, 1; 1, 1", "wrap")).explained
    inside = found_for(wrong, wrong, 1.1)
    assert inside.cause is Cause.NOT_PADDING, inside.reason  # a wrap changes borders alone
    other = padded("1, 1; 1, 1", "constant", 17, "Conv (x, w)")
    assert "mode wrap" not in found_for(other, other, 1.1).reason


LEFT_OUT = {
    "opset": (
        padded("1, 1; 1, 1", "reflect", 17),
        "not tried: mode wrap, which Pad has since opset 19 (the model has 17), in front of",
    ),
    "too many": (
        padded("8, 7; 7, 8", "constant"),
        "not tried: all but the first 600 ways to move the cells of a Pad, in front of",
    ),
}


@pytest.mark.parametrize(
    ("model", "said"),
    [
        pytest.param(*case, id=name, marks=[pytest.mark.sweep] if name == "too many" else [])
        for name, case in LEFT_OUT.items()
    ],
)
def test_what_was_not_tried_is_said_and_leaves_the_cause_unknown(
    model: ModelProto, said: str
) -> None:
    found = found_for(model, model, 1.1, budget=8)
    assert (found.explained, found.cause) == (False, Cause.UNKNOWN)
    assert said in found.reason


@pytest.mark.parametrize("seed", range(4))
def test_drawn_networks_with_other_pads_are_found(seed: int) -> None:
    known = drawn_case(seed)
    given = {known.wrong.graph.output[0].name: known.y[:1]}
    found = diagnose(known.wrong, inputs={"x": known.x[:1]}, outputs=given, budget=300)
    assert found.explained, found.reason
    made = retarget(known.wrong, plan=found.plan).model if found.plan.entries else known.wrong
    assert relative(outputs(made, known.x[1])[0], known.y[1]) < 1e-4
