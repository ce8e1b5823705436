"""absorb-pad through DynamicQuantizeLinear, which quantises by the range of what it reads."""

from typing import Any

import numpy as np
import onnx
import pytest

from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import attributes, kinds, left_alone, nodes, refused, tiny
from tests.rewriting.passes.absorbing import RULE
from tests.rewriting.passes.expanded import drawn, levels

HELD = "int8[1,2,3] k = {1, -2, 3, 4, 5, -6}, int8 kz = {1}, int64[6] p = {0, 0, 1, 0, 0, 2}"
QUANTISED = "q, s, z = DynamicQuantizeLinear"


def model(body: str, result: str = "float[a,b,c]", more: str = "") -> Any:
    return tiny(body, "float[1,2,n]", constants=HELD + more, result=result)


@pytest.mark.parametrize(
    "between", ["", "r = LeakyRelu (a)", "r = Transpose <perm = [0, 1, 2]> (a)"]
)
def test_what_onnxruntime_quantises_while_it_runs(between: str) -> None:
    read = "r" if between else "a"
    text = f"a = Pad (x, p) {between} {QUANTISED} ({read})"
    before = model(
        f"{text} [op] c = ConvInteger (q, k, z, kz) d = Cast <to = 1> (c) y = Mul (d, s)"
    )
    after = rewrite(onnx.shape_inference.infer_shapes(before), passes=[RULE]).model
    assert isinstance(after, onnx.ModelProto)
    onnx.checker.check_model(after, full_check=True)
    assert "Pad" not in kinds(after)
    assert attributes(after) == {"pads": [1, 2]}
    for shift in (0, 15, -15):
        feed = {"x": drawn((1, 2, 6), "float32") + np.float32(shift)}
        for found, wanted in zip(levels(after, feed), levels(before, feed), strict=True):
            np.testing.assert_array_equal(found[0], wanted[0])


REFUSED = {
    "another value": (
        f"a = Pad (x, p, v) {QUANTISED} (a) [op] y = ConvInteger (q, k, z, kz)",
        "what DynamicQuantizeLinear 'q' makes of the Pad is not known",
    ),
    "another zero point": (
        f"a = Pad (x, p) {QUANTISED} (a) [op] y = ConvInteger (q, k)",
        "the Pad writes the value of 'z' behind DynamicQuantizeLinear 'q', ConvInteger pads with 0",
    ),
}


@pytest.mark.parametrize(("body", "reason"), REFUSED.values(), ids=REFUSED)
def test_refuses(body: str, reason: str) -> None:
    assert refused(model(body, "int32[a,b,c]", ", float v = {3}"), RULE).reason == reason


def test_others_that_read_it_or_what_is_made_of_it() -> None:
    ends = (
        f"{QUANTISED} (a) c = ConvInteger (q, k, z, kz) e = ConvInteger (q, k, z, kz)",
        f"{QUANTISED} (a) t = Identity (q) c = ConvInteger (t, k, z, kz) e = ConvInteger (t, k, z)",
    )
    for end in ends:
        assert left_alone(model(f"a = Pad (x, p) {end} y = Add (c, e)", "int32[a,b,c]"), RULE)


def test_two_that_read_what_was_crossed() -> None:
    before = model(
        f"""a = Pad (x, p) r = Relu (a) [one] {QUANTISED} (r) c = ConvInteger (q, k, z, kz)
        [two] q2, s2, z2 = DynamicQuantizeLinear (r) e = ConvInteger (q2, k, z2, kz)
        y = Add (c, e)""",
        "int32[a,b,c]",
    )
    after = rewrite(before, passes=[RULE]).model
    assert isinstance(after, onnx.ModelProto)
    assert "Pad" not in kinds(after)
    assert {node.name for node in nodes(after.graph)} >= {"one", "two"}
    feed = {"x": drawn((1, 2, 6), "float32")}
    for found, wanted in zip(levels(after, feed), levels(before, feed), strict=True):
        np.testing.assert_array_equal(found[0], wanted[0])
