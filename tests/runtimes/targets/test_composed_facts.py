"""Facts that chains of one to six operators brought to light, and networks at full size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import parser

import onnxpad
from onnxpad.runtimes.conditions.rows import Answer
from tests.models.text import text_model
from tests.runtimes.targets.test_facts import Step, chain, weights
from tests.runtimes.targets.test_held_out_facts import answers

THREE: dict[str, Any] = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [1, 1]}
RELU: Step = ("Relu", [], {})
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


@pytest.mark.parametrize("target", ["mnn", "webgpu-jsep", "ncnn", "onnx2torch"])
def test_who_fails_at_every_dequantized_image(target: str) -> None:
    found = answers(chain(13, [1, 3, 8, 9], *conversions(0), RELU), target)
    said = "DequantizeLinear of a computed tensor", "DequantizeLinear of bytes"
    assert any(name.startswith(said) and answer.fails for name, answer in found.items())


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
    assert answers(model, "opencv-classic")["Conv"].fails or not wanted.fails


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
        assert answers(model, target)["Conv"].fails or not fails


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
    assert right or found is not Answer.TAKES


@pytest.mark.parametrize(
    ("pads", "kernel", "right"),
    [([1, 0, 0, 0], 2, True), ([0, 0, 1, 1], 2, False), ([0, 0, 1, 1], 3, True)],
)
def test_tflite_pools_norms_rightly_where_the_pads_are_not_those_of_same(
    pads: list[int], kernel: int, *, right: bool
) -> None:
    found = pool("LpPool", [9, 10], kernel_shape=[kernel] * 2, pads=pads, target="tflite")
    assert right or found is not Answer.TAKES


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
    assert right or pool("MaxPool", dims, **more, target="tflite") is not Answer.TAKES


@pytest.mark.parametrize(("size", "right"), [(9, False), (10, True)])
def test_tvm_rounds_the_sizes_of_same_lower_down(size: int, *, right: bool) -> None:
    found = pool("MaxPool", [size], strides=[2], auto_pad="SAME_LOWER", target="tvm")
    assert right or found is not Answer.TAKES


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
    assert right or pool("MaxPool", [size], **given, target="tvm") is not Answer.TAKES


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
    assert right or found is not Answer.TAKES


def test_mnn_takes_volumes_under_same_that_pad_nothing() -> None:
    for kernel, right in ((1, True), (2, False)):
        given = {"kernel_shape": [kernel] * 3, "strides": [1] * 3, "auto_pad": "SAME_UPPER"}
        model = chain(17, [1, 2, 6, 6, 6], ("Conv", [weights(2, 2, *[kernel] * 3)], given))
        assert right or answers(model, "mnn")["Conv"] is not Answer.TAKES


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
    assert right or found is not Answer.TAKES


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
    assert right or found is not Answer.TAKES


@pytest.mark.parametrize("target", ["tflite", "ncnn", "jaxonnxruntime", "onnx2keras"])
def test_who_refuses_every_if(target: str) -> None:
    model: onnx.ModelProto = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> m (float[1,4,6,6] x, bool b) => '
        "(float[1,4,6,6] y) { y = If(b) <then_branch = t () => (float[1,4,6,6] p) "
        "{ p = Relu(x) }, else_branch = e () => (float[1,4,6,6] q) { q = Neg(x) }> }"
    )
    name = "If with a condition that is no constant" if target == "tflite" else "If"
    assert answers(model, target)[name] is Answer.REFUSES


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
    assert right or found is not Answer.TAKES


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
        (np.uint8, np.uint8, [1, 1, 1, 1], [RELU], Answer.TAKES),
        (np.uint8, np.uint8, [0, 0, 0, 0], [], Answer.TAKES),
        (np.int8, np.uint8, [0, 0, 0, 1], [], Answer.TAKES),
        (np.int8, np.uint8, [0, 0, 0, 0], [RELU], Answer.TAKES),
    ],
)
def test_opencv_runs_convolutions_on_bytes_where_pads_are_equal(
    read: type, kept: type, pads: list[int], between: Sequence[Step], wanted: Answer
) -> None:
    assert answers(on_bytes(read, kept, pads, *between), "opencv")["Conv"].fails or not wanted.fails


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
    assert found.fails or not wrong


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
    assert answers(model, "tflite")["Conv"].fails or not wanted.fails


@pytest.mark.parametrize(("kernel", "wrong"), [(2, True), (3, False)])
def test_mnn_reads_same_lower_of_lp_pools_as_same_upper(kernel: int, *, wrong: bool) -> None:
    given = {"kernel_shape": [kernel] * 2, "strides": [1, 1], "auto_pad": "SAME_LOWER"}
    found = answers(chain(13, [1, 3, 8, 9], ("LpPool", [], given)), "mnn")["LpPool"]
    assert found.fails or not wrong


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
    assert found.fails or not wrong


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
    assert answers(model, "mnn")["Conv"].fails or not wanted.fails


@pytest.mark.parametrize(
    ("counts", "stride", "right"), [(1, 1, True), (0, 1, False), (1, 2, False)]
)
def test_ncnn_counts_the_padding_of_same_averages(counts: int, stride: int, *, right: bool) -> None:
    more = {"auto_pad": "SAME_UPPER", "count_include_pad": counts, "strides": [stride]}
    assert right or pool("AveragePool", [8], **more, target="ncnn") is not Answer.TAKES


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
    assert found.fails or not wrong


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
    assert found.fails or not wrong


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
        assert found.fails or not wrong


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
        assert found.fails or not wrong


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
    assert answers(model, "tflite")[op].fails or not wrong


def test_pads_on_both_sides_are_written_for_opencv_4() -> None:
    model = text_model(
        'p = Pad<mode="edge">(x,e) y = Pad(p,c)',
        inputs="float[1,2,9] x",
        outputs="float[1,2,15] y",
        constants="int64[6] e = {0,0,1,0,0,1}, int64[6] c = {0,0,2,0,0,2}",
    )
    result = onnxpad.rewrite(model, passes=["plain-pad", "concat-pads"])
    assert Answer.REFUSES not in answers(result.model, "opencv-classic").values()


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
    assert answers(model, "iree")["Pad"] is Answer.REFUSES or not refused
    assert not onnxpad.rewrite(model, target="iree").unfit
