"""What IREE's compiler stops at, or gets wrong: it hangs on what stands in front.

By 160 chains with Pads and pools, 144 and 97 with ConvTranspose and 72 with ceil_mode, all live.
"""

from __future__ import annotations

import pytest

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
TRANSPOSED = "y = ConvTranspose <kernel_shape = [3]> (%s, w)"


def fails(nodes: str, *, size: str = "9", batch: int = 1) -> bool:
    model = text_model(
        STORED + nodes, inputs=f"float[{batch}, 2, {size}] x", outputs="float[a, b, c] y", opset=17
    )
    return any(answer.fails for answer in answers(model, "iree").values())


@pytest.mark.parametrize(
    ("nodes", "wrong"),
    [
        (f"f = Relu (x) a = Pad (f, p, o) y = Conv <{PADDED}> (a, w)", True),
        (f"f = Relu (x) a = Pad (f, p, z) y = Conv <{PADDED}> (a, w)", False),
        ("f = Relu (x) a = Pad (f, p, o) y = Conv <kernel_shape = [3]> (a, w)", False),
        ("f = Relu (x) a = Pad (f, p, o) " + TRANSPOSED % "a", True),
        ("f = Relu (x) a = Pad (f, p, z) " + TRANSPOSED % "a", False),
    ],
)
def test_pads_of_another_value_than_the_own_padding(nodes: str, *, wrong: bool) -> None:
    assert fails(nodes) is wrong


@pytest.mark.parametrize(
    ("front", "more", "wrong"),
    [
        ("f = Relu (x)", "ceil_mode = 1, pads = [0, 1]", True),
        ("f = Relu (x)", "pads = [0, 1]", False),
        ("f = Relu (x)", "ceil_mode = 1, pads = [1, 1]", False),
        ("", "ceil_mode = 1, pads = [0, 1]", True),
    ],
)
def test_max_pools_of_ceil_mode_and_unequal_pads(front: str, more: str, *, wrong: bool) -> None:
    read = "f" if front else "x"
    assert fails(f"{front} y = MaxPool <kernel_shape = [3], {more}> ({read})") is wrong


@pytest.mark.parametrize("operator", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize(
    ("size", "pads", "wrong"), [(12, "0, 1", True), (9, "1, 1", True), (9, "0, 0", False)]
)
def test_windows_that_start_in_the_padding(
    operator: str, size: int, pads: str, *, wrong: bool
) -> None:
    given = f"kernel_shape = [2], strides = [2], ceil_mode = 1, pads = [{pads}]"
    assert fails(f"y = {operator} <{given}> (x)", size=str(size)) is wrong


def test_mirrors_of_two_cells_and_more_do_not_compile() -> None:
    nodes = (
        'r = Constant <value = int64[6] {0, 0, 0, 0, 0, %d}> () y = Pad <mode = "reflect"> (x, r)'
    )
    assert not fails(nodes % 1, batch=2)
    assert fails(nodes % 2, batch=2)
