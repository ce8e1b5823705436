"""MaxPools whose begin and end pads differ: what ncnn was measured to do with each."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
import pytest

from onnxpad.inspection import inspect
from onnxpad.runtimes.conditions.rows import Answer
from tests.models.text import text_model
from tests.runtimes.live.layers import verdicts_on


class Pool(NamedTuple):
    """Sizes of the spatial axes, kernel and stride of each, pads as in ONNX."""

    sizes: tuple[int | str, ...]
    kernel: int
    stride: int
    pads: tuple[int, ...]
    ceil_mode: int = 0


RIGHT = (
    Pool((8, 8), 3, 2, (0, 0, 1, 1)),
    Pool((6, 10), 3, 2, (0, 0, 1, 1)),
    Pool((7, 7), 3, 2, (0, 0, 1, 1)),
    Pool((7, 9), 3, 2, (0, 0, 1, 1)),
    Pool((7, 7), 3, 2, (1, 1, 2, 2)),
    Pool((8, 8), 3, 2, (0, 0, 2, 2)),
    Pool((8, 8), 2, 2, (0, 0, 1, 1)),
    Pool((7, 10), 3, 1, (0, 0, 1, 2)),
    Pool((7, 7), 2, 3, (0, 0, 1, 1)),
    Pool((7, 10), 3, 2, (0, 0, 1, 1), 1),
    Pool((8,), 3, 2, (0, 1)),
    Pool((7,), 3, 2, (1, 2)),
    Pool((6, 6, 6), 3, 2, (0, 0, 0, 1, 1, 1)),
)
WRONG = (
    Pool((7, 10), 3, 2, (0, 0, 1, 1)),
    Pool((8, 8), 3, 2, (0, 0, 0, 1)),
    Pool((9, 9), 3, 3, (0, 0, 2, 2)),
    Pool((8, 8), 3, 1, (1, 1, 0, 0)),
    Pool((8, 8), 3, 2, (1, 1, 0, 0)),
    Pool((8, 8), 3, 2, (1, 0, 1, 1)),
    Pool((8,), 3, 2, (1, 0)),
    Pool((9,), 3, 3, (0, 2)),
    Pool((6, 6, 7), 3, 2, (0, 0, 0, 1, 1, 1)),
)


def model(pool: Pool) -> onnx.ModelProto:
    made = ", ".join("abcde"[: len(pool.sizes) + 2])
    rank = len(pool.sizes)
    words = f"kernel_shape={[pool.kernel] * rank}, strides={[pool.stride] * rank}"
    return text_model(
        f"y = MaxPool <{words}, pads={list(pool.pads)}, ceil_mode={pool.ceil_mode}> (x)",
        inputs=f"float[1, 2, {', '.join(map(str, pool.sizes))}] x",
        outputs=f"float[{made}] y",
    )


def answer(pool: Pool) -> Answer:
    (found,) = inspect(model(pool), target="ncnn").targets["ncnn"]
    return found.judgement.answer


@pytest.mark.parametrize("pool", WRONG, ids=str)
def test_what_was_wrong_is_called_so(pool: Pool) -> None:
    assert answer(pool) is Answer.MISCOMPUTES


@pytest.mark.parametrize(
    ("sizes", "kernel", "stride", "upper", "lower"),
    [
        ((6, 7), 3, 2, Answer.MISCOMPUTES, Answer.TAKES),
        ((32, 40), 3, 2, Answer.MISCOMPUTES, Answer.TAKES),
        ((33, 41), 3, 2, Answer.TAKES, Answer.TAKES),
        ((9, 9), 2, 2, Answer.TAKES, Answer.TAKES),
        ((8, 9), 2, 2, Answer.TAKES, Answer.MISCOMPUTES),
        ((20, 21), 5, 3, Answer.MISCOMPUTES, Answer.MISCOMPUTES),
        ((20, 20), 5, 3, Answer.MISCOMPUTES, Answer.TAKES),
        ((8, 8), 4, 2, Answer.TAKES, Answer.MISCOMPUTES),
        ((8, 8), 4, 1, Answer.TAKES, Answer.TAKES),
        ((6,), 3, 2, Answer.MISCOMPUTES, Answer.TAKES),
        ((7, 7, 7), 3, 2, Answer.TAKES, Answer.TAKES),
        ((8, 8), 2, 3, Answer.TAKES, Answer.MISCOMPUTES),
        ((9, 9), 2, 3, Answer.REFUSES, Answer.REFUSES),
        ((6, 7), 1, 2, Answer.REFUSES, Answer.REFUSES),
    ],
)
def test_same_without_the_begin_pads_of_stride_one_is_called_so(
    sizes: tuple[int, ...], kernel: int, stride: int, upper: Answer, lower: Answer
) -> None:
    """Each was run with ncnn 1.0.20261020."""
    for auto_pad, answer in (("SAME_UPPER", upper), ("SAME_LOWER", lower)):
        given = [f"kernel_shape={[kernel] * len(sizes)}", f"strides={[stride] * len(sizes)}"]
        nodes = f'y = MaxPool <{", ".join(given)}, auto_pad="{auto_pad}"> (x)'
        same = text_model(nodes, inputs=f"float[1, 2, {', '.join(map(str, sizes))}] x")
        (found,) = inspect(same, target="ncnn").targets["ncnn"]
        assert found.judgement.answer.fails or not answer.fails, auto_pad


def test_what_2024_refuses_is_not_called_wrong_for_the_newest_release() -> None:
    (found,) = inspect(
        model(Pool((8, 8), 3, 2, (1, 1, 0, 0))), target="ncnn@20241226"
    ).targets.values()
    assert found[0].judgement.answer is Answer.REFUSES


@pytest.mark.sweep
def test_ncnn_does_what_is_written_here(tmp_path: Path) -> None:
    models = {}
    for number, pool in enumerate((*RIGHT, *WRONG)):
        shape = (1, 2, *(int(size) for size in pool.sizes))
        drawn = np.random.default_rng(number).permutation(int(np.prod(shape))).reshape(shape)
        models[pool] = model(pool), {"x": (-1 - drawn).astype(np.float32)}
    said = dict.fromkeys(RIGHT, "ok") | dict.fromkeys(WRONG, "wrong")
    assert verdicts_on("ncnn", models, tmp_path) == said
