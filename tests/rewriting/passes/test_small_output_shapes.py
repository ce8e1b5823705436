"""An output_shape below the input's size: onnx infers too few axes, and no node may follow."""

from __future__ import annotations

from itertools import product

import numpy as np
import onnx
import pytest
from onnx import parser

from onnxpad.rewriting.rewrite import rewrite
from tests.rewriting.passes.expanded import levels

REASON = "onnx then infers too few axes, and onnxruntime refuses a node behind"
RNG = np.random.default_rng(4)


def transposed(wanted: tuple[int, ...], sizes: tuple[int | str, ...]) -> onnx.ModelProto:
    """ConvTranspose of x in an auto_pad that known sizes alone would settle."""
    kernel = (2,) * len(wanted)
    dims, taps = ", ".join(map(str, sizes)), 6 * 2 ** len(wanted)
    weight = ", ".join(str(one) for one in RNG.integers(-9, 9, taps))
    shape = ", ".join(map(str, (2, 3, *kernel)))
    result = ", ".join(["3"] + ["?"] * (len(wanted) + 1))
    return parser.parse_model(f"""
    <ir_version: 8, opset_import: ["" : 17]>
    g (float[3, 2, {dims}] x) => (float[{result}] y)
    <float[{shape}] w = {{{weight}}}, float[3] b = {{-5, 3, 40}}> {{
        [n] y = ConvTranspose <auto_pad = "SAME_LOWER", output_shape = {list(wanted)}> (x, w, b)
    }}
    """)


def agrees_or_is_refused(rule: str, wanted: tuple[int, ...], sizes: tuple[int | str, ...]) -> None:
    before = transposed(wanted, sizes)
    done = rewrite(before, passes=rule)
    small = any(isinstance(n, int) and less < n for less, n in zip(wanted, sizes, strict=True))
    assert done.changed is not small
    if small:
        assert REASON in done.skips[0].skip.reason
        return
    assert isinstance(done.model, onnx.ModelProto)
    shape = (3, 2, *(size if isinstance(size, int) else 5 for size in sizes))
    feeds = {"x": RNG.normal(size=shape).astype(np.float32)}
    for old, new in zip(levels(before, feeds), levels(done.model, feeds), strict=True):
        np.testing.assert_allclose(old[0], new[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rule", ["separate-bias", "lift-rank"])
def test_one_axis(rule: str) -> None:
    for wanted in range(3, 7):
        agrees_or_is_refused(rule, (wanted,), (5,))
        agrees_or_is_refused(rule, (wanted,), ("h",))


def test_two_axes() -> None:
    for wanted in product(range(4, 7), repeat=2):
        for sizes in ((5, 5), (5, "w"), ("h", 5), ("h", "w")):
            agrees_or_is_refused("separate-bias", wanted, sizes)
