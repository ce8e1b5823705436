"""What IREE's compiler stops at, or gets wrong: it hangs on what stands in front.

By 160 chains with Pads and pools, 144 and 97 with ConvTranspose and 72 with ceil_mode, all live.
"""

from __future__ import annotations

import pytest

from onnxpad.runtimes.conditions.rows import Answer
from tests.models.text import text_model
from tests.runtimes.targets.test_held_out_facts import answers

STORED = (
    "p = Constant <value = int64[6] {0, 0, 1, 0, 0, 0}> () "
    "e = Constant <value = int64[6] {0, 0, 0, 0, 0, 1}> () "
    "z = Constant <value = float {0}> () o = Constant <value = float {1.5}> () "
    "w = Constant <value = float[2, 2, 3] {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3}> () "
    "u = Constant <value = float[2, 2, 1] {1, 2, 3, 4}> () "
)
PADDED = "kernel_shape = [3], pads = [1, 1]"
CONV = "f = Conv <kernel_shape = [3]> (x, w) "
TRANSPOSED = "y = ConvTranspose <kernel_shape = [3]> (%s, w)"


def fails(nodes: str, *, size: str = "9", batch: int = 1) -> bool:
    model = text_model(
        STORED + nodes, inputs=f"float[{batch}, 2, {size}] x", outputs="float[a, b, c] y", opset=17
    )
    return any(answer.fails for answer in answers(model, "iree").values())


@pytest.mark.parametrize(
    ("nodes", "wrong"),
    [
        ("f = Relu (x) a = Pad (f, p, z) y = Pad (a, e, o)", True),
        ("f = Relu (x) a = Pad (f, p, o) y = Pad (a, e, z)", True),
        ("f = Relu (x) a = Pad (f, p, o) y = Pad (a, e, o)", False),
        ("a = Pad (x, p, z) y = Pad (a, e, o)", False),
        ('f = Relu (x) a = Pad <mode = "edge"> (f, p) y = Pad (a, e, z)', False),
        ("f = Relu (x) a = Pad (f, p, o) b0 = Relu (a) y = Pad (b0, e, z)", False),
        (f"f = Relu (x) a = Pad (f, p, o) y = Conv <{PADDED}> (a, w)", True),
        (f"f = Relu (x) a = Pad (f, p, z) y = Conv <{PADDED}> (a, w)", False),
        (f"a = Pad (x, p, o) y = Conv <{PADDED}> (a, w)", False),
        ("f = Relu (x) a = Pad (f, p, o) y = Conv <kernel_shape = [3]> (a, w)", False),
        ("f = Relu (x) a = Pad (f, p, o) " + TRANSPOSED % "a", True),
        ("f = Relu (x) a = Pad (f, p, z) " + TRANSPOSED % "a", False),
    ],
)
def test_pads_of_two_values_behind_an_operator(nodes: str, *, wrong: bool) -> None:
    assert fails(nodes) is wrong


@pytest.mark.parametrize(
    ("front", "more", "wrong"),
    [
        ("f = Relu (x)", "ceil_mode = 1, pads = [0, 1]", True),
        ("f = Relu (x)", "pads = [0, 1]", False),
        ("f = Relu (x)", "ceil_mode = 1, pads = [1, 1]", False),
        ("", "ceil_mode = 1, pads = [0, 1]", False),
    ],
)
def test_max_pools_of_ceil_mode_and_unequal_pads(front: str, more: str, *, wrong: bool) -> None:
    read = "f" if front else "x"
    assert fails(f"{front} y = MaxPool <kernel_shape = [3], {more}> ({read})") is wrong


