"""What is said beside a plan: names, other ways that fit, what tells them apart, tolerances."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, helper, parser

from onnxpad import Diagnosis, RequestError, diagnose, validate
from tests.diagnosis.texts import BEGIN, END, HALF, against, assert_found, network
from tests.retargeting.running import Array, outputs, signed

OPEN = "float[1, 2, H, W] x"


def conv(pads: str, x: str = OPEN) -> ModelProto:
    return network(f"y = Conv <strides = [2, 2], pads = [{pads}]> (x, w)", x, w=(3, 2, 3, 3))


def pool(words: str) -> ModelProto:
    window = "kernel_shape = [3, 3], strides = [2, 2]"
    return network(f"y = MaxPool <{window}, {words}> (x)", OPEN)


def others(found: Diagnosis) -> dict[str, tuple[int, ...] | None]:
    return {one.label: one.sizes for node in found.nodes for one in node.alternatives}


HALVES, ENDS, CEIL = f"pads = [{HALF}]", f"pads = [{END}]", "ceil_mode = 1"


def test_other_ways_that_fit_one_size_are_named_with_the_size_that_tells() -> None:
    found = assert_found(conv(HALF), conv(END), sizes=(16,))
    assert others(found)["pads [0, 0, 1, 1]"] == (17, 17)
    (node,) = found.nodes
    assert {"tensorflow", "keras", "jax", "onnx"} <= set(node.conventions)
    assert node.conventions[0] == "tensorflow"
    assert not {"pytorch", "caffe"} & set(node.conventions)
    fine = against(conv(HALF), conv(HALF), sizes=(17,))
    assert (fine.plan.entries, others(fine)["SAME_UPPER"]) == ((), (18, 18))
    assert against(conv(HALF), conv(HALF), sizes=(17, 18)).nodes == ()
    names = [node.after, *others(found)]
    assert len(set(names)) == len(names)


def test_conventions_are_those_that_every_sample_leaves() -> None:
    """One cell at the end fits both sizes, SAME the even one only: Caffe's ceil means it too."""
    found = assert_found(pool(HALVES), pool(ENDS), sizes=(16, 15))
    (entry,) = found.plan.entries
    assert (entry.settings["pads"], entry.settings["ceil_mode"]) == ([0, 0, 0, 0], 1)
    assert "caffe" in entry.conventions
    assert "tensorflow" not in entry.conventions
    (entry,) = assert_found(conv(END), conv(HALF), sizes=(16, 17)).plan.entries
    assert entry.conventions[:2] == ("pytorch", "caffe")
    assert not {"tensorflow", "keras", "tflite"} & set(entry.conventions)


@pytest.mark.parametrize("sizes", [(10, 9), pytest.param((9, 11, 10), marks=pytest.mark.sweep)])
def test_what_several_sizes_tell_is_found_in_any_order(sizes: Sequence[int]) -> None:
    """Ways that are one way at one size are told apart by another: the plan fits all of them."""
    ways = (HALVES, ENDS, 'auto_pad = "SAME_UPPER"', f"{HALVES}, {CEIL}", CEIL)
    for wrong, right in combinations(ways, 2):
        found = assert_found(pool(wrong), pool(right), sizes=sizes)
        assert found.tried < 60, (wrong, right)


def test_of_ways_that_fit_the_plan_has_the_frequent_one() -> None:
    """At an odd size SAME, half the kernel, and that rounding up are one: SAME is TensorFlow's."""
    wrong = pool(f"pads = [0, 0, 2, 2], {CEIL}")
    found = against(wrong, pool(f"{HALVES}, {CEIL}"), sizes=(9,))
    assert found.nodes[0].after == "SAME_UPPER"
    assert any("Add a sample in which it reads [10, 10]" in one for one in found.warnings)


def test_values_that_cannot_tell_are_said_so() -> None:
    """With positive data only, padding of 0 and of -inf are the same to a max pool."""
    window = "kernel_shape = [3, 3], pads = [1, 1, 1, 1]"
    text = f"c = Conv <pads = [PADS]> (x, w) y = MaxPool <{window}> (c)"
    models = [network(text.replace("PADS", one)) for one in (BEGIN, END)]
    for one in models:
        one.graph.initializer.append(
            helper.make_tensor("w", 1, (1, 2, 2, 2), np.arange(1.0, 9).astype(np.float32))
        )
    x = signed(0, 1, 2, 24, 24)
    for value, named in ((np.abs(x) + 1, True), (-np.abs(x) - 1, False)):
        right = outputs(models[1], {"x": value})[0]
        found = diagnose(models[0], inputs={"x": value}, outputs={"y": right})
        assert [one.node for one in found.nodes if one.changed] == ["c"]
        said = found.to_text()
        assert ("inputs below the padded number" in said) == named, said


