"""Fills that no framework has by itself: solved for, checked, and never made up."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, numpy_helper, parser

from onnxpad.diagnosis import Cause, Diagnosis, diagnose
from onnxpad.retargeting import retarget
from onnxpad.show.diagnoses import diagnosis_document
from tests.retargeting.running import Array, outputs, signed

SHAPE = (1, 2, 24, 24)
TEXT = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 2, 24, 24] x) => (float[1, N, H, W] y)
<int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}> { BODY }
"""
CONV = "a = Conv <pads = [1, 1, 1, 1]> (x, w)"
PADDED = "v = Constant <value_float = VALUE> () q = Pad (x, p, v) a = Conv (q, w)"
POOL = "a = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x)"
AVERAGE = POOL.replace("Max", "Average")
BEHIND = " b = Relu (a) c = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (b, u) y = Relu (c)"


def model(body: str, value: float = 0.0) -> ModelProto:
    found = parser.parse_model(TEXT.replace("BODY", body.replace("VALUE", str(value))))
    for name, channels in (("w", 2), ("u", 6)):
        if f"{name})" in body:
            weight = signed(1, 6, channels, 3, 3) / 2
            found.graph.initializer.append(numpy_helper.from_array(weight, name))
    return found


def padded(body: str, value: float) -> ModelProto:
    """The same with a Pad of the value in front of the first node, in place of its pads."""
    text = body.replace(", pads = [1, 1, 1, 1]> (x", "> (q", 1)
    text = text.replace(" <pads = [1, 1, 1, 1]> (x", " (q", 1)
    return model(f"v = Constant <value_float = VALUE> () q = Pad (x, p, v) {text}", value)


def against(wrong: ModelProto, right: ModelProto, *seeds: int) -> Diagnosis:
    drawn = [signed(seed, *SHAPE) for seed in seeds or (2,)]
    made = [outputs(right, {"x": x})[0] for x in drawn]
    return diagnose(wrong, inputs={"x": drawn}, outputs={"y": made}, budget=60)


def of(found: ModelProto, seed: int) -> Array:
    return outputs(found, {"x": signed(seed, *SHAPE)})[0]


def assert_found(wrong: ModelProto, right: ModelProto, value: float) -> Diagnosis:
    """The fill itself, and a plan that gives the reference on a sample that was not seen."""
    found = against(wrong, right)
    assert (found.explained, found.cause) == (True, Cause.PADDING), found.reason
    (entry,) = found.plan.entries
    assert entry.settings["pad_node"]["value"] == pytest.approx(value, rel=1e-6)
    mended = retarget(wrong, plan=found.plan).model
    assert isinstance(mended, ModelProto)
    assert of(mended, 7) == pytest.approx(of(right, 7), abs=1e-4 * max(1.0, abs(value)))
    return found


BODIES = {
    "conv, relu, conv, relu": CONV + BEHIND,
    "average": AVERAGE + " y = Relu (a)",
    "max": POOL.replace("a =", "y ="),
}
VALUES = (1.0, -0.3712, 127.0)


# Few windows of a max pool hold only cells below -0.3.
CASES = [(b, v) for b in BODIES for v in VALUES if b != "max" or v > 0]


@pytest.mark.part(8)
@pytest.mark.parametrize(("name", "value"), CASES)
def test_a_fill_that_nobody_lists_is_solved_for(name: str, value: float) -> None:
    body = BODIES[name]
    if "Average" in body and value < 0:
        body = body.replace("y = Relu (a)", "y = Neg (a)")
    assert_found(model(body), padded(body, value), value)


def test_a_pad_with_another_value() -> None:
    assert_found(model(PADDED + BEHIND, 1.0), model(PADDED + BEHIND, -0.25), -0.25)


def test_the_report_says_that_the_fill_was_solved_for_and_on_what_it_hangs() -> None:
    body = CONV + BEHIND
    told = str(diagnosis_document(assert_found(model(body), padded(body, 0.5), 0.5)))
    assert "Pad [1, 1, 1, 1] with 0.5, then no padding" in told
    assert "the fill was solved for" in told
    assert "a second sample would tell a constant from a number of this input" in told
    several = str(diagnosis_document(against(model(body), padded(body, 0.5), 2, 3)))
    assert "the fill was solved for" in several
    assert "a second sample" not in several


