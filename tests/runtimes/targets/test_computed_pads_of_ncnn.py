"""Pads that a model computes: what pnnx folds, ncnn was measured to compute rightly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from onnxpad.inspection import inspect
from onnxpad.rewriting.rewrite import rewrite
from onnxpad.runtimes.conditions.rows import Answer
from tests.models.text import text_model
from tests.runtimes.live.layers import verdicts_on

CONV = (
    "y = Conv <kernel_shape = [3, 3], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]>"
    " (q, w)"
)
PAD = 'q = Pad <mode = "constant"> (x, p)'
CONSTANTS = (
    "int64[2] n = {0, 0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] three = {3},"
    " int64[1] zero = {0}"
)
OF_SHAPE = (
    "s = Shape (x) h = Gather <axis = 0> (s, two) m = Mod (h, two) t = Sub (three, m) "
    "e = Sub (t, two) p = Concat <axis = 0> (n, zero, zero, n, e, e)"
)
FOLDED = {
    "of the shape": OF_SHAPE,
    "of constants": "t = Add (one, zero) p = Concat <axis = 0> (n, t, t, n, t, t)",
    "an Identity": "c = Constant <value_ints = [0, 0, 1, 1, 0, 0, 1, 1]> () p = Identity (c)",
    "a Cast": "c = Constant <value_floats = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0]> () "
    "p = Cast <to = 7> (c)",
}
SIZES = (8, 9)


def model(made: str, size: int | str) -> onnx.ModelProto:
    weight = ", ".join(str(round(0.1 * (number % 7) - 0.25, 2)) for number in range(54))
    return text_model(
        f"{made} {PAD} {CONV}",
        f"float[1, 2, {size}, {size}] x",
        outputs="float[1, 3, K, L] y",
        constants=f"{CONSTANTS}, float[3, 2, 3, 3] w = {{{weight}}}",
        opset=17,
    )


def of_the_pad(made: onnx.ModelProto) -> tuple[Answer, str]:
    verdicts = inspect(made, target="ncnn").targets["ncnn"]
    (pad,) = (one.judgement for one in verdicts if one.op == "Pad")
    return pad.answer, pad.sentence


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("made", FOLDED.values(), ids=FOLDED)
def test_what_pnnx_folds_is_taken(made: str, size: int) -> None:
    assert of_the_pad(model(made, size))[0] is Answer.TAKES


def test_open_sizes_are_those_that_pnnx_was_given() -> None:
    made = model(OF_SHAPE, "H")
    answer, sentence = of_the_pad(made)
    assert answer is Answer.MISCOMPUTES
    assert "pnnx writes the pads of its inputshape into it" in sentence
    done = rewrite(made, target="ncnn", dims={"H": 9})
    assert (done.unfit, len(done.changes)) == ((), 1)


@pytest.mark.parametrize("target", ["ncnn", "webgpu"])
@pytest.mark.parametrize("fact", ["%8==0", 8])
@pytest.mark.parametrize("made", [FOLDED["of constants"], OF_SHAPE], ids=["constants", "sizes"])
def test_what_is_said_of_sizes_is_no_fault_of_pads_that_read_none(
    made: str, fact: str | int, target: str
) -> None:
    verdicts = inspect(model(made, "H"), target=target, dims={"H": fact}).targets[target]
    (pad,) = (one.judgement.answer for one in verdicts if one.op == "Pad")
    assert (pad is Answer.TAKES) is (made != OF_SHAPE)


def test_pads_of_an_input_are_refused() -> None:
    made = model("p = Cast <to = 7> (given)", 9)
    made.graph.input.append(onnx.helper.make_tensor_value_info("given", 6, [8]))
    answer, sentence = of_the_pad(made)
    assert answer is Answer.REFUSES
    assert "hang on more than constants" in sentence


def test_ncnn_computes_what_is_taken(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    models = {
        name: (model(made, 9), {"x": random.standard_normal((1, 2, 9, 9)).astype(np.float32)})
        for name, made in FOLDED.items()
    }
    found = verdicts_on("ncnn", models, tmp_path)
    assert {key: one for key, one in found.items() if one != "ok"} == {}
