"""Pads whose cells stand in other places on each axis: found, or what was not tried is said."""

from __future__ import annotations

import pytest
from onnx import ModelProto, parser

from onnxpad.diagnosis import Cause, Diagnosis, diagnose
from onnxpad.retargeting import retarget
from tests.retargeting.running import outputs, relative, signed

MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 2, H, W] x) => (float[1, 2, N, M] y)
<float[2, 2, KERNEL] w = {WEIGHTS}> {
BODY
}
"""
X = signed(0, 1, 2, 14, 14)


def written(*layers: str, kernel: int = 3) -> ModelProto:
    """Layers one after another, each with a Tanh behind it; they read `SRC` and `w`."""
    weights = ", ".join(f"{one:.6f}" for one in signed(1, 4 * kernel * kernel) / kernel)
    lines, source = [], "x"
    for number, one in enumerate(layers):
        lines.append(f"  a{number} = {one.replace('SRC', source)}")
        lines.append(f"  b{number} = Tanh (a{number})")
        source = f"b{number}"
    lines.append(f"  y = Identity ({source})")
    text = MODEL.replace("WEIGHTS", weights).replace("KERNEL", f"{kernel}, {kernel}")
    return parser.parse_model(text.replace("BODY", "\n".join(lines)))


def conv(pads: str, more: str = "") -> str:
    return f"Conv <pads = [{pads}]{more}> (SRC, w)"


def found_for(wrong: ModelProto, right: ModelProto, factor: float = 1) -> Diagnosis:
    reference = outputs(right, X)[0] * factor
    return diagnose(wrong, inputs={"x": X}, outputs={"y": reference}, budget=300)


def pool(pads: str) -> str:
    return f"MaxPool <kernel_shape = [3, 3], pads = [{pads}]> (SRC)"


def crop(pads: str) -> str:
    return f"ConvTranspose <strides = [2, 2], pads = [{pads}]> (SRC, w)"


PAIRS = {
    "causal along one axis": (conv("2, 1, 0, 1"), conv("1, 1, 1, 1")),
    "one-sided twice": (conv("0, 2, 2, 0"), conv("1, 1, 1, 1")),
    "strides": (conv("2, 1, 0, 1", ", strides = [2, 1]"), conv("1, 1, 1, 1", ", strides = [2, 1]")),
    "a pool": (pool("2, 1, 0, 1"), pool("1, 1, 1, 1")),
    "a transposed convolution": (crop("2, 1, 0, 1"), crop("1, 1, 1, 1")),
    "auto_pad": (
        conv("2, 1, 0, 1"),
        'Conv <auto_pad = "SAME_UPPER"> (SRC, w)',
    ),
}


@pytest.mark.parametrize(("right", "wrong"), PAIRS.values(), ids=PAIRS)
def test_cells_in_other_places_on_one_axis_are_found(right: str, wrong: str) -> None:
    around = conv("1, 1, 1, 1")
    models = written(around, right), written(around, wrong)
    found = found_for(models[1], models[0])
    assert (found.explained, found.cause) == (True, Cause.PADDING), found.reason
    assert len(found.plan.entries) == 1
    made = retarget(models[1], plan=found.plan).model
    assert relative(outputs(made, X)[0], outputs(models[0], X)[0]) < 1e-5


def test_the_same_places_at_every_node_are_found() -> None:
    right, wrong = (written(*[conv(pads)] * 4) for pads in ("2, 1, 0, 1", "1, 1, 1, 1"))
    found = found_for(wrong, right)
    assert (found.explained, len(found.plan.entries)) == (True, 4), found.reason
    assert found.tried < 2_000


def test_not_padding_is_claimed_where_every_place_was_tried() -> None:
    model = written(conv("1, 1, 1, 1"))
    found = found_for(model, model, 1.1)
    assert (found.cause, found.complete) == (Cause.NOT_PADDING, True), found.reason


def test_it_is_not_claimed_where_several_nodes_were_not_tried_in_every_way_together() -> None:
    model = written(conv("1, 1, 1, 1"), conv("1, 1, 1, 1"))
    found = found_for(model, model, 1.1)
    assert (found.cause, found.complete) == (Cause.UNKNOWN, True), found.reason
    assert "differs between axes together with other changes" in found.reason
    assert "save what the framework computes for" in found.settles


LEFT_OUT = {
    "together": (
        written(*[conv("2, 2, 2, 2")] * 3, kernel=5),
        "between begin and end together with other changes",
    ),
    "too many": (
        written(conv("5, 5, 5, 5"), kernel=11),
        "not tried: all but the first 100 ways to move the padded cells, at ",
    ),
}


@pytest.mark.parametrize(("model", "said"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_places_that_were_not_tried_are_said_and_leave_the_cause_unknown(
    model: ModelProto, said: str
) -> None:
    found = found_for(model, model, 1.1)
    assert (found.explained, found.cause) == (False, Cause.UNKNOWN)
    assert said in found.reason


@pytest.mark.parametrize("pads", ["0, 0, 1, 1", "1, 1, 0, 0"])
def test_an_odd_number_of_cells_that_only_the_size_of_the_output_tells_is_found(pads: str) -> None:
    wrong, right = (
        written(conv("1, 1, 1, 1"), pool(own), conv("1, 1, 1, 1")) for own in ("1, 1, 1, 1", pads)
    )
    found = found_for(wrong, right)
    assert (found.explained, found.cause) == (True, Cause.PADDING), found.reason
    (entry,) = found.plan.entries
    assert entry.settings["pads"] == [int(one) for one in pads.split(", ")]
