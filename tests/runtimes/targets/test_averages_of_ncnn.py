"""SAME averages: pnnx writes a Pad with the pads of stride 1, whose cells an average counts."""

from __future__ import annotations

import pytest

from onnxpad.runtimes.conditions.rows import Answer
from tests.models.text import text_model
from tests.runtimes.targets.test_held_out_facts import only

MEASURED = [
    ((2, 2), (3, 3), (10, 10), "count_include_pad = 1", Answer.TAKES),
    ((2, 2), (3, 2), (10, 6), "count_include_pad = 1", Answer.TAKES),
    ((3, 3), (1, 1), (4, 5), "count_include_pad = 1", Answer.TAKES),
    ((2, 2), (2, 2), (5, 5), "count_include_pad = 0", Answer.MISCOMPUTES),
    ((3, 3), (2, 4), (5, 10), "count_include_pad = 1", Answer.MISCOMPUTES),
    ((1, 2), (3, 1), (10, 7), "count_include_pad = 1, ceil_mode = 1", Answer.TAKES),
    ((2, 4), (1, 4), (7, 10), "count_include_pad = 1, ceil_mode = 1", Answer.MISCOMPUTES),
]


@pytest.mark.parametrize(("kernel", "strides", "sizes", "more", "answer"), MEASURED)
def test_only_averages_of_other_cells_are_wrong(
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    sizes: tuple[int, ...],
    more: str,
    answer: Answer,
) -> None:
    written = f'kernel_shape = {[*kernel]}, strides = {[*strides]}, auto_pad = "SAME_UPPER"'
    made = [-(-size // stride) for size, stride in zip(sizes, strides, strict=True)]
    model = text_model(
        f"y = AveragePool <{written}, {more}> (x)",
        inputs=f"float[1, 2, {sizes[0]}, {sizes[1]}] x",
        outputs=f"float[1, 2, {made[0]}, {made[1]}] y",
    )
    assert only(model, "ncnn").fails or not answer.fails
