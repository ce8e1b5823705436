"""Facts that chains of one to six operators brought to light, and networks at full size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import parser

from onnxpad.runtimes.conditions.companions import GATE
from onnxpad.runtimes.conditions.rows import Answer
from tests.runtimes.targets.test_facts import Step, chain, weights
from tests.runtimes.targets.test_held_out_facts import answers

THREE: dict[str, Any] = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [1, 1]}
RELU: Step = ("Relu", [], {})
CONV: Step = ("Conv", [weights(3, 3, 3, 3)], THREE)
BYTES = "DequantizeLinear of a computed tensor"
COUNTED: Step = ("AveragePool", [], THREE | {"count_include_pad": 1})
PLAIN: Step = ("AveragePool", [], THREE | {"count_include_pad": 0})
BARE: Step = ("AveragePool", [], {"kernel_shape": [3, 3], "strides": [1, 1]})
ZEROS: Step = ("Pad", [np.array([0, 0, 1, 1, 0, 0, 1, 1]), np.float32(0)], {"mode": "constant"})


def conversions(zero: int, *, listed: bool = False) -> list[Step]:
    scale, point = np.array(0.02, np.float32), np.array(zero, np.uint8)
    both = [scale.reshape(1), point.reshape(1)] if listed else [scale, point]
    return [("QuantizeLinear", both, {}), ("DequantizeLinear", both, {})]


@pytest.mark.parametrize("release", ["", "@2025.3", "@2024.6"])
@pytest.mark.parametrize(
    ("zero", "behind", "wrong"),
    [
        *((121, [COUNTED], True), (0, [COUNTED], False), (121, [PLAIN], False)),
        *((121, [RELU, COUNTED], False), (0, [("Add", [np.float32(3)], {}), COUNTED], True)),
        *((121, [ZEROS, BARE], True), (0, [ZEROS, BARE], False), (121, [BARE], False)),
    ],
)
def test_openvino_pads_averages_of_bytes_with_bytes_of_0(
    release: str, zero: int, behind: Sequence[Step], *, wrong: bool
) -> None:
    model = chain(17, [1, 3, 8, 9], *conversions(zero), *behind)
    wanted = Answer.MISCOMPUTES if wrong else Answer.TAKES
    assert answers(model, f"openvino{release}")["AveragePool"] is wanted


def test_openvino_took_scales_as_scalars_alone() -> None:
    scalars = chain(17, [1, 3, 8, 9], *conversions(121), CONV)
    assert answers(scalars, "openvino@2024.6") == {"Conv": Answer.TAKES}
    lists = chain(17, [1, 3, 8, 9], *conversions(121, listed=True), CONV)
    assert Answer.REFUSES in answers(lists, "openvino@2024.6").values()
    assert answers(lists, "openvino") == {"Conv": Answer.TAKES}


@pytest.mark.parametrize("target", ["mnn", "webgpu-jsep", "ncnn", "onnx2torch"])
def test_who_fails_at_every_dequantized_image(target: str) -> None:
    found = answers(chain(13, [1, 3, 8, 9], *conversions(0), RELU), target)
    assert any(name.startswith(BYTES) and answer.fails for name, answer in found.items())


def test_mnn_dequantizes_what_is_no_image() -> None:
    assert not answers(chain(13, [1, 3, 8], *conversions(0), RELU), "mnn")


@pytest.mark.parametrize(
    ("front", "refused"), [([CONV], True), ([CONV, RELU], True), ([RELU], False)]
)
def test_webgpu_moves_transpositions_past_pads_without_their_axes(
    front: Sequence[Step], *, refused: bool
) -> None:
    listed: Step = ("Pad", [np.array([1, 1]), np.float32(0), np.array([2])], {})
    found = answers(chain(18, [1, 3, 8, 9], *front, listed), "webgpu")["Pad"]
    assert (found is Answer.REFUSES) is refused


@pytest.mark.parametrize(
    ("kernel", "stride", "pads", "wrong"),
    [
        *((3, 1, [0, 0, 2, 0], True), (3, 1, [0, 1, 2, 1], True), (3, 2, [0, 0, 2, 0], False)),
        *((4, 1, [0, 2, 3, 0], False), (5, 1, [0, 0, 4, 0], False), (4, 2, [0, 2, 2, 2], False)),
    ],
)
def test_opencv_reads_below_plain_depthwise_convolutions(
    kernel: int, stride: int, pads: list[int], *, wrong: bool
) -> None:
    given = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": pads, "group": 3}
    model = chain(13, [1, 3, 8, 9], ("Conv", [weights(3, 1, kernel, kernel)], given))
    wanted = Answer.MISCOMPUTES if wrong else Answer.TAKES
    assert answers(model, "opencv-classic")["Conv"] is wanted


@pytest.mark.parametrize("target", ["opencv", "opencv-classic"])
@pytest.mark.parametrize(
    ("gate", "wrong"),
    [
        ("HardSigmoid<alpha=0.16666667, beta=0.5>(p) y = Mul(x, g)", True),
        ("HardSigmoid<alpha=0.16666667, beta=0.5>(p) y = Mul(g, x)", True),
        ("HardSigmoid<alpha=0.16666667, beta=0.5>(x) y = Mul(x, g)", False),
        ("HardSigmoid<alpha=0.16666667>(p) y = Mul(x, g)", False),
        ("HardSigmoid<alpha=0.2, beta=0.5>(p) y = Mul(x, g)", False),
        ("HardSigmoid<alpha=0.16666667, beta=0.4>(p) y = Mul(x, g)", False),
    ],
)
def test_opencv_takes_gates_for_hard_swish(target: str, gate: str, *, wrong: bool) -> None:
    model: onnx.ModelProto = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> m (float[1,4,6,6] x) => (float[1,4,6,6] y) '
        f"{{ p = GlobalAveragePool(x) g = {gate} }}"
    )
    assert (GATE[0] in answers(model, target)) is wrong


@pytest.mark.parametrize(
    ("weight", "targets", "fails"),
    [
        ("Identity(stored)", ["ncnn", "opencv-classic", "opencv", "mnn"], False),
        ("Identity(stored)", ["onnx2torch"], True),
        ("Mul(stored, stored)", ["ncnn", "opencv-classic", "onnx2torch"], True),
    ],
)
def test_who_takes_a_weight_that_is_handed_on(
    weight: str, targets: Sequence[str], *, fails: bool
) -> None:
    model: onnx.ModelProto = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> m (float[1,1,6,6] x) => (float[1,1,5,5] y) '
        f"<float[1,1,2,2] stored = {{1, 2, 3, 4}}> {{ w = {weight} "
        "y = Conv<kernel_shape=[2, 2], strides=[1, 1], pads=[0, 0, 0, 0]>(x, w) }"
    )
    for target in targets:
        assert answers(model, target)["Conv"].fails is fails
