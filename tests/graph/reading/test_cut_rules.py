"""Sizes behind Slice, Expand and Shape, as they are read."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxpad.geometry.size import Size, Symbol, show
from onnxpad.graph.editing.session import Session
from tests.onnxruntime_levels import ran
from tests.tiny_models import tiny


def size_behind(cut: str, size: str, constants: str = "") -> Size | None:
    """The last size in front of the Conv."""
    text = f"{cut} [op] y = Conv(c, w)"
    model = tiny(text, f"float[1,1,{size}]", constants=constants)
    (site,) = Session(model).sites()
    return site.chain.axes[0].size


PLACES = range(-4, 6)


@pytest.mark.parametrize("step", [1, -1, 2])
def test_slices_of_a_number(step: int) -> None:
    last = 2**63 - 1
    for start in PLACES:
        for end in (*PLACES, last):
            constants = f"int64[1] s={{{start}}}, int64[1] e={{{end}}}, int64[1] a={{2}}"
            constants += f", int64[1] t={{{step}}}"
            found = size_behind("c = Slice(x, s, e, a, t)", "4", constants)
            assert found == len(np.arange(4)[start:end:step])


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, 2**63 - 1, "W"),
        (0, 1, "1"),
        (-1, 2**63 - 1, "1"),
        (0, 2, "?"),
        (-2, 2**63 - 1, "?"),
        (1, 2**63 - 1, "?"),
    ],
)
def test_slices_of_a_symbol(start: int, end: int, expected: str) -> None:
    """What may reach over the end of a short axis is not known."""
    constants = f"int64[1] s={{{start}}}, int64[1] e={{{end}}}, int64[1] a={{2}}"
    assert show(size_behind("c = Slice(x, s, e, a)", "W", constants)) == expected


def test_a_symbol_that_is_large_enough_is_cut() -> None:
    constants = "int64[1] s={1}, int64[1] e={-1}, int64[1] a={2}"
    model = tiny("c = Slice(x, s, e, a) [op] y = Conv(c, w)", "float[1,1,W]", constants=constants)
    (site,) = Session(model, dims={"W": "%4==0"}).sites()
    size = site.chain.axes[0].size
    assert isinstance(size, Symbol)
    assert (size.name, size.modulus, size.residue) == ("W-2", 4, 2)


def test_expand_and_shape() -> None:
    constants = "int64[3] t={1,1,7}, float[1] one={1}"
    assert size_behind("c = Expand(one, t)", "4", constants) == 7
    text = "s = Shape(x) e = Expand(one, s) y = Pad(e, p)"
    model = tiny(text, "float[1,1,W]", constants="int64[6] p={0,0,1,0,0,1}, float[1] one={1}")
    (site,) = Session(model).sites()
    assert site.chain.shape is not None
    assert len(site.chain.shape) == 3
    assert isinstance(onnx.shape_inference.infer_shapes(model), onnx.ModelProto)
    assert not isinstance(ran(model, {"x": np.ones((1, 1, 4), np.float32)}, optimised=False), str)