def test_all_convolutions_with_one_fill() -> None:
    front = "v = Constant <value_float = 0.5> () q = Pad (x, p, v) a = Conv (q, w) b = Relu (a)"
    right = model(f"{front} r = Pad (b, p, v) y = Conv (r, u)")
    wrong = model(f"{CONV} b = Relu (a) y = Conv <pads = [1, 1, 1, 1]> (b, u)")
    found = against(wrong, right)
    assert found.explained, found.reason
    assert [entry.settings["pad_node"]["value"] for entry in found.plan.entries] == [0.5, 0.5]


def test_a_fill_in_other_places() -> None:
    """Pads 0, 0, 1, 1 of 0.5 where the model has 1, 1, 0, 0 of 0."""
    conv = "a = Conv <strides = [2, 2], pads = [1, 1, 0, 0]> (x, w)" + BEHIND
    right = padded(conv.replace("1, 1, 0, 0", "1, 1, 1, 1"), 0.5)
    held = right.graph.initializer[0]
    held.CopyFrom(numpy_helper.from_array(np.array([0, 0, 0, 0, 0, 0, 1, 1], np.int64), "p"))
    found = against(model(conv), right)
    assert found.explained, found.reason
    (entry,) = found.plan.entries
    assert entry.settings["pad_node"]["pads"] == [0, 0, 0, 0, 0, 0, 1, 1]


def test_too_few_values_are_no_proof() -> None:
    """One number says nothing of one unknown; more samples do."""
    body = CONV.replace("y =", "a =") + " b = ReduceMean <axes = [1, 2, 3]> (a) y = Identity (b)"
    found = against(model(body), padded(body, 0.5))
    assert not found.explained
    assert found.reason.startswith("'a: a Pad with ")
    assert (found.nearest, found.plan.entries) == (None, ())
    assert against(model(body), padded(body, 0.5), *range(2, 20)).explained


def test_a_fill_that_fits_the_first_sample_alone_is_none() -> None:
    """Cells that hold the mean of each image: no constant."""
    body = CONV + BEHIND
    drawn = [signed(seed, *SHAPE) + seed for seed in (2, 3)]
    made = [outputs(padded(body, float(x.mean())), {"x": x})[0] for x in drawn]
    found = diagnose(model(body), inputs={"x": drawn}, outputs={"y": made}, budget=3)
    assert not found.explained


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.sweep) for seed in (1, 3))]
)
def test_what_no_fill_gives_is_not_explained_by_one(seed: int) -> None:
    """Another weight, another bias, noise at the border, each channel its own fill."""
    body, random = CONV + BEHIND, np.random.default_rng(seed)
    right = model(body)
    if seed < 3:
        held = right.graph.initializer[1 + seed % 2]
        value = numpy_helper.to_array(held)
        held.CopyFrom(numpy_helper.from_array(value * np.float32(1.01), held.name))
    x = signed(2, *SHAPE)
    made = outputs(right, {"x": x})[0].copy()
    if seed >= 3:
        made[..., 0, :] += random.standard_normal(made[..., 0, :].shape).astype(np.float32)
    found = diagnose(model(body), inputs={"x": x}, outputs={"y": made}, budget=3)
    assert not found.explained
    assert not found.plan.entries


NARROW = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 2, 20, 20] x) => (float[1, N, 1, 1] y) {
  a = Conv <pads = [1, 1, 1, 1]> (x, w0) b = Tanh (a)
  c = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (b, w1) d = Tanh (c)
  e = Conv <pads = [1, 1, 1, 1]> (d, w2) f = Tanh (e)
  h = GlobalAveragePool (f) y = Conv (h, w3)
}
"""


def narrow(channels: int, factor: float = 1.0) -> ModelProto:
    """Twenty results that are all made of so many channels; `factor` is on a weight."""
    found = parser.parse_model(NARROW)
    shapes = ((6, 2, 3, 3), (6, 6, 3, 3), (channels, 6, 3, 3), (20, channels, 1, 1))
    for number, shape in enumerate(shapes):
        weight = signed(20 + number, *shape) / 3 * np.float32(factor if number == 1 else 1.0)
        found.graph.initializer.append(numpy_helper.from_array(weight, f"w{number}"))
    return found


@pytest.mark.sweep
@pytest.mark.parametrize("channels", [1])
def test_many_values_that_come_from_few_channels_are_no_proof(channels: int) -> None:
    """As many free numbers as channels fit whatever a wrong weight gives."""
    x = signed(5, 1, 2, 20, 20)
    made = outputs(narrow(channels, 0.8), {"x": x})[0]
    found = diagnose(narrow(channels), inputs={"x": x}, outputs={"y": made}, budget=3)
    assert not found.explained
    assert not found.plan.entries
    assert found.nearest is None
    assert "save what the framework computes for '" in found.settles
