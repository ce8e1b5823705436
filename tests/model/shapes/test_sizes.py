"""Sizes in front of a pool, as inspect says them: those of onnxruntime, or open."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import numpy as np
import onnx
import pytest

import onnxpad
from tests.models.text import text_model
from tests.oracle.onnxruntime_levels import ran

NUMBERS = """int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] three = {3},
 int64[1] four = {4}, int64[1] minus = {-1}, int64[1] less = {-3}, int64[1] far = {9999999999},
 int64[2] ones = {1, 1}, int64[3] seven = {1, 1, 7}, int64[6] pads = {0, 0, 2, 0, 0, 2},
 int64[2] parts = {3, 4}, int64[2] all = {7, 0}, int64[3] rows = {0, 2, 4},
 float[4] double = {1, 1, 2, 2}, float[4] half = {1, 1, 0.5, 0.5}, float[4] more = {1, 1, 1.5, 0.7},
 float[1,1,1] cell = {1}"""
CEIL = "MaxPool <kernel_shape = [1, 1], strides = [2, 2], ceil_mode = 1>"
PADDED = "p = Pad (x, pads) s = Shape (p)"
H, W = "h = Slice (s, two, three)", "w = Slice (s, three, four)"


def model_of(nodes: str, sizes: str, known: str = "", opset: int = 17) -> onnx.ModelProto:
    """A pool that reads `r`, which the nodes make of `x`; its result has the same sizes."""
    rank = 3 if sizes.count(",") == 2 else 4
    pool = f"y = MaxPool <kernel_shape = [{', '.join('1' * (rank - 2))}]> (r)"
    axes = ", ".join("abcd"[:rank])
    return text_model(
        f"{nodes} {pool}",
        f"float[{sizes}] x",
        outputs=f"float[{axes}] y",
        constants=f"{NUMBERS}{known}",
        opset=opset,
    )


def sizes_of(model: onnx.ModelProto, **dims: int) -> list[Any]:
    shape = onnxpad.inspect(model, dims=dims).nodes[-1].input_shape
    return list(shape or ())


def check_against_onnxruntime(model: onnx.ModelProto, **dims: int) -> list[Any]:
    """The sizes that are said, each of which is that of onnxruntime."""
    (value,) = model.graph.input
    shape = [one.dim_value or dims[one.dim_param] for one in value.type.tensor_type.shape.dim]
    used = {one.dim_param for one in value.type.tensor_type.shape.dim}
    found = sizes_of(model, **{name: size for name, size in dims.items() if name in used})
    result = ran(model, {"x": np.zeros(shape, np.float32)}, optimised=False)
    if not isinstance(result, str):
        wrong = [a for a, b in zip(found, result.shape, strict=True) if a not in (b, None)]
        assert not wrong, (found, result.shape)
    return found


@pytest.mark.parametrize(
    ("nodes", "sizes", "expected"),
    [
        ("r = Slice (x, zero, far, two)", "1,1,W", [1, 1, "W"]),
        ("r = Slice (x, zero, one, two)", "1,1,W", [1, 1, 1]),
        ("r = Slice (x, minus, far, two)", "1,1,W", [1, 1, 1]),
        ("r = Slice (x, zero, two, two)", "1,1,W", [1, 1, None]),
        ("r = Slice (x, one, far, two)", "1,1,W", [1, 1, None]),
        ("r = Concat <axis = 2> (cell, x, cell)", "1,1,W", [1, 1, "W+2"]),
        ("r = Concat <axis = 2> (cell, x, x)", "1,1,W", [1, 1, "2*W+1"]),
        (
            f"{PADDED} n = Gather (s, two) e = Add (n, minus) r = Slice (p, one, e, two)",
            "1,1,W",
            [1, 1, "W+2"],
        ),
        (
            "p = Pad (x, pads) s = Shape (x) n = Gather (s, two) r = Slice (p, n, far, two)",
            "1,1,W",
            [1, 1, 4],
        ),
        ("r = Expand (cell, seven)", "1,1,W", [1, 1, 7]),
        (
            "h = Shape <start = 2> (x) t = Concat <axis = 0> (ones, h) r = Expand (cell, t)",
            "1,1,W",
            [1, 1, "W"],
        ),
        ("s = Shape (x) f = ConstantOfShape (s) r = Add (f, x)", "1,1,W", [1, 1, "W"]),
        (
            "j = Concat <axis = 1> (x, x) t = Concat <axis = 0> (ones, minus) r = Reshape (j, t)",
            "1,1,W",
            [1, 1, "2*W"],
        ),
        ("q, r = Split <axis = -1> (x, parts)", "1,1,7", [1, 1, 4]),
        ("r, q = Split <axis = -1> (x, all)", "1,1,7", [1, 1, 7]),
        ("q, r = Split <axis = 2> (x, parts)", "1,1,W", [1, 1, None]),
        ("q, r = Split <axis = 1> (x, ones)", "1,2,W", [1, 1, "W"]),
        ('r = Resize <mode = "nearest"> (x, , double)', "1,1,H,5", [1, 1, "2*H", 10]),
        ('r = Resize <mode = "nearest"> (x, , half)', "1,1,H,5", [1, 1, "floor(H/2)", 2]),
        ('r = Resize <mode = "nearest"> (x, , more)', "1,1,H,10", [1, 1, None, None]),
        (
            f"s = Shape (x) {H} {W} t = Concat <axis = 0> (minus, three, h, w) r = Reshape (x, t)",
            "N,6,H,W",
            ["2*N", 3, "H", "W"],
        ),
        (
            f"s = Shape (x) {H} {W} t = Concat <axis = 0> (minus, w, three, h) r = Reshape (x, t)",
            "N,3,H,W",
            ["N", "W", 3, "H"],
        ),
        (
            f"s = Shape (x) {H} {W} t = Concat <axis = 0> (minus, three, h, h) r = Reshape (x, t)",
            "N,3,H,W",
            [None, 3, "H", "H"],
        ),
    ],
)  # fmt: skip
def test_sizes_with_a_name_are_kept(nodes: str, sizes: str, expected: list[Any]) -> None:
    model = model_of(nodes, sizes)
    assert sizes_of(model) == expected
    for size in (1, 2, 5, 8):
        check_against_onnxruntime(model, N=size, H=size + 1, W=size)


def test_slices_of_numbers() -> None:
    """Places outside, and backwards; up to the largest number onnxruntime goes to the beginning."""
    random, ends = Random(1), (*range(-6, 7), 2**63 - 1)
    for start, end, step in random.sample([*product(range(-6, 7), ends, (1, -1, 2, -2))], 60):
        known = f", int64[1] f = {{{start}}}, int64[1] e = {{{end}}}, int64[1] t = {{{step}}}"
        found = check_against_onnxruntime(model_of("r = Slice (x, f, e, two, t)", "1,1,4", known))
        assert (found[2] is None) == (step < 0 and end > 6)


@pytest.mark.parametrize("scale", [0.29, 1 / 3, 0.5, 0.58, 0.7, 1.0, 1.3, 1.6666666, 2.0, 2.5])
def test_scaled_sizes(scale: float) -> None:
    known = f", float[4] s = {{1, 1, {scale}, {scale}}}"
    for size in (1, 3, 7, 10, 29, 50, 100):
        model = model_of('r = Resize <mode = "nearest"> (x, , s)', f"1,1,{size},4", known)
        check_against_onnxruntime(model)


@pytest.mark.parametrize(
    ("nodes", "sizes", "known", "opset", "expected"),
    [
        # A product that rounding settles is open, whatever the file says.
        (
            'r = Resize <mode = "nearest"> (x, , s)',
            "1,3,10,100",
            ", float[4] s = {1, 1, 0.7, 0.29}, float[1,3,7,29] r",
            17,
            [1, 3, None, None],
        ),
        (
            'r = Upsample <mode = "nearest", scales = [1.0, 1.0, 2.0, 0.7]> (x)',
            *("1,3,5,10", "", 8, [1, 3, 10, None]),
        ),
        ("r = Slice (x, zero, less, two)", "N,3,H,W", ", float[N,3,H,W] r", 10,
         ["N", 3, None, "W"]),
        # Before opset 22 inference keeps the window that starts in the end padding.
        (
            f'p = {CEIL} (x) r = Resize <mode = "nearest"> (p, , double)',
            *("1,1,2,2", ", float[1,1,2,2] p", 17, [1, 1, 2, 2]),
        ),
        # Inference comes before the file, and the file before nothing.
        ("r = Gather <axis = 2> (x, rows)", "1,3,6,8", ", float[1,3,4,8] r", 17, [1, 3, 3, 8]),
        (
            "t = Cast <to = 7> (f) r = Reshape (x, t)",
            *("96,1,1,1", ", float[4] f = {1,3,4,8}, float[1,3,4,8] r", 17, [1, 3, 4, 8]),
        ),
    ],
)  # fmt: skip
def test_what_the_file_says(
    nodes: str, sizes: str, known: str, opset: int, expected: list[Any]
) -> None:
    assert sizes_of(model_of(nodes, sizes, known, opset)) == expected


def test_the_state_of_a_loop_need_not_keep_the_size_of_the_first_turn() -> None:
    nodes = """r = Loop (three, , x) <body = b (int64 i, bool go, float[1,3,12] s)
      => (bool on, float[1,3,a] t)
      { on = Identity (go) t = MaxPool <kernel_shape = [2], strides = [2]> (s) }>"""
    state = next(one for one in onnxpad.inspect(model_of(nodes, "1,3,12")).nodes if one.scope)
    assert state.input_shape == (None, None, None)


def test_the_name_of_an_input_is_not_believed_of_an_output() -> None:
    model = model_of("r = com.microsoft.Own (x)", "N,3,H,W")
    sizes: list[str | int | None] = ["N", 3, "H", "V"]
    model.graph.output.append(onnx.helper.make_tensor_value_info("r", 1, sizes))
    assert sizes_of(model) == [None, 3, None, "V"]
