"""Facts that chains of one to six operators brought to light, and networks at full size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import parser

import onnxpad
from onnxpad.runtimes.conditions.companions import (
    AXES_ALONE,
    BENT_VOLUMES,
    CHANNELWISE,
    CONSTANTS_ALONE,
    GATE,
    JOINED_SUMS,
    RECTIFIED_RESULT,
    RECTIFIED_SUMS,
    SUMS,
)
from onnxpad.runtimes.conditions.rows import Answer
from tests.models.text import text_model
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
        *((121, [COUNTED], True), (121, [PLAIN], False)),
        *((121, [RELU, COUNTED], True), (0, [ZEROS, BARE], False), (121, [BARE], False)),
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
    said = "DequantizeLinear of a computed tensor", "DequantizeLinear of bytes"
    assert any(name.startswith(said) and answer.fails for name, answer in found.items())


RESHAPE: Step = ("Reshape", [np.array([2, 5, 3, 5])], {})


@pytest.mark.parametrize(
    ("kind", "zero", "between", "wrong"),
    [
        *((np.uint8, 0, [], False), (np.uint8, 9, [], True), (np.uint8, 9, [RESHAPE], True)),
        *((np.int8, 0, [], True), (np.int8, -21, [], True), (np.int8, -128, [], False)),
        *((np.int8, 5, [("Identity", [], {})], True), (np.int8, 5, [RESHAPE], False)),
    ],
)
def test_jsep_loses_the_sign_behind_a_zero_point(
    kind: type, zero: int, between: Sequence[Step], *, wrong: bool
) -> None:
    pair = [np.array(0.02, np.float32), np.array(zero, kind)]
    steps = [("QuantizeLinear", pair, {}), *between, ("DequantizeLinear", pair, {})]
    found = answers(chain(13, [2, 5, 3, 5], *steps), "webgpu-jsep")
    assert (Answer.MISCOMPUTES in found.values()) is wrong


def stored(kind: str, cells: int, zero: int) -> onnx.ModelProto:
    """A 1x1 convolution with a stored weight of as many cells, or such a bias."""
    bias = kind == "int32"
    filters = cells if bias else cells // 3
    sizes = f"{filters}" if bias else f"{filters},3,1,1"
    numbers = ",".join(str(one % 5) for one in range(cells))
    others = ",".join(str(one % 5) for one in range(3 * filters))
    return text_model(
        f"k = DequantizeLinear(b,s,z) y = Conv<kernel_shape=[1,1]>(x,{'w,k' if bias else 'k'})",
        inputs="float[1,3,5,7] x",
        outputs=f"float[1,{filters},5,7] y",
        constants=f"{kind}[{sizes}] b = {{{numbers}}}, float s = {{0.05}}, {kind} z = {{{zero}}}, "
        f"float[{filters},3,1,1] w = {{{others}}}",
    )


@pytest.mark.parametrize(
    ("release", "kind", "cells", "zero", "fails"),
    [
        ("", "int8", 12, 0, Answer.MISCOMPUTES),
        ("@1.20", "int8", 12, 0, Answer.MISCOMPUTES),
        ("", "int8", 9, 0, None),
        ("", "int8", 9, 5, None),
        ("", "uint8", 9, 0, None),
        ("", "uint8", 9, 50, Answer.MISCOMPUTES),
        ("", "int32", 4, 0, None),
        ("@1.23", "int32", 4, 0, Answer.REFUSES),
        ("@1.27", "int32", 4, 0, None),
    ],
)
def test_jsep_fails_at_stored_bytes_as_well(
    release: str, kind: str, cells: int, zero: int, fails: Answer | None
) -> None:
    """By 30 models in each of 1.20 to 1.30: a stored weight or bias is dequantised on the GPU."""
    found = answers(stored(kind, cells, zero), f"webgpu-jsep{release}")
    assert {one for one in found.values() if one.fails} == ({fails} if fails else set())


def test_mnn_fails_at_dequantized_lines_as_well() -> None:
    line = chain(13, [1, 3, 8], *conversions(0), RELU)
    assert answers(line, "mnn") == {BYTES: Answer.MISCOMPUTES}


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


@pytest.mark.parametrize(
    ("op", "dims", "batch", "wrong"),
    [
        *(("Add", [4, 5, 6], True, False), ("Add", [4, 4, 6], True, True)),
        *(("Add", [4, 5, 4], True, False), ("Add", [4, 4, 6], False, False)),
        *(("Add", [4, 5, 4], False, True), ("Add", [4, 4, 6, 7], True, False)),
        *(("Add", [4, 5, 4, 7], True, True), ("Add", [4, 5, 6, 4], False, True)),
        *(("Mul", [4, 4, 6], True, False), ("Sub", [4, 5, 4], True, True)),
        *(("Div", [4, 4, 6], False, True), ("Mul", [4, 5, 6, 4], True, True)),
        *(("Mul", [4, 4], True, True), ("Add", [4, 4], False, True), ("Add", [1, 1], True, False)),
    ],
)
def test_tflite_takes_constants_of_channels_for_those_of_axes_as_long(
    op: str, dims: list[int], *, batch: bool, wrong: bool
) -> None:
    constant = weights(*[1] * batch, dims[0], *[1] * (len(dims) - 1)) + 2
    found = answers(chain(17, [2, *dims], RELU, (op, [constant], {})), "tflite")
    assert (CHANNELWISE[0] in found) is wrong


def pool(op: str, dims: list[int], **given: Any) -> Answer:
    """What a target does with a pool alone; its name is `target`."""
    target, rank = given.pop("target"), len(dims)
    given = {"kernel_shape": [3] * rank, "strides": [1] * rank} | given
    return answers(chain(18 if op == "LpPool" else 17, [1, 2, *dims], (op, [], given)), target)[op]


@pytest.mark.parametrize(
    ("op", "dims", "kernel", "more", "right"),
    [
        *(("MaxPool", [9], [2], {}, True), ("MaxPool", [9, 10], [3, 2], {}, True)),
        *(("MaxPool", [9, 10], [2, 3], {}, False), ("LpPool", [9, 10], [3, 3], {}, True)),
        *(("LpPool", [9, 10, 8], [2, 3, 3], {}, False), ("AveragePool", [9], [3], {}, False)),
        ("AveragePool", [9, 10], [3, 2], {"count_include_pad": 1}, True),
        ("AveragePool", [9, 10], [2, 2], {"count_include_pad": 1}, False),
    ],
)
def test_tflite_lists_the_pads_of_same_lower_axis_by_axis(
    op: str, dims: list[int], kernel: list[int], more: dict[str, Any], *, right: bool
) -> None:
    found = pool(op, dims, kernel_shape=kernel, auto_pad="SAME_LOWER", target="tflite", **more)
    assert (found is Answer.TAKES) is right


@pytest.mark.parametrize(
    ("pads", "kernel", "right"),
    [([1, 0, 0, 0], 2, True), ([0, 0, 1, 1], 2, False), ([0, 0, 1, 1], 3, True)],
)
def test_tflite_pools_norms_rightly_where_the_pads_are_not_those_of_same(
    pads: list[int], kernel: int, *, right: bool
) -> None:
    found = pool("LpPool", [9, 10], kernel_shape=[kernel] * 2, pads=pads, target="tflite")
    assert (found is Answer.TAKES) is right


def test_tflite_cuts_nothing_off_behind_quantize_linear() -> None:
    assert BYTES in answers(chain(13, [1, 3, 8, 9], *conversions(0), RELU), "tflite")


@pytest.mark.parametrize(
    ("dims", "kernel", "stride", "right"),
    [
        *(([9], [2], [3], True), ([13, 11], [2, 2], [5, 5], True), ([9, 8, 9], [3, 2, 2], 3, True)),
        *(([9, 8, 8], [1, 3, 2], [3, 2, 2], False), ([8, 5, 5], [2, 1, 1], [4, 1, 1], False)),
    ],
)
def test_tflite_shifts_volumes_alone_among_same_upper_pools(
    dims: list[int], kernel: list[int], stride: list[int] | int, *, right: bool
) -> None:
    strides = [stride] * len(dims) if isinstance(stride, int) else stride
    more = {"kernel_shape": kernel, "strides": strides, "auto_pad": "SAME_UPPER"}
    assert (pool("MaxPool", dims, **more, target="tflite") is Answer.TAKES) is right


@pytest.mark.parametrize(("size", "right"), [(9, False), (10, True)])
def test_tvm_rounds_the_sizes_of_same_lower_down(size: int, *, right: bool) -> None:
    found = pool("MaxPool", [size], strides=[2], auto_pad="SAME_LOWER", target="tvm")
    assert (found is Answer.TAKES) is right


@pytest.mark.parametrize(
    ("same", "size", "kernel", "stride", "right"),
    [
        *(("UPPER", 12, 1, 2, False), ("LOWER", 12, 1, 2, True), ("LOWER", 12, 2, 3, True)),
        *(("LOWER", 12, 1, 3, False), ("LOWER", 11, 1, 3, False), ("UPPER", 11, 1, 2, True)),
    ],
)
def test_tvm_shifts_same_upper_by_one_cell_and_same_lower_by_two(
    same: str, size: int, kernel: int, stride: int, *, right: bool
) -> None:
    given = {"kernel_shape": [kernel], "strides": [stride], "auto_pad": f"SAME_{same}"}
    assert (pool("MaxPool", [size], **given, target="tvm") is Answer.TAKES) is right


@pytest.mark.parametrize(
    ("pads", "stride", "right"),
    [
        *(([1, 2, 0, 0], 1, True), ([0, 0, 0, 1], 1, False), ([0, 0, 0, 1], 2, True)),
        *(([2, 0, 1, 1], 2, True), ([0, 0, 1, 0], 2, False)),
    ],
)
@pytest.mark.parametrize("op", ["LpPool", "AveragePool"])
def test_mnn_minds_end_pads_that_it_reads(
    op: str, pads: list[int], stride: int, *, right: bool
) -> None:
    more = {"count_include_pad": 1} if op == "AveragePool" else {}
    found = pool(op, [8, 9], strides=[stride] * 2, pads=pads, target="mnn", **more)
    assert (found is Answer.TAKES) is right


def test_mnn_takes_volumes_under_same_that_pad_nothing() -> None:
    for kernel, right in ((1, True), (2, False)):
        given = {"kernel_shape": [kernel] * 3, "strides": [1] * 3, "auto_pad": "SAME_UPPER"}
        model = chain(17, [1, 2, 6, 6, 6], ("Conv", [weights(2, 2, *[kernel] * 3)], given))
        assert (answers(model, "mnn")["Conv"] is Answer.TAKES) is right


@pytest.mark.parametrize(
    ("kernel", "stride", "pads", "bias", "right"),
    [
        *((1, 2, [0, 0], False, True), (1, 1, [0, 0], True, False), (3, 1, [1, 1], False, True)),
        *((3, 1, [0, 0], False, False), (2, 1, [0, 1], False, True), (2, 1, [1, 0], False, False)),
    ],
)
def test_onnx2keras_makes_same_upper_of_lines_and_drops_their_bias(
    kernel: int, stride: int, pads: list[int], *, bias: bool, right: bool
) -> None:
    given = {"kernel_shape": [kernel], "strides": [stride], "pads": pads}
    arrays = [weights(3, 4, kernel), *[weights(3)] * bias]
    found = answers(chain(13, [1, 4, 8], ("Conv", arrays, given)), "onnx2keras")["Conv"]
    assert (found is Answer.TAKES) is right


@pytest.mark.parametrize(
    ("pads", "more", "right"),
    [
        *(([1] * 4, {}, True), ([1] * 4, {"strides": [2, 2]}, False)),
        *(([1] * 4, {"count_include_pad": 1, "strides": [2, 2]}, True), ([1, 1, 0, 0], {}, False)),
        *(([1, 1, 0, 0], {"count_include_pad": 1}, False), ([1] * 4, {"ceil_mode": 1}, True)),
        *(([0] * 4, {"ceil_mode": 1, "strides": [2, 2]}, False), ([1, 0, 1, 0], {}, False)),
    ],
)
def test_onnx2keras_averages_with_half_an_odd_kernel(
    pads: list[int], more: dict[str, Any], *, right: bool
) -> None:
    found = pool("AveragePool", [8, 9], pads=pads, target="onnx2keras", **more)
    assert (found is Answer.TAKES) is right


@pytest.mark.parametrize("target", ["tflite", "ncnn", "jaxonnxruntime", "onnx2keras"])
def test_who_refuses_every_if(target: str) -> None:
    model: onnx.ModelProto = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> m (float[1,4,6,6] x, bool b) => '
        "(float[1,4,6,6] y) { y = If(b) <then_branch = t () => (float[1,4,6,6] p) "
        "{ p = Relu(x) }, else_branch = e () => (float[1,4,6,6] q) { q = Neg(x) }> }"
    )
    name = "If with a condition that is no constant" if target == "tflite" else "If"
    assert answers(model, target)[name] is Answer.REFUSES


def test_onnxsim_takes_an_if_of_a_constant_away() -> None:
    body = "c = Constant <value = bool {1}> () y = If(c) <then_branch = t () => (float[1] p) "
    model: onnx.ModelProto = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> m (float[1] x) => (float[1] y) '
        f"{{ {body} {{ p = Relu(x) }}, else_branch = e () => (float[1] q) {{ q = Neg(x) }}> }}"
    )
    assert not any(answer.fails for answer in answers(model, "tflite").values())


@pytest.mark.parametrize(("condition", "wrong"), [(0, True), (1, False)])
def test_onnx2tf_loses_a_constant_behind_a_sum_in_a_branch(condition: int, *, wrong: bool) -> None:
    branches = (
        "then_branch = t () => (float[1,1,4,4] p) { p = Relu(x) }, "
        "else_branch = e () => (float[1,1,4,4] q) { q = Add(x, h) }"
    )
    model: onnx.ModelProto = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> m (float[1,1,4,4] x) => (float[1,1,4,4] y) '
        f"<float h = {{0.5}}, bool c = {{{condition}}}> {{ b = If(c) <{branches}> y = Add(b, h) }}"
    )
    assert any(answer.fails for answer in answers(model, "tflite").values()) is wrong


SCALE_AND_BIAS = [weights(3), weights(3)]


@pytest.mark.parametrize(
    ("target", "fails"),
    [
        *(("opencv", True), ("opencv-classic", True), ("ncnn", True), ("mnn", True)),
        *(("openvino@2024.6", True), ("openvino", False), ("onnx2torch", True)),
    ],
)
def test_who_normalises_no_batch_in_training_mode(target: str, *, fails: bool) -> None:
    statistics = [*SCALE_AND_BIAS, weights(3), weights(3)]
    for mode in (0, 1):
        step: Step = ("BatchNormalization", statistics, {"training_mode": mode})
        model = chain(17, [1, 3, 8, 9], RELU, step)
        model.graph.node[-1].output.extend(["mean", "var"] * mode)
        found = answers(model, target).values()
        assert any(answer.fails for answer in found) is (fails and bool(mode))


@pytest.mark.parametrize("target", ["opencv", "opencv-classic"])
def test_opencv_pools_no_whole_volume(target: str) -> None:
    for op in ("GlobalAveragePool", "GlobalMaxPool"):
        assert answers(chain(17, [1, 3, 4, 4, 4], RELU, (op, [], {})), target)
        assert not answers(chain(17, [1, 3, 4, 4], RELU, (op, [], {})), target)


@pytest.mark.parametrize(
    ("target", "sizes", "window", "refused"),
    [
        *(("ncnn", [9], False, True), ("ncnn", [9, 9, 9], True, False)),
        *(("opencv", [9], True, True), ("opencv", [9], False, False)),
        *(("opencv", [9, 9], True, False), ("opencv", [9, 9, 9], True, True)),
    ],
)
def test_who_normalises_which_instances(
    target: str, sizes: list[int], *, window: bool, refused: bool
) -> None:
    rank = len(sizes)
    given = {"kernel_shape": [1] * rank, "pads": [0] * 2 * rank, "strides": [1] * rank}
    steps: list[Step] = [("MaxPool", [], given), RELU] if window else [RELU]
    model = chain(17, [1, 3, *sizes], *steps, ("InstanceNormalization", SCALE_AND_BIAS, {}))
    assert any(answer.fails for answer in answers(model, target).values()) is refused


@pytest.mark.parametrize(
    ("nodes", "wrong"),
    [
        *(("q = Add(p, a) y = Add(q, b)", True), ("q = Add(a, p) y = Sub(b, q)", True)),
        *(("q = Sub(p, a) y = Add(q, b)", False), ("q = Add(p, a) y = Mul(q, b)", False)),
        *(
            ("q = Add(p, a) y = Add(q, p)", False),
            ("q = Add(p, a) r = Relu(q) y = Add(r, b)", False),
        ),
        ("q = Add(p, a) r = Add(q, b) y = Add(q, r)", False),
        *(("q = Sub(p, b) y = Add(q, a)", True), ("q = Sub(p, b) y = Sub(a, q)", True)),
        *(("q = Sub(p, b) y = Sub(q, a)", False), ("q = Sub(b, p) y = Add(q, a)", False)),
        *(("q = Mul(p, b) y = Add(q, a)", False), ("q = Sub(p, a) y = Add(a, q)", True)),
    ],
)
def test_tflite_loses_the_second_of_two_constants(nodes: str, *, wrong: bool) -> None:
    model: onnx.ModelProto = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> m (float[1,2,8,9] x) => (float[1,2,8,9] y) '
        f"<float[1,2,1,1] a = {{1, 2}}, float b = {{3}}> {{ p = Relu(x) {nodes} }}"
    )
    assert (SUMS[0] in answers(model, "tflite")) is wrong


@pytest.mark.parametrize(
    ("given", "right"),
    [
        *(({"auto_pad": "SAME_UPPER"}, False), ({"pads": [1, 1, 0, 0]}, False)),
        *(({"pads": [0, 0, 1, 1]}, True), ({"pads": [1] * 4}, True)),
        ({"pads": [1, 0, 0, 1], "strides": [2, 2]}, True),
    ],
)
def test_onnx2keras_pads_no_max_pool_as_same(given: dict[str, Any], *, right: bool) -> None:
    step: Step = ("MaxPool", [], {"kernel_shape": [3, 3], "strides": [1, 1]} | given)
    found = answers(chain(17, [1, 2, 8, 9], RELU, step), "onnx2keras")["MaxPool"]
    assert (found is Answer.TAKES) is right


def on_bytes(read: type, kept: type, pads: Sequence[int], *between: Step) -> onnx.ModelProto:
    """A convolution with int8 weights from bytes of one type to those of another."""
    scale = np.array(0.02, np.float32)
    given = {"kernel_shape": [3, 3], "pads": list(pads)}
    model = chain(
        13,
        [1, 3, 7, 9],
        ("QuantizeLinear", [scale, np.array(3, read)], {}),
        ("DequantizeLinear", [scale, np.array(3, read)], {}),
        ("Conv", [weights(3, 3, 3, 3)], given),
        *between,
        ("QuantizeLinear", [scale, np.array(3, kept)], {}),
        ("DequantizeLinear", [scale, np.array(3, kept)], {}),
    )
    nodes, stored = model.graph.node, model.graph.initializer
    numbers: Any = np.ones((3, 3, 3, 3), np.int8)
    whole = [numbers, scale, np.array(0, np.int8)]
    stored.extend(onnx.numpy_helper.from_array(one, f"w{at}") for at, one in enumerate(whole))
    nodes.insert(0, onnx.helper.make_node("DequantizeLinear", ["w0", "w1", "w2"], ["w"]))
    nodes[3].input[1] = "w"
    return model


@pytest.mark.parametrize(
    ("read", "kept", "pads", "between", "wanted"),
    [
        (np.uint8, np.uint8, [1, 1, 1, 1], [], Answer.MISCOMPUTES),
        (np.uint8, np.uint8, [1, 1, 2, 1], [], Answer.TAKES),
        (np.uint8, np.uint8, [1, 1, 1, 1], [RELU], Answer.MISCOMPUTES),
        (np.uint8, np.uint8, [0, 0, 0, 0], [], Answer.TAKES),
        (np.int8, np.uint8, [0, 0, 0, 1], [], Answer.TAKES),
        (np.int8, np.uint8, [0, 0, 0, 0], [RELU], Answer.TAKES),
    ],
)
def test_opencv_runs_convolutions_on_bytes_where_pads_are_equal(
    read: type, kept: type, pads: list[int], between: Sequence[Step], wanted: Answer
) -> None:
    assert answers(on_bytes(read, kept, pads, *between), "opencv")["Conv"] is wanted


def test_opencv_is_not_brought_to_run_on_bytes_what_it_refuses_there() -> None:
    uneven = on_bytes(np.int8, np.uint8, [0, 0, 0, 1])
    assert not onnxpad.rewrite(uneven, target="opencv").changed


@pytest.mark.parametrize(
    ("kind", "value", "wrong"),
    [(np.int8, -7, True), (np.int8, 7, False), (np.int8, 0, False), (np.uint8, 121, False)],
)
def test_opencv_writes_0_for_bytes_below_0(kind: type, value: int, *, wrong: bool) -> None:
    pair = [np.array(0.02, np.float32), np.array(3, kind)]
    bytes_of: Step = ("Pad", [np.array([0, 0, 1, 1, 0, 0, 1, 1]), np.array(value, kind)], {})
    steps: list[Step] = [("QuantizeLinear", pair, {}), bytes_of, ("DequantizeLinear", pair, {})]
    found = answers(chain(13, [1, 3, 8, 9], *steps), "opencv")["Pad"]
    assert found is (Answer.MISCOMPUTES if wrong else Answer.TAKES)


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "wrong"),
    [
        *((12, [4, 1], 2, True), (12, [2, 2], 3, True), (12, [1, 1], 2, False)),
        *((11, [4, 1], 2, False), (11, [5, 2], 3, False), (12, [3, 3], 2, False)),
    ],
)
def test_tflite_shifts_same_where_no_window_reads_the_last_cell(
    size: int, kernel: list[int], stride: int, *, wrong: bool
) -> None:
    given = {"kernel_shape": kernel, "strides": [stride] * 2, "auto_pad": "SAME_UPPER"}
    model = chain(13, [2, 4, size, size], ("Conv", [weights(4, 4, *kernel)], given))
    wanted = Answer.MISCOMPUTES if wrong else Answer.TAKES
    assert answers(model, "tflite")["Conv"] is wanted


@pytest.mark.parametrize(("kernel", "wrong"), [(2, True), (3, False)])
def test_mnn_reads_same_lower_of_lp_pools_as_same_upper(kernel: int, *, wrong: bool) -> None:
    given = {"kernel_shape": [kernel] * 2, "strides": [1, 1], "auto_pad": "SAME_LOWER"}
    found = answers(chain(13, [1, 3, 8, 9], ("LpPool", [], given)), "mnn")["LpPool"]
    assert found is (Answer.MISCOMPUTES if wrong else Answer.TAKES)


@pytest.mark.parametrize(
    ("op", "rank", "wrong"),
    [
        *(("Conv", 1, True), ("Conv", 2, True), ("Conv", 3, False)),
        *(("MaxPool", 1, False), ("MaxPool", 2, False), ("AveragePool", 2, False)),
    ],
)
def test_mnn_shifts_no_pools_where_no_window_reads_the_last_two_cells(
    op: str, rank: int, *, wrong: bool
) -> None:
    given = {"kernel_shape": [2] * rank, "strides": [4] * rank, "auto_pad": "SAME_UPPER"}
    arrays = [weights(4, 4, *[2] * rank)] if op == "Conv" else []
    found = answers(chain(13, [1, 4, *[8] * rank], (op, arrays, given)), "mnn")[op]
    assert found is (Answer.MISCOMPUTES if wrong else Answer.TAKES)


CONVOLVED = "c = Conv <kernel_shape=[1, 1]> (x, w) "


@pytest.mark.parametrize(
    ("nodes", "sizes", "wrong"),
    [
        *(("d = Add(c, c) y = Concat<axis=1>(d, d)", size, True) for size in ([9, 5], [5, 9])),
        *(("d = Add(c, c) y = Concat<axis=1>(d, d)", size, False) for size in ([9, 4], [5, 5])),
        ("d = Add(c, c) y = Concat<axis=-3>(c, d)", [9, 5], True),
        ("d = Add(c, c) y = Concat<axis=3>(d, d)", [6, 6], True),
        ("d = Add(c, c) y = Concat<axis=2>(d, d)", [6, 5], False),
        ("d = Add(c, c) e = Relu(d) y = Concat<axis=1>(c, e)", [9, 5], True),
        ("d = Add(c, one) y = Concat<axis=1>(d, d)", [9, 5], False),
        ("d = Mul(c, c) y = Concat<axis=1>(d, d)", [9, 5], False),
        ("d = Add(x, x) y = Concat<axis=1>(d, d)", [9, 5], False),
        (
            "d = Add(c, c) e = Conv <kernel_shape=[1, 1]> (d, w) y = Concat<axis=1>(e, e)",
            [9, 5],
            False,
        ),
        ("d = Add(c, c) y = Concat<axis=0>(d, d)", [9, 5], False),
        ("d = Add(c, c) e = Concat<axis=1>(d, d) y = Concat<axis=1>(e, e)", [10, 4], True),
        (
            "d = Add(c, c) e = Concat<axis=1>(c, d) f = Relu(e) y = Concat<axis=1>(f, f)",
            [4, 10],
            True,
        ),
        ("e = Concat<axis=1>(c, c) y = Concat<axis=1>(e, e)", [10, 4], False),
    ],
)
def test_tflite_joins_sums_along_another_axis_of_the_same_size(
    nodes: str, sizes: Sequence[int], *, wrong: bool
) -> None:
    model: onnx.ModelProto = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> m '
        f"(float[2,5,{sizes[0]},{sizes[1]}] x) => (float[n,a,b,d] y) <float one = {{1}}> "
        f"{{ {CONVOLVED} {nodes} }}"
    )
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights(5, 5, 1, 1), "w"))
    assert (JOINED_SUMS[0] in answers(model, "tflite")) is wrong


@pytest.mark.parametrize(
    ("kernel", "dilations", "stride", "pads", "wrong"),
    [
        *(([1, 3, 3], [2, 2, 2], 1, [1, 1], False), ([2, 1, 1], [2, 1, 1], 2, [1, 4], False)),
        *(([2, 1, 1], [2, 1, 1], 3, [1, 2], True), ([2, 1, 1], [2, 1, 1], 3, [4, 3], False)),
        *(([3, 1, 1], [2, 1, 1], 1, [0, 0], True), ([2, 1, 1], [3, 1, 1], 6, [0, 0], True)),
    ],
)
def test_mnn_counts_the_windows_of_a_dilated_first_axis_as_undilated(
    kernel: list[int], dilations: list[int], stride: int, pads: list[int], *, wrong: bool
) -> None:
    given = {"kernel_shape": kernel, "dilations": dilations, "strides": [stride, 1, 1]}
    given["pads"] = [pads[0], 0, 0, pads[1], 0, 0]
    model = chain(13, [1, 4, 8, 8, 8], ("Conv", [weights(4, 4, *kernel)], given))
    wanted = Answer.MISCOMPUTES if wrong else Answer.TAKES
    assert answers(model, "mnn")["Conv"] is wanted


def of_volumes(op: str, *steps: Step, group: int = 1, rank: int = 3) -> onnx.ModelProto:
    given = {"kernel_shape": [2] * rank, "group": group, "strides": [1] * rank}
    arrays = [weights(4, 4 // group, *[2] * rank)]
    return chain(
        18, [2, 4, 6, 7, 8][: rank + 2], (op, arrays, given | {"pads": [0] * 2 * rank}), *steps
    )


@pytest.mark.parametrize(
    ("op", "steps", "rank", "refused"),
    [
        *(
            ("Conv", [RELU], 3, True),
            ("ConvTranspose", [RELU], 3, True),
            ("Conv", [RELU], 2, False),
        ),
        ("Conv", [RELU, ("Sigmoid", [], {})], 3, False),
        ("Conv", [("Clip", [np.float32(0), np.float32(6)], {})], 3, True),
        ("Conv", [("Sigmoid", [], {})], 3, False),
    ],
)
def test_mnn_does_not_find_a_relu_of_volumes(
    op: str, steps: Sequence[Step], rank: int, *, refused: bool
) -> None:
    found = answers(of_volumes(op, *steps, rank=rank), "mnn")
    assert (RECTIFIED_RESULT[0] in found) is refused


@pytest.mark.parametrize(
    ("bent", "group", "rank", "wrong"),
    [
        *(("Sigmoid", 4, 3, True), ("Tanh", 4, 3, True), ("HardSwish", 4, 3, True)),
        *(("Relu", 4, 3, False), ("Sigmoid", 2, 3, False), ("Sigmoid", 4, 2, False)),
    ],
)
def test_opencv_bends_no_depthwise_volumes(
    bent: str, group: int, rank: int, *, wrong: bool
) -> None:
    found = answers(of_volumes("Conv", (bent, [], {}), group=group, rank=rank), "opencv")
    assert (BENT_VOLUMES[0] in found) is wrong


@pytest.mark.parametrize(
    ("sizes", "behind", "wrong"),
    [
        *(([1, 3, 1, 1], [ZEROS], True), ([3, 1, 1], [RELU], True), ([1, 1, 1, 1], [ZEROS], False)),
        *(([1, 3, 1, 1], [ZEROS, CONV], False), ([1, 3, 1, 1], [BARE], False)),
        *(([9], [RELU], True), ([], [RELU], False)),
    ],
)
def test_ncnn_finds_no_batch_without_a_window(
    sizes: Sequence[int], behind: Sequence[Step], *, wrong: bool
) -> None:
    found = answers(chain(13, [1, 3, 8, 9], ("Mul", [weights(*sizes)], {}), *behind), "ncnn")
    assert (CONSTANTS_ALONE[0] in found) is wrong


SHARES: Step = ("Softmax", [], {"axis": 1})
ALIKE: Step = ("LRN", [], {"size": 3})


@pytest.mark.parametrize(
    ("steps", "axes", "wrong"),
    [
        *(([SHARES], 4, True), ([ZEROS, SHARES, RELU], 4, True), ([SHARES, SHARES], 3, True)),
        *(([("ReduceMean", [], {"axes": [1]})], 4, True), ([("Flatten", [], {})], 4, True)),
        *(([("SpaceToDepth", [], {"blocksize": 2}), SHARES], 4, True), ([SHARES], 2, False)),
        *(([SHARES, CONV], 4, False), ([ALIKE, SHARES], 4, False), ([ZEROS, RELU], 4, False)),
        *(([("GlobalMaxPool", [], {}), SHARES], 4, False), ([("Transpose", [], {})], 4, False)),
    ],
)
def test_ncnn_takes_another_axis_without_a_window(
    steps: Sequence[Step], axes: int, *, wrong: bool
) -> None:
    found = answers(chain(13, [1, 3, 8, 8][:axes], *steps), "ncnn")
    assert (AXES_ALONE[0] in found) is wrong


@pytest.mark.parametrize(
    ("counts", "stride", "right"), [(1, 1, True), (0, 1, False), (1, 2, False)]
)
def test_ncnn_counts_the_padding_of_same_averages(counts: int, stride: int, *, right: bool) -> None:
    more = {"auto_pad": "SAME_UPPER", "count_include_pad": counts, "strides": [stride]}
    assert (pool("AveragePool", [8], **more, target="ncnn") is Answer.TAKES) is right


@pytest.mark.parametrize(
    ("nodes", "wrong"),
    [
        *(("r = Relu(c) y = Add(r, a)", True), ("r = Clip(c, zero, six) y = Add(r, a)", True)),
        *(
            ("r = Relu(c) i = Identity(r) y = Add(i, a)", True),
            ("r = Relu(c) y = Add(a, r)", False),
        ),
        ("t = Add(c, a) r = Relu(t) y = Add(r, a)", True),
        *(("r = Relu(c) y = Sub(r, a)", False), ("r = Relu(c) y = Add(r, six)", False)),
        *(("r = Sigmoid(c) y = Add(r, a)", False), ("y = Add(c, a)", False)),
        *(
            ("r = Relu(x) y = Add(r, a)", False),
            ("r = Relu(c) s = Abs(r) t = Add(r, a) y = Mul(s, t)", False),
        ),
    ],
)
def test_mnn_adds_in_front_of_relu(nodes: str, *, wrong: bool) -> None:
    model: onnx.ModelProto = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> m (float[1,2,8,9] x) => (float[n,a,b,d] y) '
        "<float[1,2,1,1] a = {1, 2}, float zero = {0}, float six = {6}, "
        "float[2,2,1,1] w = {1, 2, 3, 4}> "
        f"{{ c = Conv <kernel_shape=[1, 1], strides=[1, 1], pads=[0, 0, 0, 0]> (x, w) {nodes} }}"
    )
    assert (RECTIFIED_SUMS[0] in answers(model, "mnn")) is wrong


@pytest.mark.parametrize("op", ["Conv", "MaxPool", "AveragePool"])
@pytest.mark.parametrize(
    ("size", "kernel", "stride", "pads", "wrong"),
    [
        *((9, 3, 2, [0, 1], False), (9, 3, 2, [1, 2], False), (8, 3, 3, [1, 0], False)),
        *((9, 3, 2, [1, 0], True), (9, 3, 1, [0, 1], True), (8, 3, 2, [0, 1], True)),
        *((10, 3, 3, [2, 1], False), (10, 3, 2, [1, 2], True)),
    ],
)
def test_opencv_takes_end_pads_of_lines_for_the_begin(
    op: str, size: int, kernel: int, stride: int, pads: list[int], *, wrong: bool
) -> None:
    given = {"kernel_shape": [kernel], "strides": [stride], "pads": pads}
    model = chain(17, [1, 3, size], (op, [weights(4, 3, kernel)] * (op == "Conv"), given))
    found = answers(model, "opencv-classic")[op]
    assert found is (Answer.MISCOMPUTES if wrong else Answer.TAKES)


@pytest.mark.parametrize(
    ("kernel", "pads", "stride", "wrong"),
    [
        *(([3, 3], [1, 1, 1, 1], 1, False), ([5, 3], [2, 1, 2, 1], 1, False)),
        *(([3, 3], [1, 1, 1, 1], 2, True), ([5, 5], [1, 1, 1, 1], 1, True)),
        *(([3, 2], [1, 0, 1, 0], 1, True), ([3, 3], [1, 1, 0, 1], 1, True)),
    ],
)
def test_onnx2keras_pads_pools_with_0_unless_keras_pads_them(
    kernel: list[int], pads: list[int], stride: int, *, wrong: bool
) -> None:
    given = {"kernel_shape": kernel, "strides": [stride] * 2, "pads": pads}
    found = answers(chain(11, [1, 3, 9, 8], ("MaxPool", [], given)), "onnx2keras")["MaxPool"]
    assert found is (Answer.MISCOMPUTES if wrong else Answer.TAKES)


def test_onnx2keras_pads_strided_volumes() -> None:
    given = {"kernel_shape": [3, 3, 3], "strides": [2, 1, 2], "pads": [1, 0, 1, 1, 0, 1]}
    model = chain(11, [1, 3, 9, 8, 7], ("Conv", [weights(4, 3, 3, 3, 3)], given))
    assert answers(model, "onnx2keras")["Conv"] is Answer.TAKES


@pytest.mark.parametrize(
    ("size", "pads", "wrong"),
    [([6, 6], [0, 0, 0, 1], False), ([6, 7], [0, 0, 0, 1], True), ([6, 6], [0, 1, 0, 1], True)],
)
def test_padding_that_no_window_reads_is_not_counted(
    size: list[int], pads: list[int], *, wrong: bool
) -> None:
    given = {"kernel_shape": [2, 2], "strides": [2, 2], "pads": pads, "count_include_pad": 1}
    model = chain(13, [1, 2, *size], *conversions(81), ("AveragePool", [], given))
    for target in ("openvino", "opencv-classic"):
        found = answers(model, target)["AveragePool"]
        assert found is (Answer.MISCOMPUTES if wrong else Answer.TAKES)


@pytest.mark.parametrize(
    ("size", "pads", "today", "before"),
    [
        *(([12, 7], [0, 1, 1, 1], False, True), ([12, 8], [0, 0, 0, 0], False, False)),
        *(([9, 8], [1, 0, 1, 0], True, True),),
    ],
)
def test_openvino_counts_beyond_windows_that_ceil_mode_adds(
    size: list[int], pads: list[int], *, today: bool, before: bool
) -> None:
    rounded = {"ceil_mode": 1, "count_include_pad": 1}
    given = {"kernel_shape": [3, 3], "strides": [3, 1], "pads": pads} | rounded
    model = chain(19, [1, 2, *size], ("AveragePool", [], given))
    for target, wrong in (("openvino", today), ("openvino@2024.6", before)):
        found = answers(model, target)["AveragePool"]
        assert found is (Answer.MISCOMPUTES if wrong else Answer.TAKES)


BOTH_AXES: Step = ("Pad", [np.array([0, 0, 1, 2, 0, 0, 2, 1]), np.float32(0)], {"mode": "constant"})
OTHERS: Step = ("Pad", [np.array([0, 0, 1, 2, 0, 0, 2, 1]), np.float32(1.5)], {"mode": "constant"})
CHANNELS: Step = ("Pad", [np.array([0, 1, 0, 0, 0, 0, 0, 0]), np.float32(0)], {"mode": "constant"})
POOLED = {"kernel_shape": [3, 3]}


@pytest.mark.parametrize(
    ("front", "op", "given", "wrong"),
    [
        *(([BOTH_AXES], "Conv", {"auto_pad": "SAME_UPPER"}, True),),
        *(([BOTH_AXES], "Conv", {"auto_pad": "VALID"}, True), ([BOTH_AXES], "Conv", {}, False)),
        *(([OTHERS], "Conv", {"auto_pad": "VALID"}, False),),
        *(([CHANNELS], "Conv", {"auto_pad": "VALID"}, False),),
        *(([BOTH_AXES, RELU], "Conv", {"auto_pad": "VALID"}, False),),
        *(([BOTH_AXES], "AveragePool", POOLED, False),),
        *(([BOTH_AXES], "AveragePool", POOLED | {"pads": [1, 0, 1, 1]}, True),),
        *(([BOTH_AXES], "MaxPool", POOLED, True), ([RELU, BOTH_AXES], "MaxPool", POOLED, False)),
        *(([RELU, BOTH_AXES], "MaxPool", POOLED | {"kernel_shape": [2, 2]}, True),),
        *(([RELU, BOTH_AXES], "MaxPool", POOLED | {"strides": [2, 2], "ceil_mode": 1}, True),),
        *(([RELU, BOTH_AXES], "MaxPool", POOLED | {"auto_pad": "VALID"}, True),),
    ],
)
def test_onnxsim_makes_pads_of_pads_of_zeros(
    front: Sequence[Step], op: str, given: dict[str, Any], *, wrong: bool
) -> None:
    """Run: onnxsim 0.4.36, which onnx2tf 1.29.24 calls; it looks at no auto_pad."""
    channels = 4 if front[0] is CHANNELS else 3
    more = [weights(2, channels, 3, 3)] if op == "Conv" else []
    model = chain(13, [1, 3, 9, 8], *front, (op, more, given))
    assert answers(model, "tflite")[op].fails is wrong


@pytest.mark.parametrize(
    ("nodes", "refused"),
    [
        ("y = Concat<axis=2>(z,x,z)", True),
        ("y = Concat<axis=2>(z,x,w)", False),
        ("a = Concat<axis=2>(x,z) y = Concat<axis=2>(z,a)", True),
        ("a = Add(x,z) y = Concat<axis=2>(a,z)", True),
        ("a = Concat<axis=2>(z,w) b = Concat<axis=2>(x,z) y = Concat<axis=2>(a,b)", False),
        ("k = Identity(z) a = Concat<axis=2>(x,k) y = Concat<axis=2>(a,z)", False),
        ("a = PRelu(x,z) y = Concat<axis=2>(a,z)", False),
    ],
)
def test_opencv_4_adds_a_stored_tensor_once(nodes: str, *, refused: bool) -> None:
    """By 29 models in 4.8 to 5.0: Layer "z" has been already added into net."""
    numbers = ",".join(str(one % 7) for one in range(60))
    model = text_model(
        nodes,
        inputs="float[1,2,6,5] x",
        outputs="float[a,b,c,d] y",
        constants=f"float[1,2,6,5] z = {{{numbers}}}, float[1,2,6,5] w = {{{numbers}}}",
    )
    assert (Answer.REFUSES in answers(model, "opencv-classic").values()) is refused
    assert Answer.REFUSES not in answers(model, "opencv").values()


def test_pads_on_both_sides_are_written_for_opencv_4() -> None:
    model = text_model(
        'p = Pad<mode="edge">(x,e) y = Pad(p,c)',
        inputs="float[1,2,9] x",
        outputs="float[1,2,15] y",
        constants="int64[6] e = {0,0,1,0,0,1}, int64[6] c = {0,0,2,0,0,2}",
    )
    result = onnxpad.rewrite(model, passes=["plain-pad", "concat-pads"])
    assert Answer.REFUSES not in answers(result.model, "opencv-classic").values()


@pytest.mark.parametrize(
    ("sizes", "release", "wrong"),
    [
        ("N,4,9", "", True),
        ("3,4,9", "", False),
        ("1,4,w", "", False),
        ("N,4,9", "@4.14", True),
        ("3,4,9", "@4.12", False),
        ("3,4,9", "@4.10", True),
        ("N,4,5,9", "@4.10", True),
        ("3,4,5,9", "@4.10", False),
    ],
)
def test_opencv_4_takes_an_open_batch_for_1(sizes: str, release: str, *, wrong: bool) -> None:
    """By 60 models in 4.8 to 5.0; up to 4.10 it has no models of three axes."""
    model = text_model(
        "u = Unsqueeze(x,a) r = Relu(u) y = Squeeze(r,a)",
        inputs=f"float[{sizes}] x",
        outputs=f"float[{sizes}] y",
        constants="int64[1] a = {2}",
    )
    found = answers(model, f"opencv-classic{release}")
    assert (Answer.MISCOMPUTES in found.values()) is wrong


@pytest.mark.parametrize(("sizes", "written"), [("N,4,9", False), ("3,4,9", True)])
def test_forms_with_another_rank_wait_for_the_batch(sizes: str, *, written: bool) -> None:
    model = text_model(
        "y = ConvTranspose<strides=[2], kernel_shape=[4]>(x,w)",
        inputs=f"float[{sizes}] x",
        outputs="float[a,b,c] y",
        constants=f"float[4,2,4] w = {{{','.join(['1'] * 32)}}}",
    )
    assert (not onnxpad.rewrite(model, target="opencv-classic").unfit) is written
    settled = onnxpad.rewrite(model, target="opencv-classic", dims={"N": 3} if "N" in sizes else {})
    assert not settled.unfit
    assert settled.model.graph.input[0].type.tensor_type.shape.dim[0].dim_value == 3


@pytest.mark.parametrize(
    ("sizes", "pads", "axes", "refused"),
    [
        ("1,3,5", "0,2", "2", True),
        ("1,3,5", "0,2", "-1", True),
        ("1,3,5", "0,0,0,0,0,2", "", False),
        ("1,3,5,6", "1,1,1,1", "2,3", False),
    ],
)
def test_iree_refuses_mirrored_lines_that_list_axes(
    sizes: str, pads: str, axes: str, *, refused: bool
) -> None:
    count, listed = pads.count(",") + 1, axes.count(",") + 1
    model = text_model(
        f'y = Pad<mode="reflect">(x,p{",,a" if axes else ""})',
        inputs=f"float[{sizes}] x",
        outputs="float[b,c,d] y" if sizes.count(",") == 2 else "float[b,c,d,e] y",
        constants=f"int64[{count}] p = {{{pads}}}, int64[{listed}] a = {{{axes or 0}}}",
        opset=18,
    )
    assert (answers(model, "iree")["Pad"] is Answer.REFUSES) is refused
    assert not onnxpad.rewrite(model, target="iree").unfit


def test_a_node_without_padding_waits_for_the_batch_as_well() -> None:
    """Keras' ResNet50 by tf2onnx ends so; its Squeeze is wrong at every batch but 1."""
    model = text_model(
        "p = GlobalAveragePool(x) y = Squeeze(p,a)",
        inputs="float[N,3,8,9] x",
        outputs="float[N,3] y",
        constants="int64[2] a = {2, 3}",
    )
    (verdict,) = onnxpad.rewrite(model, target="opencv-classic").unfit
    assert verdict.facts == (("N", 1),)
    settled = onnxpad.rewrite(model, target="opencv-classic", dims={"N": 1})
    assert not settled.unfit
    assert settled.relied_on == {"N": 1}
