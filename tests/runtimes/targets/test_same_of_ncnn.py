"""Convolutions with SAME on axes of which one has a kernel below its stride, in ncnn."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from onnxpad.inspection import inspect
from onnxpad.runtimes.conditions.rows import Answer
from tests.models.text import text_model
from tests.runtimes.live.layers import verdicts_on


class Conv(NamedTuple):
    """Sizes of the spatial axes; kernel, stride and dilation of each."""

    sizes: tuple[int | str, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...] = (1, 1, 1)
    group: int = 1


RIGHT = (
    Conv((11, 11), (4, 1), (2, 2)),
    Conv((12, 12), (1, 1), (2, 2)),
    Conv((12, 12), (1, 1), (3, 3)),
    Conv((12, 12), (4, 1), (1, 1)),
    Conv((12, 12), (2, 1), (2, 2)),
    Conv((12, 11), (2, 1), (1, 2)),
    Conv((12,), (1,), (2,)),
    Conv((12,), (2,), (3,)),
    Conv((12,), (1,), (6,)),
    Conv((12,), (2,), (6,)),
    Conv((8, 9), (1, 1), (4, 4)),
    Conv((8, 9, 10), (1, 1, 1), (4, 4, 4)),
    Conv((6, 6, 6), (1, 1, 2), (2, 2, 2)),
)
WRONG = (
    Conv((12, 12), (3, 1), (1, 2)),
    Conv((12, 12), (3, 1), (2, 2)),
    Conv((11, 12), (3, 1), (1, 2), group=4),
    Conv((12, 12), (2, 1), (1, 3), (2, 1)),
    Conv((12, 6), (3, 2), (1, 3)),
)
OVERWRITES = (
    Conv((12, 12), (4, 1), (2, 2)),
    Conv((33, 46), (4, 1), (2, 2)),
    Conv((12, 12), (4, 1), (3, 2)),
    Conv((12, 12), (1, 3), (2, 1)),
)
"""Taken for wrong as well; ncnn may end here, or compute the right numbers by luck."""


def model(conv: Conv, auto_pad: str = "SAME_UPPER") -> onnx.ModelProto:
    rank = len(conv.sizes)
    words = (
        f'auto_pad="{auto_pad}", group={conv.group}, dilations={list(conv.dilations[:rank])}, '
        f"strides={list(conv.strides)}"
    )
    made = text_model(
        f"y = Conv <{words}> (x, w)",
        inputs=f"float[1, 4, {', '.join(map(str, conv.sizes))}] x",
        outputs=f"float[{', '.join('abcde'[: rank + 2])}] y",
    )
    weight = np.random.default_rng(0).normal(size=(4, 4 // conv.group, *conv.kernel))
    made.graph.initializer.append(numpy_helper.from_array(weight.astype(np.float32), "w"))
    return made


def answer(conv: Conv) -> Answer:
    (found,) = inspect(model(conv), target="ncnn").targets["ncnn"]
    return found.judgement.answer


@pytest.mark.parametrize("conv", RIGHT, ids=str)
def test_what_was_right_is_taken(conv: Conv) -> None:
    assert answer(conv) is Answer.TAKES


@pytest.mark.parametrize("conv", [*WRONG, *OVERWRITES], ids=str)
def test_what_was_wrong_is_called_so(conv: Conv) -> None:
    assert answer(conv) is Answer.MISCOMPUTES


def test_open_sizes_count_as_the_worst_that_they_may_be() -> None:
    assert answer(Conv(("h", "w"), (3, 1), (1, 2))) is Answer.MISCOMPUTES
    assert answer(Conv(("h", "w"), (2, 1), (2, 2))) is Answer.MISCOMPUTES
    assert answer(Conv(("h", "w"), (1, 1), (1, 2))) is Answer.TAKES
    assert answer(Conv(("h", 11), (3, 1), (2, 2))) is Answer.TAKES


@pytest.mark.sweep
def test_ncnn_does_what_is_written_here(tmp_path: Path) -> None:
    models = {}
    for number, conv in enumerate((*RIGHT, *WRONG)):
        shape = (1, 4, *(int(size) for size in conv.sizes))
        x = np.random.default_rng(number).normal(size=shape).astype(np.float32)
        models[conv] = model(conv), {"x": x}
    found = verdicts_on("ncnn", models, tmp_path)
    assert {conv for conv, said in found.items() if said == "ok"} == set(RIGHT)
