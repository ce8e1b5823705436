"""What releases of OpenCV were measured to do with ConvTranspose, and with edges of other windows.

Each was run with opencv-python-headless 4.8.1.78, 4.10.0.84, 4.12.0.88, 4.14.0.94 and 5.0.0.93.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from onnxpad import inspect, rewrite
from onnxpad.runtimes.conditions.rows import Answer
from tests.runtimes.targets.test_facts import Step, chain, weights
from tests.runtimes.targets.test_held_out_facts import answers, only

OLD = ("4.8", "4.10", "4.12", "4.14")
WRONG, RIGHT, REFUSED = Answer.MISCOMPUTES, Answer.TAKES, Answer.REFUSES


def transposed(kernel: int, rank: int = 2, *, written: bool = True, **more: Any) -> onnx.ModelProto:
    shape = [kernel] * rank
    given = ({"kernel_shape": shape} if written else {}) | more
    dims = [1, 2, *(4, 5, 6)[:rank]]
    return chain(13, dims, ("ConvTranspose", [weights(2, 2, *shape)], given))


@pytest.mark.parametrize("release", OLD)
@pytest.mark.parametrize(
    ("kernel", "given", "answer"),
    [
        (3, {"dilations": [2, 2], "pads": [1] * 4}, WRONG),
        (3, {"dilations": [2, 1]}, WRONG),
        (2, {"dilations": [2, 2], "auto_pad": "VALID"}, WRONG),
        (2, {"dilations": [2, 2], "auto_pad": "SAME_UPPER"}, WRONG),
        (1, {"dilations": [2, 2]}, RIGHT),
        (3, {"pads": [1] * 4}, RIGHT),
        (3, {"dilations": [2, 2], "pads": [0, 0, 1, 1]}, REFUSED),
        (1, {"auto_pad": "SAME_UPPER", "strides": [2, 2]}, RIGHT),
        (1, {"dilations": [2, 2], "pads": [1] * 4}, RIGHT),
        (1, {"pads": [1] * 4}, WRONG),
        (3, {"output_shape": [6, 7], "auto_pad": "SAME_UPPER"}, REFUSED),
    ],
)
def test_before_5_0_dilations_of_a_transposed_convolution_were_ignored(
    release: str, kernel: int, given: dict[str, Any], answer: Answer
) -> None:
    found = only(transposed(kernel, **given), f"opencv@{release}")
    assert found.fails or not answer.fails


@pytest.mark.parametrize("target", ["opencv", "opencv-classic"])
@pytest.mark.parametrize(
    ("kernel", "given", "new", "classic"),
    [
        (3, {"dilations": [2, 2], "pads": [1] * 4}, RIGHT, RIGHT),
        (1, {"auto_pad": "SAME_UPPER", "strides": [2, 2]}, RIGHT, RIGHT),
        (2, {"auto_pad": "SAME_UPPER"}, RIGHT, RIGHT),
        (2, {"auto_pad": "SAME_LOWER"}, WRONG, WRONG),
        (2, {"auto_pad": "SAME_UPPER", "strides": [2, 2]}, WRONG, WRONG),
        (
            2,
            {"auto_pad": "SAME_UPPER", "strides": [2, 2], "output_padding": [1, 1]},
            *(RIGHT, RIGHT),
        ),
        (3, {"auto_pad": "SAME_UPPER", "dilations": [2, 2]}, RIGHT, WRONG),
        (2, {"auto_pad": "SAME_LOWER", "dilations": [3, 3]}, WRONG, WRONG),
    ],
)
def test_which_cells_same_crops_in_both_engines(
    target: str, kernel: int, given: dict[str, Any], new: Answer, classic: Answer
) -> None:
    wanted = new if target == "opencv" else classic
    assert only(transposed(kernel, **given), target).fails or not wanted.fails


def test_another_shape_is_called_wrong() -> None:
    model = transposed(3, auto_pad="SAME_UPPER", strides=[2, 2])
    for target in ("opencv", "opencv-classic", "opencv@4.12"):
        ((found,),) = inspect(model, target=target).targets.values()
        assert found.judgement.sentence.startswith("computes wrong numbers: ")


@pytest.mark.parametrize("release", OLD)
def test_kernel_shape_had_to_be_written_up_to_4_12(release: str) -> None:
    model = transposed(3, written=False, pads=[1] * 4)
    answer = RIGHT if release == "4.14" else REFUSED
    assert only(model, f"opencv@{release}") is answer
    done = rewrite(model, target=[f"opencv@{release}", "opencv"])
    assert not done.unfit
    (node,) = done.model.graph.node
    assert ("kernel_shape" in {one.name for one in node.attribute}) is (answer is REFUSED)


@pytest.mark.parametrize("release", OLD)
@pytest.mark.parametrize("given", [{}, {"pads": True}, {"auto_pad": "SAME_UPPER"}])
@pytest.mark.parametrize("rank", [1, 3])
def test_what_the_release_refuses_is_not_called_wrong_for_another(
    release: str, given: dict[str, Any], rank: int
) -> None:
    more: dict[str, Any] = {
        name: [1] * 2 * rank if value is True else value for name, value in given.items()
    }
    found = answers(transposed(3, rank, **more), f"opencv@{release}")
    assert found["ConvTranspose"] is REFUSED


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "Conv"])
def test_4_10_refuses_asymmetric_operators_of_one_axis(op: str) -> None:
    arrays = [weights(2, 2, 3)] if op == "Conv" else []
    model = chain(13, [1, 2, 7], (op, arrays, {"kernel_shape": [3], "pads": [0, 1]}))
    assert answers(model, "opencv@4.10")[op] is REFUSED
    assert only(model, "opencv@4.12") is WRONG


@pytest.mark.parametrize("release", [*OLD, "5.0"])
def test_end_pads_of_1x1_convolutions_are_cells_of_other_memory(release: str) -> None:
    for pads, answer in (([0, 0, 1, 1], WRONG), ([1, 1, 0, 0], RIGHT), ([1] * 4, RIGHT)):
        given = {"kernel_shape": [1, 1], "pads": pads}
        model = chain(13, [1, 2, 5, 6], ("Conv", [weights(2, 2, 1, 1)], given))
        assert only(model, f"opencv-classic@{release}") is answer


def test_windows_in_the_padding_are_dropped_though_sizes_round_down() -> None:
    for kernel, pads, answer in (
        (1, [1] * 4, WRONG),
        (1, [1, 1, 0, 0], RIGHT),
        (2, [1] * 4, RIGHT),
    ):
        given = {"kernel_shape": [kernel] * 2, "pads": pads}
        found = only(chain(13, [1, 2, 5, 6], ("MaxPool", [], given)), "opencv-classic")
        assert found.fails or not answer.fails


@pytest.mark.parametrize("kind", [TensorProto.UINT8, TensorProto.INT8])
@pytest.mark.parametrize("release", ["4.12", "4.14", "5.0"])
def test_pads_of_bytes_that_enter_the_model(kind: int, release: str) -> None:
    pads = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    for value, right in (([], True), ([dtype.type(3)], release == "5.0" and dtype == np.int8)):
        model = chain(13, [1, 2, 5, 6], ("Pad", [pads, *value], {}))
        model.graph.input[0].type.tensor_type.elem_type = kind
        found = inspect(model, target=f"opencv-classic@{release}").targets
        (one,) = next(iter(found.values()))
        assert one.judgement.answer is (RIGHT if right else WRONG)


@pytest.mark.parametrize("kind", [np.uint8, np.int8])
@pytest.mark.parametrize("release", ["4.8", "4.12", "4.14", "5.0"])
def test_pads_of_bytes_are_right_between_quantised_tensors(kind: type[Any], release: str) -> None:
    around: list[Any] = [np.float32(0.1), kind(3)]
    pads = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    for mode, value, right in (
        ("constant", [], kind is np.int8),
        ("constant", [kind(0)], True),
        ("constant", [kind(7)], True),
        ("edge", [], True),
    ):
        steps: list[Step] = [
            ("QuantizeLinear", around, {}),
            ("Pad", [pads, *value], {"mode": mode}),
            ("DequantizeLinear", around, {}),
        ]
        answer = only(chain(13, [1, 2, 5, 6], *steps), f"opencv-classic@{release}")
        assert answer is (RIGHT if right else WRONG)


@pytest.mark.parametrize("release", ["4.10", "4.12", "4.14", "5.0"])
def test_pads_of_bytes_that_a_transpose_hands_on(release: str) -> None:
    pads = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    steps: list[Step] = [
        ("Transpose", [], {"perm": [0, 1, 3, 2]}),
        ("Pad", [pads, np.uint8(7)], {}),
    ]
    model = chain(13, [1, 2, 5, 6], *steps)
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.UINT8
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.UINT8
    assert only(model, f"opencv-classic@{release}") is WRONG