@pytest.mark.parametrize(
    ("front", "batch", "wrong"),
    [
        ('f = Pad <mode = "edge"> (x, p)', 1, False),
        ('g = Pad <mode = "reflect"> (x, p) f = Relu (g)', 1, False),
        ('h = Relu (x) g = Pad <mode = "reflect"> (h, p) f = Add (g, o)', 1, False),
        ('g = Pad <mode = "reflect"> (x, p) f = Relu (g)', 2, True),
        ('g = Pad <mode = "edge"> (x, p) f = Conv <kernel_shape = [1]> (g, u)', 1, True),
        ("g = Pad (x, p, z) f = Relu (g)", 1, True),
    ],
)
def test_those_behind_a_pad_of_cells_compile_for_a_batch_of_1(
    front: str, batch: int, *, wrong: bool
) -> None:
    """52 models live."""
    pool = "y = MaxPool <kernel_shape = [2], strides = [2], ceil_mode = 1, pads = [1, 0]> (f)"
    assert fails(f"{front} {pool}", batch=batch) is wrong


@pytest.mark.parametrize("operator", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize(
    ("size", "pads", "wrong"), [(12, "0, 1", True), (9, "1, 1", True), (9, "0, 0", False)]
)
def test_windows_that_start_in_the_padding(
    operator: str, size: int, pads: str, *, wrong: bool
) -> None:
    given = f"kernel_shape = [2], strides = [2], ceil_mode = 1, pads = [{pads}]"
    assert fails(f"y = {operator} <{given}> (x)", size=str(size)) is wrong


@pytest.mark.parametrize(
    ("nodes", "wrong"),
    [
        (CONV + TRANSPOSED % "f", True),
        ("f = MaxPool <kernel_shape = [2]> (x) " + TRANSPOSED % "f", True),
        (CONV + "g0 = Relu (f) h = Add (g0, o) " + TRANSPOSED % "h", True),
        (CONV + "a = Pad (f, p, z) " + TRANSPOSED % "a", True),
        (CONV + 'a = Pad <mode = "edge"> (f, p) ' + TRANSPOSED % "a", False),
        ("f = Relu (x) " + TRANSPOSED % "f", False),
        ("f = Conv <kernel_shape = [1]> (x, u) " + TRANSPOSED % "f", False),
        (CONV + "y = ConvTranspose <kernel_shape = [1]> (f, u)", False),
        (CONV + "y = ConvTranspose <kernel_shape = [3], strides = [2]> (f, w)", False),
        (CONV + "y = ConvTranspose <kernel_shape = [3], pads = [2, 2]> (f, w)", False),
    ],
)
def test_transposed_convolutions_behind_windows(nodes: str, *, wrong: bool) -> None:
    assert fails(nodes) is wrong
    assert not fails(nodes, batch=2)


def test_what_is_wrong_is_not_said_to_be_refused() -> None:
    model = text_model(
        STORED + CONV + TRANSPOSED % "f",
        inputs="float[1, 2, 9] x",
        outputs="float[a, b, c] y",
        opset=17,
    )
    assert answers(model, "iree")["ConvTranspose"] is Answer.MISCOMPUTES


def test_planes_of_all_images_count_for_mirrored_lines() -> None:
    nodes = (
        'r = Constant <value = int64[6] {0, 0, 0, 0, 0, 2}> () y = Pad <mode = "reflect"> (x, r)'
    )
    assert not fails(nodes)
    assert fails(nodes, batch=2)


@pytest.mark.parametrize(
    ("kernel", "wrong"),
    [("3, 3", True), ("3, 1", False), ("1, 3", False), ("1, 1", False), ("2, 2", True)],
)
def test_transposed_behind_a_kernel_of_1_along_some_axis_is_right(
    kernel: str, *, wrong: bool
) -> None:
    model = text_model(
        "w = Constant <value = float[2, 2, 1, 2] {1, 2, 3, 4, 5, 6, 7, 8}> () "
        f"f = MaxPool <kernel_shape = [{kernel}]> (x) y = ConvTranspose (f, w)",
        inputs="float[1, 2, 9, 8] x",
        outputs="float[a, b, c, d] y",
        opset=17,
    )
    assert answers(model, "iree")["ConvTranspose"].fails is wrong
