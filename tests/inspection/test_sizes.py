"""inspect: sizes that only shape inference knows, and what hangs on them."""

from __future__ import annotations

import pytest
from onnx import ModelProto

from onnxpad import inspect
from tests.command import told_in
from tests.models.text import text_model

# The Einsum hides the shape from everything but onnx's shape inference.
HIDDEN = 'h = Einsum <equation="abc->acb"> (x)'


def last(model: ModelProto) -> tuple[object, list[str]]:
    node = inspect(model).nodes[-1]
    return node.input_shape, [trap.code for trap in node.traps]


def test_traps_are_found_behind_shape_inference() -> None:
    pad = f'{HIDDEN} y = Pad <mode="reflect"> (h, p)'
    model = text_model(pad, "float[1,3,1] x", constants="int64[6] p = {0, 0, 3, 0, 0, 0}")
    assert last(model) == ((1, 1, 3), ["reflect-beyond-input"])
    pool = text_model(f"{HIDDEN} y = MaxPool <kernel_shape=[8]> (h)", "float[1,3,1] x")
    assert last(pool) == ((1, 1, 3), ["input-shorter-than-window"])


def test_a_kernel_is_found_behind_shape_inference() -> None:
    nodes = f'{HIDDEN} y = Conv <auto_pad="SAME_UPPER"> (i, h)'
    model = text_model(nodes, "float[1,3,1] x, float[1,1,8] i")
    assert inspect(model).nodes[0].pads == (1, 1)


def test_a_short_input_of_which_ceil_mode_leaves_a_window_is_fine() -> None:
    node = "y = MaxPool <kernel_shape=[3], strides=[2], ceil_mode=1> (x)"
    (found,) = inspect(text_model(node, "float[1,1,2] x")).nodes
    assert found.traps == ()


WEIGHT = f"float[4,3,3,3] w = {{{','.join('1' * 108)}}}"
NUMBERS = "int64[4] k = {9,9,9,9}, int64[1] four = {4}, int64[1] two = {2}, int64[4] z = {0,0,0,0}"
WHOLE_SHAPE = """s = Shape (x) r = Sub (k, s) q = Mod (r, four) h = Slice (q, two, four)
  p = Concat <axis = 0> (z, z2, h) y = Pad (x, p)"""
MERGED = 'r = Reshape (x, t) y = Conv <auto_pad = "SAME_UPPER", strides = [2,2]> (r, w)'
PLANE = """a = Unsqueeze (x, o) y = MaxPool <auto_pad = "SAME_UPPER", kernel_shape = [3,3],
  strides = [2,2]> (a)"""


@pytest.mark.parametrize(
    ("nodes", "dims", "expected"),
    [
        (WHOLE_SHAPE, "n,3,h,9", "--dim 'h=640'"),
        (MERGED, "n,65,48,3", "--dim 'n=1'"),
        (PLANE, "h,w", "--dim 'h=640' --dim 'w=640'"),
    ],
)
def test_a_batch_is_offered_no_number_of_pixels(nodes: str, dims: str, expected: str) -> None:
    more = "int64[2] z2 = {0,0}, int64[1] z1 = {0}, int64[4] t = {1,3,-1,48}, int64[2] o = {0,1}"
    model = text_model(
        nodes, f"float[{dims}] x", constants=f"{WEIGHT}, {NUMBERS}, {more}", opset=13
    )
    hints = [node.hints for node in inspect(model).nodes if node.pads is None]
    assert hints[0][0] == expected
    facts = {name: fact.told for name, fact in told_in(expected).items()}
    assert all(node.pads is not None for node in inspect(model, dims=facts).nodes)


def test_where_one_image_settles_a_rewrite_it_is_what_next_says() -> None:
    model = text_model(
        MERGED,
        "float[n,65,48,3] x",
        constants=f"{WEIGHT}, int64[4] t = {{1,3,-1,48}}",
        outputs="float[a,b,c,d] y",
        opset=13,
    )
    found = inspect(model, target="opencv")
    assert "next: onnxpad rewrite MODEL --target opencv --dim 'n=1' -o OUT" in found.to_text()
