"""Averages without count_include_pad in models of PyTorch, which OpenCV 5 takes for counting ones.

What stands here was run in OpenCV 5.0.
"""

from __future__ import annotations

import onnx
import pytest

import onnxpad
from onnxpad.runtimes.conditions.rows import Answer
from tests.models.text import text_model
from tests.runtimes.targets.test_held_out_facts import answers

LEFT_OUT, NO, YES = "", "count_include_pad = 0, ", "count_include_pad = 1, "
PADDED = "kernel_shape = [3,3], pads = [1,1,1,1]"
BEHIND = "kernel_shape = [3,3], pads = [0,0,1,1]"
BARE = "kernel_shape = [3,3]"
CEIL = "kernel_shape = [3,3], strides = [2,2], ceil_mode = 1"


def model_of(attributes: str, producer: str, opset: int = 13) -> onnx.ModelProto:
    model = text_model(
        f"y = AveragePool <{attributes}> (x)",
        "float[1,3,6,6] x",
        outputs="float[1,3,a,b] y",
        opset=opset,
    )
    model.producer_name = producer
    return model


@pytest.mark.parametrize("producer", ["pytorch", "PyTorch", "torch", "keras", ""])
@pytest.mark.parametrize("counts", [LEFT_OUT, NO, YES])
@pytest.mark.parametrize("window", [PADDED, BEHIND, BARE, CEIL])
def test_left_out_in_a_model_of_pytorch_it_counts(producer: str, counts: str, window: str) -> None:
    wrong = producer == "pytorch" and counts == LEFT_OUT and window != BARE
    wrong |= counts == YES and window == CEIL
    found = answers(model_of(counts + window, producer), "opencv")["AveragePool"]
    assert found is Answer.MISCOMPUTES or not wrong


@pytest.mark.parametrize(
    ("attributes", "wrong"),
    [
        ('auto_pad = "SAME_UPPER", kernel_shape = [2,2]', False),
        ('auto_pad = "SAME_UPPER", kernel_shape = [3,3], strides = [2,2]', False),
        ('auto_pad = "SAME_UPPER", kernel_shape = [3,3]', True),
        ('auto_pad = "SAME_LOWER", kernel_shape = [2,2]', True),
        ('auto_pad = "SAME_UPPER", count_include_pad = 1, kernel_shape = [2,2]', True),
        ('auto_pad = "SAME_UPPER", count_include_pad = 1, kernel_shape = [4,4]', True),
        ('auto_pad = "SAME_UPPER", count_include_pad = 1, kernel_shape = [3,3]', False),
        ('auto_pad = "SAME_LOWER", count_include_pad = 1, kernel_shape = [3,3]', False),
        (BEHIND, True),
        (YES + BEHIND, False),
    ],
)
def test_opencv_4_counts_in_models_of_pytorch_what_lies_in_front(
    attributes: str, *, wrong: bool
) -> None:
    """Run in OpenCV 4.8, 4.14 and the classic engine of 5.0: 260 averages."""
    found = answers(model_of(attributes, "pytorch"), "opencv-classic")["AveragePool"]
    assert found is Answer.MISCOMPUTES or not wrong


@pytest.mark.parametrize("opset", [7, 13, 19])
@pytest.mark.parametrize(
    "window",
    [
        PADDED,
        BEHIND,
        CEIL,
        CEIL + ", count_include_pad = 1",
        'kernel_shape = [3,3], strides = [2,2], auto_pad = "SAME_UPPER"',
    ],
)
def test_what_is_written_says_it(window: str, opset: int) -> None:
    if "ceil_mode" in window and opset < 10:
        pytest.skip("ceil_mode came with opset 10")
    model = model_of(window, "pytorch", opset)
    done = onnxpad.rewrite(model, target="opencv")
    assert not done.unfit
    found = onnxpad.inspect(done.model, target="opencv").targets["opencv"]
    assert {one.judgement.answer for one in found} == {Answer.TAKES}
    for node in done.model.graph.node:
        if node.op_type == "AveragePool":
            assert "count_include_pad" in {one.name for one in node.attribute}
    assert onnxpad.validate(model, done.model)
