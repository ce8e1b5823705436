"""Padding that the reference does not see: it stops nothing, and nothing is claimed of it."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from onnx import ModelProto, parser

from onnxpad.diagnosis import Cause, Diagnosis, diagnose
from onnxpad.show.diagnoses import diagnosis_document
from tests.retargeting.running import outputs, signed

_HEADS = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 2, 16, 16] x, float[2, 2, 3, 3] w) => (float[1, 2, N, M] h1, float[1, 2, K, L] h2) {
  stem = Conv <strides = [2, 2], pads = [STEM]> (x, w)
  r = Relu (stem)
  h1 = Conv <pads = [1, 1, 1, 1]> (r, w)
  s2 = Conv <strides = [2, 2], pads = [0, 0, 1, 1]> (FROM, w)
  h2 = LAST
}"""
_LAST = "Conv <pads = [1, 1, 1, 1]> (s2, w)"
_GATE = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 3, 32, 32] x, float[3, 3, 3, 3] w, float[3, 3, 5, 5] v, float f)
  => (float[1, 3, N, M] y) {
  c1 = Conv <strides = [2, 2], pads = [C1]> (x, w)
  c2 = Conv <strides = [2, 2], pads = [0, 0, 1, 1]> (c1, w)
  gate = Conv <strides = [2, 2], pads = [GATE]> (c1, v)
  m = Mul (gate, f)
  y = Add (c2, m)
}"""
_FEEDS = {"x": signed(0, 1, 2, 16, 16), "w": signed(1, 2, 2, 3, 3)}


def heads(stem: str, source: str = "r", last: str = _LAST) -> ModelProto:
    text = _HEADS.replace("STEM", stem).replace("LAST", last).replace("FROM", source)
    return parser.parse_model(text)


def of_one_head(
    stem: str, source: str = "r", samples: int = 1, last: str = _LAST, head: str = "h1"
) -> Diagnosis:
    """What is found where the stem has to have pads of 1 at both ends, by one head alone."""
    feeds = {name: [value] * samples for name, value in _FEEDS.items()}
    right = outputs(heads("1, 1, 1, 1", source, last), _FEEDS)[head == "h2"]
    model = heads(stem, source, last)
    return diagnose(model, inputs=feeds, outputs={head: [right] * samples})


@pytest.mark.parametrize("source", ["r", "h1", "stem"])
@pytest.mark.parametrize("samples", [1, 2])
def test_what_the_reference_does_not_depend_on_stops_nothing(source: str, samples: int) -> None:
    fine, wrong = of_one_head("1, 1, 1, 1", source, samples), of_one_head("0, 0, 1, 1", source)
    assert (fine.cause, fine.plan.entries) == (Cause.NOTHING, ())
    assert [entry.node for entry in wrong.plan.entries] == ["stem"]
    assert not {"s2", "h2"} & {node.node for node in fine.nodes}


@pytest.mark.parametrize("stem", ["1, 1, 1, 1", "0, 0, 1, 1"])
def test_nodes_that_the_reference_does_not_see_are_named_with_what_to_add(stem: str) -> None:
    found = of_one_head(stem)
    line = "2 nodes are not seen by this reference: s2, h2; add output 'h2' to it"
    assert line in str(diagnosis_document(found)).splitlines()
    page = diagnosis_document(found, "m.onnx")
    assert line in next(one for one in page.sections if one.anchor == "others").lines
    assert [asdict(one) for one in found.unseen] == [
        {"node": "s2", "outputs": ("h2",)},
        {"node": "h2", "outputs": ("h2",)},
    ]
    assert found.to_json()["without_reference"] == ["h2"]
    assert not {"s2", "h2"} & {*found.same_either_way}
    assert ("1 other node needs no change" in str(diagnosis_document(found))) == bool(
        found.plan.entries
    )


@pytest.mark.parametrize(
    ("last", "head", "lines"),
    [
        ("Neg (s2)", "h2", ["not compared, for want of a reference: output 'h1'"]),
        (
            "Neg (h1)",
            "h1",
            [
                "1 node is not seen by this reference: s2",
                "not compared, for want of a reference: output 'h2'",
            ],
        ),
    ],
)
def test_outputs_without_reference_that_would_show_no_other_node(
    last: str, head: str, lines: list[str]
) -> None:
    found = of_one_head("0, 0, 1, 1", "h1", last=last, head=head)
    assert [entry.node for entry in found.plan.entries] == ["stem"]
    said = str(diagnosis_document(found)).splitlines()
    assert [one for one in said if "not seen" in one or "not compared" in one] == lines


def test_a_model_that_is_seen_whole_says_nothing_of_it() -> None:
    right = outputs(heads("1, 1, 1, 1"), _FEEDS)
    given = {"h1": right[0], "h2": right[1]}
    found = diagnose(heads("0, 0, 1, 1"), inputs=_FEEDS, outputs=given)
    assert (found.unseen, found.without_reference) == ((), ())
    assert "not seen" not in str(diagnosis_document(found))


def gated(c1: str, gate: str) -> ModelProto:
    return parser.parse_model(_GATE.replace("C1", c1).replace("GATE", gate))


@pytest.mark.part(3)
@pytest.mark.parametrize("kind", [np.float16, np.float32])
@pytest.mark.parametrize("c1", ["0, 0, 1, 1", "1, 1, 0, 0"])
def test_a_branch_that_is_too_weak_to_tell_is_named_beside_a_plan_too(
    kind: type[np.generic], c1: str
) -> None:
    feeds = {
        "x": signed(0, 1, 3, 32, 32),
        "w": signed(1, 3, 3, 3, 3),
        "v": signed(2, 3, 3, 5, 5),
    }
    upper = "1, 1, 2, 2"
    for weak, named in ((1e-5 if kind is np.float16 else 1e-8, True), (1.0, False)):
        fed = {**feeds, "f": np.array(weak, np.float32)}
        right = outputs(gated("0, 0, 1, 1", upper), fed)[0].astype(kind)
        found = diagnose(gated(c1, upper), inputs=fed, outputs={"y": right})
        assert found.explained
        assert [entry.node for entry in found.plan.entries] == ["c1"] * (c1 != "0, 0, 1, 1")
        others = [one for node in found.nodes if node.node == "gate" for one in node.alternatives]
        assert (
            "symmetric pads [2, 2, 2, 2]" in [one.label for one in others if one.nearly]
        ) == named


@pytest.mark.parametrize("c1", ["0, 0, 1, 1", "1, 1, 0, 0"])
def test_a_tolerance_hides_a_weak_branch_as_rounding_does(c1: str) -> None:
    feeds = {"x": signed(0, 1, 3, 32, 32), "w": signed(1, 3, 3, 3, 3), "v": signed(2, 3, 3, 5, 5)}
    upper = "1, 1, 2, 2"
    for weak, named in ((1e-5, True), (1.0, False)):
        fed = {**feeds, "f": np.array(weak, np.float32)}
        right = outputs(gated("0, 0, 1, 1", upper), fed)[0]
        noisy = right + 2e-2 * signed(5, *right.shape)
        found = diagnose(gated(c1, upper), inputs=fed, outputs={"y": noisy}, atol=500.0)
        assert [entry.node for entry in found.plan.entries] == ["c1"] * (c1 != "0, 0, 1, 1")
        assert found.tolerance is not None
        nearly = [node.node for node in found.nodes if any(o.nearly for o in node.alternatives)]
        assert nearly == ["gate"] * named