HEADS = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 2, 16, 16] x, float[2, 2, 3, 3] w) => (float[1, 2, N, M] h1, float[1, 2, K, L] h2) {
  stem = Conv <strides = [2, 2], pads = [STEM]> (x, w)
  r = Relu (stem)
  h1 = Conv <pads = [1, 1, 1, 1]> (r, w)
  s2 = Conv <strides = [2, 2], pads = [0, 0, 1, 1]> (r, w)
  h2 = Conv <pads = [1, 1, 1, 1]> (s2, w)
}"""


@pytest.mark.parametrize("stem", [HALF, END])
def test_nodes_that_the_reference_does_not_see_are_named_with_what_to_add(stem: str) -> None:
    feeds = {"x": signed(0, 1, 2, 16, 16), "w": signed(1, 2, 2, 3, 3)}
    right, model = (parser.parse_model(HEADS.replace("STEM", one)) for one in (HALF, stem))
    made = dict(zip(("h1", "h2"), outputs(right, feeds), strict=True))
    found = diagnose(model, inputs=feeds, outputs={"h1": made["h1"]})
    assert [entry.node for entry in found.plan.entries] == ["stem"] * (stem != HALF)
    line = "2 nodes are not seen by this reference: s2, h2; add output 'h2' to it"
    assert line in found.to_text().splitlines()
    assert [(one.node, one.outputs) for one in found.unseen] == [("s2", ("h2",)), ("h2", ("h2",))]
    assert found.to_json()["without_reference"] == ["h2"]
    assert not {"s2", "h2"} & {*found.same_either_way}
    whole = diagnose(model, inputs=feeds, outputs=made)
    assert (whole.unseen, whole.without_reference) == ((), ())


GATE = """c1 = Conv <strides = [2, 2], pads = [C1]> (x, w)
c2 = Conv <strides = [2, 2], pads = [0, 0, 1, 1]> (c1, w)
gate = Conv <strides = [2, 2], pads = [1, 1, 2, 2]> (c1, v) m = Mul (gate, f) y = Add (c2, m)"""


@pytest.mark.parametrize("tolerated", [False, True])
@pytest.mark.parametrize("c1", [END, BEGIN])
def test_a_branch_that_is_too_weak_to_tell_is_named(c1: str, *, tolerated: bool) -> None:
    """Rounding hides it, or the tolerance that was asked for."""
    shapes: dict[str, Any] = {"w": (2, 2, 3, 3), "v": (2, 2, 5, 5)}
    for weak, named in ((1e-5 if tolerated else 1e-8, True), (1.0, False)):
        wrong, right = (
            network(GATE.replace("C1", one), constants=f"float f = {{{weak}}}", **shapes)
            for one in (c1, END)
        )
        x = signed(0, 1, 2, 24, 24)
        y = outputs(right, x)[0]
        y += 2e-2 * signed(5, *y.shape) * tolerated
        atol = 500.0 if tolerated else None
        found = diagnose(wrong, inputs={"x": x}, outputs={"y": y}, atol=atol)
        assert found.explained
        assert [entry.node for entry in found.plan.entries] == ["c1"] * (c1 != END)
        nearly = {node.node for node in found.nodes if any(one.nearly for one in node.alternatives)}
        assert ("gate" in nearly) is named


FIXED = "float[1, 2, 32, 32] x"
WRONG, RIGHT = conv(HALF, FIXED), conv(END, FIXED)
X = signed(2, 1, 2, 32, 32)
Y = outputs(RIGHT, X)[0]
NOISY = Y + 2e-3 * signed(5, *Y.shape)


def of(y: Array, atol: float | None = None, model: ModelProto = WRONG) -> Diagnosis:
    return diagnose(model, inputs={"x": X}, outputs={"y": y}, budget=4, atol=atol)


def test_a_tolerance_finds_what_noise_hides_and_hides_nothing_that_fits_better() -> None:
    assert not of(NOISY).explained
    for y, atol in ((NOISY, 0.02), (Y, 100.0)):
        found = of(y, atol)
        assert found.cause == "padding", found.reason
        assert [entry.settings["pads"] for entry in found.plan.entries] == [[0, 0, 1, 1]]
        assert found.tolerance is not None
        assert found.tolerance.met
    found = of(NOISY, 0.02, RIGHT)
    assert (found.cause, found.plan.entries) == ("tolerated", ())
    nearly = np.nextafter(Y, np.float32(100))
    assert of(nearly).explained
    assert not diagnose(WRONG, inputs={"x": X}, outputs={"y": nearly}, atol=0, rtol=0).explained
    with pytest.raises(RequestError, match="atol is -1"):
        of(Y, -1.0)


def test_a_sample_that_tells_nothing_is_named_once() -> None:
    x = np.ones(X.shape, np.float32)
    given = {"inputs": {"x": x}, "outputs": {"y": outputs(WRONG, x)[0]}}
    for found in (diagnose(WRONG, **given), validate(WRONG, **given)):  # type: ignore[arg-type]
        (warning,) = [one for one in found.warnings if "holds the same number" in one]
        assert "in sample 0, which tells little" in warning
    assert not any("tells" in warning for warning in of(Y).warnings)


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_a_reference_that_was_rounded_before_it_was_saved_is_said_to_be(kind: str) -> None:
    if kind == "float16":
        saved = Y.astype(np.float16).astype(np.float32)
    else:
        saved = ((Y.view(np.uint32) + 0x8000) & 0xFFFF0000).view(np.float32)
    found = of(saved)
    assert (found.explained, found.cause) == (False, "unknown"), found.reason
    assert any(f"one that {kind} holds" in warning for warning in found.warnings)
    assert found.settling_atol is not None
    assert f"atol {found.settling_atol:g}" in found.to_text()
    assert of(saved, found.settling_atol).explained


def test_a_solved_fill_is_said_to_be_one() -> None:
    pads = "int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}, float v = {0.3}"
    right = network("q = Pad (x, p, v) y = Conv (q, w)", constants=pads, w=(3, 2, 3, 3))
    wrong = network("y = Conv <pads = [1, 1, 1, 1]> (x, w)", w=(3, 2, 3, 3))
    told = "a second sample would tell a constant from a number of this input"
    for seeds, named in (((2,), True), ((2, 3), False)):
        said = against(wrong, right, *seeds).to_text()
        assert "the fill was solved for" in said
        assert (told in said) is named
