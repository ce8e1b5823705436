"""Models with a Pad for absorb-pad, and what it must keep of them."""

from functools import partial
from typing import Any

import numpy as np
import onnx

from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import (
    Array,
    kinds,
    numbers,
)
from tests.models.tiny import tiny as text_model
from tests.oracle.onnxruntime_levels import ran

RULE = "absorb-pad"
tiny = partial(text_model, result="float[n,c,r]")
ONE_EACH = "int64[6] p = {0, 0, 1, 0, 0, 1}"
CONV = "[op] y = Conv (b, w)"


def through(
    call: str, *, value: str = "", constants: str = "", end: str = CONV, **more: Any
) -> Any:
    """A Pad `a`, one operator `b` and the convolution that reads it."""
    held = ", ".join(filter(None, [ONE_EACH, f"float c = {{{value}}}" if value else "", constants]))
    pad = "Pad (x, p, c)" if value else "Pad (x, p)"
    return tiny(f"[pad] a = {pad} [f] b = {call} {end}", constants=held, **more)


def absorbed(model: onnx.ModelProto, *inputs: Array) -> onnx.ModelProto:
    """Without the Pad, and the same numbers in both levels of onnxruntime."""
    done = rewrite(model, passes=[RULE])
    assert done.changed, [refusal.skip for refusal in done.skips]
    after = done.model
    assert isinstance(after, onnx.ModelProto)
    assert "Pad" not in kinds(after)
    onnx.checker.check_model(after, full_check=True)
    for x in inputs:
        wanted = ran(model, {"x": x}, optimised=False)
        assert not isinstance(wanted, str), wanted
        for level in (False, True):
            found = ran(after, {"x": x}, optimised=level)
            assert not isinstance(found, str), found
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=0)
    return after


NEGATIVE_5 = numbers(-7, -1, -2, -2, -9)
