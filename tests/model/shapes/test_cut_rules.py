"""Sizes behind Slice, Expand and Shape, as they are read."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxpad.geometry.size import Size, Symbol, show
from onnxpad.model.editing.session import EditSession
from onnxpad.model.graph.document import open_document
from onnxpad.model.reading.reader import read
from onnxpad.model.reading.survey import Survey
from onnxpad.model.shapes.dimensions import Dimensions
from tests.models.text import text_model
from tests.models.tiny import tiny
from tests.oracle.onnxruntime_levels import ran


def size_behind(cut: str, size: str, constants: str = "") -> Size | None:
    """The last size in front of the Conv."""
    text = f"{cut} [op] y = Conv(c, w)"
    model = tiny(text, f"float[1,1,{size}]", constants=constants)
    (site,) = EditSession(model).sites_now()
    return site.chain.axes[0].size


PLACES = range(-6, 7)


def counted(start: int, end: int, step: int) -> int:
    """Cells of a Slice-13 of four, by its text: places are clamped, backwards to -1 and 3."""
    first, last = (place + 4 if place < 0 else place for place in (start, end))
    low, high = (0, 4) if step > 0 else (-1, 3)
    first = max(min(first, high), 0)
    last = max(min(last, high), low)
    return len(range(first, last, step))


@pytest.mark.parametrize("step", [1, -1, 2, -2])
def test_slices_of_a_number(step: int) -> None:
    x = np.zeros((1, 1, 4), np.float32)
    for start in PLACES:
        for end in (*PLACES, 2**63 - 1):
            constants = f"int64[1] s={{{start}}}, int64[1] e={{{end}}}, int64[1] a={{2}}"
            constants += f", int64[1] t={{{step}}}"
            found = size_behind("c = Slice(x, s, e, a, t)", "4", constants)
            if step < 0 and end > 6:
                assert found is None, "onnxruntime goes to the very beginning"
                continue
            assert found == counted(start, end, step)
            if abs(start) > 4 or abs(end) > 4:
                model = tiny("[op] y = Slice(x, s, e, a, t)", "float[1,1,4]", constants=constants)
                result = ran(model, {"x": x}, optimised=False)
                assert not isinstance(result, str)
                assert result.shape[2] == found


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
    (site,) = EditSession(model, dims={"W": "%4==0"}).sites_now()
    size = site.chain.axes[0].size
    assert isinstance(size, Symbol)
    assert (size.name, size.modulus, size.residue) == ("W-2", 4, 2)


def test_expand_and_shape() -> None:
    constants = "int64[3] t={1,1,7}, float[1] one={1}"
    assert size_behind("c = Expand(one, t)", "4", constants) == 7
    text = "s = Shape(x) e = Expand(one, s) y = Pad(e, p)"
    model = tiny(text, "float[1,1,W]", constants="int64[6] p={0,0,1,0,0,1}, float[1] one={1}")
    (site,) = EditSession(model).sites_now()
    assert site.chain.shape is not None
    assert len(site.chain.shape) == 3
    assert isinstance(onnx.shape_inference.infer_shapes(model), onnx.ModelProto)
    assert not isinstance(ran(model, {"x": np.ones((1, 1, 4), np.float32)}, optimised=False), str)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("c = Concat<axis = 2>(one, x, one)", "W+2"),
        ("c = Concat<axis = 2>(one, x, x)", "2*W+1"),
        ("s = Shape(x) n = Gather(s, two) e = Add(n, less) c = Slice(x, one_, e, two)", "?"),
        ("s = Shape(p) n = Gather(s, two) e = Add(n, less) c = Slice(p, one_, e, two)", "W+2"),
        ("s = Shape(x) n = Gather(s, two) c = Slice(p, n, far, two)", "4"),
        ("s = Shape(x) n = Gather(s, two) c = Slice(p, less, n, one_)", "W+4"),
        ("h = Shape<start = 2>(x) t = Concat<axis = 0>(ones, h) c = Expand(cell, t)", "W"),
        ("s = Shape(p) h = Gather(s, two) t = Concat<axis = 0>(ones, h) c = Reshape(p, t)", "W+4"),
        ("s = Shape(p) f = ConstantOfShape(s) c = Add(f, p)", "W+4"),
        ("t = Concat<axis = 0>(ones, less) c = Reshape(p, t)", "W+4"),
        ("j = Concat<axis = 1>(x, x) t = Concat<axis = 0>(ones, less) c = Reshape(j, t)", "2*W"),
    ],
)  # fmt: skip
def test_sizes_with_a_name_are_kept(body: str, expected: str) -> None:
    constants = """float[1,1,1] one = {1}, float[1,1,1] cell = {1}, int64[1] two = {2},
      int64[1] less = {-1}, int64[1] one_ = {1},
      int64[2] ones = {1, 1}, int64[1] far = {9999999999},
      int64[6] four = {0, 0, 2, 0, 0, 2}"""
    padded = "p = Pad(x, four) " if "p" in body.split("(", 1)[1] else ""
    model = tiny(f"{padded}{body} [op] y = Conv(c, w)", "float[1,1,W]", constants=constants)
    *_, site = EditSession(model).sites_now()
    assert show(site.chain.axes[0].size if site.chain.axes else None) == expected


PIECES = "int64[2] l={3, 4}, int64[2] none={7, 0}"


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize(
    ("split", "size", "sizes"),
    [
        ("Split<axis=-1>(x, l)", 7, ("3", "4")),
        ("Split<axis=-1>(x, none)", 7, ("7", "0")),
        ("Split<axis=2, num_outputs=2>(x)", 8, ("4", "4")),
        ("Split<axis=2, num_outputs=2>(x)", 7, ("4", "3")),
        ("Split<axis=2>(x, l)", "W", ("3", "4")),
        ("Split<axis=2, num_outputs=2>(x)", "W", ("?", "?")),
        ("Split<axis=1, num_outputs=2>(x)", "W", ("W", "W")),
    ],
)
def test_pieces_of_a_split(split: str, size: int | str, sizes: tuple[str, str], last: bool) -> None:
    text = f"a, b = {split} [op] y = Relu({'b' if last else 'a'})"
    model = tiny(text, f"float[1,2,{size}]", constants=PIECES, opset=18)
    (context,) = read(open_document(model), Dimensions())
    dims = context.type_of("y").dims
    assert dims is not None
    assert show(dims[2]) == sizes[last]
    if isinstance(size, int):
        result = ran(model, {"x": np.zeros((1, 2, size), np.float32)}, optimised=False)
        assert not isinstance(result, str)
        assert result.shape == dims


@pytest.mark.parametrize(
    ("sizes", "target", "found"),
    [
        ("N,3,H,W", "minus, three, h, w", ["N", "3", "H", "W"]),
        ("N,6,H,W", "minus, three, h, w", ["2*N", "3", "H", "W"]),
        ("N,3,H,W", "minus, w, three, h", ["N", "W", "3", "H"]),
        ("N,3,H,H", "minus, three, h, w", ["N", "3", "H", "H"]),
        ("N,3,H,W", "minus, three, h, h", ["?", "3", "H", "H"]),
        ("N,3,H,W", "three, minus, w", ["3", "?", "W"]),
        ("1,3,H,W", "minus, three, h, w", ["1", "3", "H", "W"]),
    ],
)
def test_what_is_left_of_open_sizes(sizes: str, target: str, found: list[str]) -> None:
    """Sizes that both sides have are none of what -1 stands for."""
    model = text_model(
        "s = Shape (x) h = Slice (s, two, three) w = Slice (s, three, four) "
        f"t = Concat <axis = 0> ({target}) r = Reshape (x, t) y = GlobalAveragePool (r)",
        inputs=f"float[{sizes}] x",
        outputs="float[a, b, c, d] y",
        constants="int64[1] two = {2}, int64[1] three = {3}, int64[1] four = {4}, "
        "int64[1] minus = {-1}",
        opset=13,
    )
    (context,) = Survey(model).contexts
    dims = context.type_of("r").dims
    assert dims is not None
    assert [show(size) for size in dims] == found
