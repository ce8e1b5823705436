"""SAME with strides and dilations, where runtimes pad as if there were none or not at all."""

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
from tests.runtimes.live.judging import Verdict
from tests.runtimes.live.layers import verdicts_on

UPPER, LOWER = "SAME_UPPER", "SAME_LOWER"
FAILURES: dict[Answer, Verdict] = {
    Answer.TAKES: "ok",
    Answer.MISCOMPUTES: "wrong",
    Answer.REFUSES: "refused",
}


class Layer(NamedTuple):
    """Sizes of the spatial axes; kernel, stride and dilation of each."""

    operator: str
    sizes: tuple[int | str, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    auto_pad: str = UPPER
    dilations: tuple[int, ...] = (1, 1, 1)


SAID = {
    "opencv": {
        Layer("Conv", (8, 12), (1, 3), (3, 3), UPPER, (1, 2)): Answer.TAKES,
        Layer("Conv", (12, 12), (2, 2), (2, 2), UPPER, (2, 2)): Answer.TAKES,
        Layer("Conv", (6, 6), (2, 2), (3, 3), LOWER, (2, 2)): Answer.TAKES,
        Layer("MaxPool", (12, 12), (2, 2), (2, 2), UPPER, (2, 2)): Answer.TAKES,
        Layer("Conv", (12, 12), (2, 2), (2, 2), LOWER, (2, 2)): Answer.MISCOMPUTES,
        Layer("Conv", (12, 12), (3, 3), (1, 1), UPPER, (2, 2)): Answer.MISCOMPUTES,
        Layer("Conv", (8, 10), (1, 3), (3, 3), UPPER, (1, 2)): Answer.MISCOMPUTES,
        Layer("MaxPool", (12, 12), (3, 3), (1, 1), LOWER, (2, 2)): Answer.MISCOMPUTES,
    },
    "opencv-classic": {
        Layer("Conv", (13, 13), (3, 3), (4, 4)): Answer.MISCOMPUTES,
        Layer("Conv", (17, 17), (4, 4), (5, 5)): Answer.MISCOMPUTES,
        Layer("Conv", (13, 12), (3, 1), (4, 4)): Answer.MISCOMPUTES,
        Layer("Conv", (13,), (3,), (4,)): Answer.MISCOMPUTES,
        Layer("Conv", (9, 9, 9), (3, 3, 3), (4, 4, 4), LOWER): Answer.MISCOMPUTES,
        Layer("MaxPool", (13, 13), (3, 3), (4, 4)): Answer.MISCOMPUTES,
        Layer("AveragePool", (13, 12), (3, 3), (4, 3), LOWER): Answer.MISCOMPUTES,
        Layer("Conv", (14, 14), (3, 3), (4, 4)): Answer.TAKES,
        Layer("Conv", (15, 15), (3, 3), (4, 4), LOWER): Answer.TAKES,
        Layer("Conv", (13, 12), (4, 3), (4, 4)): Answer.TAKES,
        Layer("Conv", (12, 12), (3, 1), (1, 2)): Answer.TAKES,
        Layer("MaxPool", (11, 11), (2, 2), (5, 5)): Answer.TAKES,
        Layer("AveragePool", (14, 14), (3, 3), (4, 4)): Answer.TAKES,
        Layer("Conv", (8, 8), (2, 3), (3, 3), UPPER, (2, 1)): Answer.TAKES,
        Layer("Conv", (11, 9), (2, 3), (3, 1), UPPER, (2, 1)): Answer.TAKES,
        Layer("Conv", (12, 8), (2, 1), (3, 2), UPPER, (3, 2)): Answer.TAKES,
        Layer("Conv", (6,), (2,), (3,), UPPER, (3,)): Answer.TAKES,
        Layer("Conv", (7, 8), (2, 3), (3, 3), UPPER, (2, 1)): Answer.MISCOMPUTES,
        Layer("Conv", (10, 9), (2, 3), (2, 3), LOWER, (2, 1)): Answer.MISCOMPUTES,
        Layer("Conv", (9, 9), (3, 3), (1, 1), UPPER, (1, 2)): Answer.MISCOMPUTES,
    },
    "tinygrad": {
        Layer("Conv", (9, 9), (2, 3), (1, 1), UPPER, (2, 1)): Answer.MISCOMPUTES,
        Layer("Conv", (9, 9), (2, 3), (1, 3), LOWER, (1, 3)): Answer.MISCOMPUTES,
        Layer("MaxPool", (9, 9), (2, 2), (1, 1), UPPER, (1, 2)): Answer.MISCOMPUTES,
        Layer("MaxPool", (6, 9), (5, 1), (1, 1), UPPER, (3, 1)): Answer.REFUSES,
        Layer("Conv", (9, 9), (1, 3), (1, 1), UPPER, (2, 1)): Answer.TAKES,
    },
    "tflite": {
        Layer("MaxPool", (12, 12), (1, 1), (2, 2), LOWER): Answer.REFUSES,
        Layer("MaxPool", (12, 12), (3, 1), (2, 2), LOWER): Answer.REFUSES,
        Layer("AveragePool", (11, 12), (1, 1), (1, 2), LOWER): Answer.REFUSES,
        Layer("MaxPool", (12,), (1,), (2,), LOWER): Answer.REFUSES,
        Layer("AveragePool", (6, 6, 6), (1, 1, 1), (2, 2, 2), LOWER): Answer.REFUSES,
        Layer("MaxPool", (11, 11), (1, 1), (2, 2), LOWER): Answer.TAKES,
        Layer("MaxPool", (12, 12), (1, 1), (2, 2)): Answer.TAKES,
    },
    "webgpu": {
        Layer("MaxPool", (5, 6), (1, 1), (3, 3)): Answer.MISCOMPUTES,
        Layer("AveragePool", (4, 5), (2, 2), (4, 4)): Answer.MISCOMPUTES,
        Layer("MaxPool", (4, 5), (1, 1), (2, 2)): Answer.TAKES,
    },
    "webgpu-jsep": {
        Layer("MaxPool", (4, 5), (1, 1), (2, 2)): Answer.MISCOMPUTES,
        Layer("AveragePool", (5, 6), (1, 1), (3, 3), LOWER): Answer.MISCOMPUTES,
        Layer("MaxPool", (4, 5), (1, 1), (2, 2), LOWER): Answer.TAKES,
    },
}
CASES = [(target, *one) for target, layers in SAID.items() for one in layers.items()]


def model(layer: Layer) -> onnx.ModelProto:
    rank = len(layer.sizes)
    conv = layer.operator == "Conv"
    dilations = list(layer.dilations[:rank])
    spread = f", dilations={dilations}" if max(dilations) > 1 else ""
    made = text_model(
        f'y = {layer.operator} <auto_pad="{layer.auto_pad}", kernel_shape={list(layer.kernel)}, '
        f"strides={list(layer.strides)}{spread}> (x{', w' * conv})",
        inputs=f"float[1, 4, {', '.join(map(str, layer.sizes))}] x",
        outputs=f"float[{', '.join('abcde'[: rank + 2])}] y",
    )
    if conv:
        weight = np.random.default_rng(0).normal(size=(4, 4, *layer.kernel))
        made.graph.initializer.append(numpy_helper.from_array(weight.astype(np.float32), "w"))
    return made


def answer(target: str, layer: Layer) -> Answer:
    (found,) = inspect(model(layer), target=target).targets[target]
    return found.judgement.answer


@pytest.mark.parametrize(("target", "layer", "said"), CASES, ids=str)
def test_what_was_measured_to_fail_is_foreseen(target: str, layer: Layer, said: Answer) -> None:
    """Of what is right some is called failing: a rewrite is exact, and costs little."""
    assert answer(target, layer).fails or not said.fails


@pytest.mark.parametrize("operator", ["QLinearConv", "ConvInteger"])
@pytest.mark.parametrize(
    ("kernel", "stride", "dilation", "auto_pad", "wrong"),
    [
        (1, 2, 1, UPPER, True),
        (1, 2, 1, LOWER, False),
        (2, 1, 1, UPPER, False),
        (2, 1, 2, UPPER, True),
        (2, 1, 2, LOWER, True),
    ],
)
def test_tinygrad_pads_quantised_convolutions_so_too(
    operator: str, kernel: int, stride: int, dilation: int, auto_pad: str, *, wrong: bool
) -> None:
    """28 models live: QLinearConv and ConvInteger are made of the same convolution."""
    given = "(x, s, z, w, s, z, s, z)" if operator == "QLinearConv" else "(x, w, z, z)"
    quantised = text_model(
        f'y = {operator} <auto_pad = "{auto_pad}", kernel_shape = [{kernel}, 1], '
        f"strides = [{stride}, 1], dilations = [{dilation}, 1]> {given}",
        inputs="uint8[1, 1, 10, 9] x",
        outputs=f"{'uint8' if operator == 'QLinearConv' else 'int32'}[a, b, c, d] y",
    )
    stored = {
        "w": np.ones((1, 1, kernel, 1), np.uint8),
        "s": np.float32(0.1),
        "z": np.uint8(3),
    }
    for name, value in stored.items():
        quantised.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
    (found,) = inspect(quantised, target="tinygrad").targets["tinygrad"]
    assert found.judgement.answer is (Answer.MISCOMPUTES if wrong else Answer.TAKES)


def test_open_sizes_count_as_the_worst_that_they_may_be() -> None:
    opened = Layer("Conv", ("h", "w"), (3, 3), (4, 4))
    assert answer("opencv-classic", opened) is Answer.MISCOMPUTES


def test_what_some_sizes_spare_may_be_wrong_and_what_none_does_is() -> None:
    for stride, says in ((2, "may compute wrong numbers: "), (1, "computes wrong numbers: ")):
        opened = Layer("Conv", ("h", "w"), (2, 2), (stride, stride), UPPER, (2, 2))
        (found,) = inspect(model(opened), target="opencv").targets["opencv"]
        assert found.judgement.answer is Answer.MISCOMPUTES
        assert found.judgement.sentence.startswith(says)


@pytest.mark.sweep
@pytest.mark.parametrize("target", SAID)
def test_the_runtime_does_what_is_written_here(target: str, tmp_path: Path) -> None:
    models = {}
    for number, layer in enumerate(SAID[target]):
        shape = (1, 4, *(int(size) for size in layer.sizes))
        x = np.random.default_rng(number).normal(size=shape).astype(np.float32)
        models[layer] = model(layer), {"x": x}
    said = {layer: FAILURES[answer] for layer, answer in SAID[target].items()}
    assert verdicts_on(target, models, tmp_path) == said
