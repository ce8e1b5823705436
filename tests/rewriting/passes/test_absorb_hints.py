"""Passes that absorb-pad names where it refuses, and that open the way for it."""

import onnx

from onnxpad.padding.chain import Skip
from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import X5, kinds, refused, values
from tests.rewriting.passes.absorbing import RULE, tiny


def test_the_way_that_a_refusal_names() -> None:
    held = "float[1,2,3] w = {1, 10, 100, 2, 20, 200}, int64[6] p = {0, 1, 1, 0, 0, -1}"
    model = tiny("a = Pad (x, p) [op] y = Conv (a, w)", constants=held)
    first = refused(model, RULE)
    assert first == Skip("the Pad has negative pads and crops", ("--pass plain-pad",))
    (second,) = rewrite(model, passes=["plain-pad", RULE]).skips
    assert second.skip.hints == ("--pass spatial-pads",)
    done = rewrite(model, passes=["plain-pad", "spatial-pads", RULE]).model
    assert isinstance(done, onnx.ModelProto)
    assert kinds(done) == ["Slice", "Concat", "Conv"]
    assert values(done, X5) == values(model, X5)
