"""A Pad of a weight: onnxruntime takes it for padded data, and refuses what comes of it."""

from __future__ import annotations

import pytest

from tests.models.tiny import X5, by_onnxruntime, tiny
from tests.runtimes.onnxruntime.test_pad_fusion import foreseen

CONCAT = "d = Concat <axis = 2> (x, x, x)"


@pytest.mark.part(2)
@pytest.mark.parametrize("auto_pad", ["", '<auto_pad = "VALID">'])
@pytest.mark.parametrize("more", ["", " z = Neg(t)", " z = Identity(t)"])
@pytest.mark.parametrize("value", ["", "0", "-0.0", "3"])
@pytest.mark.parametrize("between", ["", "k = Identity(t) ", "k = Relu(t) "])
@pytest.mark.parametrize("flat", ["0,0,1,0,0,1", "0,0,0,0,0,2", "0,0,1,0,0,-1"])
def test_a_padded_weight(flat: str, between: str, value: str, more: str, auto_pad: str) -> None:
    constants = f"int64[6] p = {{{flat}}}" + (f", float c = {{{value}}}" if value else "")
    pad = "t = Pad(x, p, c)" if value else "t = Pad(x, p)"
    weight = "k" if between else "t"
    model = tiny(
        f"{CONCAT} {pad} {between}[op] y = Conv {auto_pad} (d, {weight}){more}",
        constants=constants,
    )
    if more:
        model.graph.output.add().name = "z"
    plain = by_onnxruntime(model, X5)
    assert isinstance(plain, list)
    is_harmed = by_onnxruntime(model, X5, optimised=True) != plain
    assert foreseen(model)[1] or not is_harmed
    assert not is_harmed or (not auto_pad and not more)
