"""Facts that held-out models brought to light: each false before, measured on small domains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper, parser

import onnxpad
from onnxpad.runtimes.conditions.rows import Answer
from tests.runtimes.targets.test_facts import Step, chain, weights

OPSET_13 = '<ir_version: 8, opset_import: ["" : 13]>\n'


def answers(model: onnx.ModelProto, target: str) -> dict[str, Answer]:
    """What the target does with each operator, the worst."""
    (found,) = onnxpad.inspect(model, target=target).targets.values()
    worst: dict[str, Answer] = {}
    for one in found:
        answer = one.judgement.answer
        worst[one.op] = max(answer, worst.get(one.op, answer), key=lambda a: a.rank)
    return worst


def only(model: onnx.ModelProto, target: str) -> Answer:
    (found,) = answers(model, target).values()
    return found


def deep_transposed(kernel: int, stride: int, dilation: int, axis: int) -> onnx.ModelProto:
    sizes = {"kernel_shape": [2] * 3, "strides": [1] * 3, "dilations": [1] * 3}
    for name, value in zip(sizes, (kernel, stride, dilation), strict=True):
        sizes[name][axis] = value
    arrays = [weights(2, 3, *sizes["kernel_shape"])]
    return chain(13, [1, 2, 4, 5, 6], ("ConvTranspose", arrays, sizes))


@pytest.mark.parametrize(
    ("kernel", "stride", "dilation", "wrong"),
    [
        *((2, 1, 2, True), (2, 2, 2, False), (2, 2, 3, True), (3, 3, 2, False), (3, 4, 3, True)),
        *((4, 3, 2, True), (4, 4, 2, False), (1, 1, 3, False), (3, 1, 1, False)),
    ],
)
def test_mnn_loses_cells_of_a_dilated_first_axis(
    kernel: int, stride: int, dilation: int, wrong: bool
) -> None:
    model = deep_transposed(kernel, stride, dilation, 0)
    """Where the stride is wide they are right, and called wrong: it is seldom so."""
    assert only(model, "mnn") is (Answer.MISCOMPUTES if dilation > 1 else Answer.TAKES)
    assert dilation > 1 or not wrong


def test_a_refusal_of_mnn_becomes_no_wrong_number() -> None:
    """Without kernel_shape MNN refuses; with it and the dilation, it computes something else."""
    model = deep_transposed(2, 1, 2, 0)
    written = model.graph.node[0].attribute
    written.remove(next(one for one in written if one.name == "kernel_shape"))
    done = onnxpad.rewrite(model, target="mnn")
    assert not done.unfit
    assert [change.rule for change in done.changes] == ["plain-dilations", "written-defaults"]


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("auto_pad", ["", "NOTSET", "VALID"])
def test_mnn_wants_the_pads_of_deep_pools(op: str, auto_pad: str) -> None:
    given: dict[str, Any] = {"kernel_shape": [2] * 3, "strides": [2] * 3}
    if auto_pad:
        given["auto_pad"] = auto_pad
    done = onnxpad.rewrite(chain(13, [1, 2, 6, 6, 6], (op, [], given)), target="mnn")
    assert not done.unfit
    (node,) = done.model.graph.node
    written = {one.name: list(one.ints) for one in node.attribute if one.ints}
    assert written["pads"] == [0] * 6
    assert not onnxpad.rewrite(done.model, target="mnn").changed


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "wrong"),
    [(5, 2, 2, True), (6, 2, 2, False), (6, 1, 2, True), (6, 3, 1, False)],
)
def test_mnn_ignores_ceil_mode_which_matters_where_it_cuts_a_window(
    size: int, kernel: int, stride: int, wrong: bool
) -> None:
    flat = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "ceil_mode": 1}
    pools = [chain(13, [1, 2, size, size], ("MaxPool", [], flat | {"auto_pad": "VALID"}))]
    deep = {"kernel_shape": [kernel] * 3, "strides": [stride] * 3, "pads": [0] * 6}
    pools.append(chain(13, [1, 2, *[size] * 3], ("AveragePool", [], deep | {"ceil_mode": 1})))
    for model in pools:
        assert only(model, "mnn") is (Answer.MISCOMPUTES if wrong else Answer.TAKES)


@pytest.mark.parametrize("mode", ["edge", "reflect"])
@pytest.mark.parametrize(
    ("rank", "axes", "wrong"),
    [
        *((4, (2, 3), False), (4, (0, 2), True)),
        *((5, (2, 3, 4), False), (5, (1, 3), True), (5, (1, 2, 3), True)),
    ],
)
def test_mnn_mirrors_three_pieces_and_no_more(
    mode: str, rank: int, axes: tuple[int, ...], wrong: bool
) -> None:
    pads = np.array([int(axis % rank in axes) for axis in range(2 * rank)])
    model = chain(13, [3, 4, 5, 4, 6][:rank], ("Pad", [pads], {"mode": mode}))
    assert only(model, "mnn") is (Answer.MISCOMPUTES if wrong else Answer.TAKES)
    done = onnxpad.rewrite(model, target="mnn")
    assert done.changed is wrong
    assert not done.unfit


@pytest.mark.parametrize(("value", "wrong"), [((), False), ((0.0,), False), ((1.5,), True)])
def test_mnn_loses_the_value_of_a_pad_on_four_axes(value: tuple[float], wrong: bool) -> None:
    arrays = [np.array([1, 1, 1, 1] * 2), *map(np.float32, value)]
    model = chain(13, [2, 3, 4, 5], ("Pad", arrays, {}))
    assert only(model, "mnn") is (Answer.MISCOMPUTES if wrong else Answer.TAKES)


@pytest.mark.parametrize(
    ("given", "ends"),
    [
        ({"kernel_shape": [1]}, "same"),
        ({"kernel_shape": [1], "strides": [2]}, "lift-rank"),
        ({"kernel_shape": [1], "strides": [2], "auto_pad": "SAME_UPPER"}, "lift-rank"),
        ({"kernel_shape": [3], "strides": [2]}, "lift-rank"),
        ({"kernel_shape": [1, 1], "pads": [1, 0, 1, 0]}, "slice"),
        ({"kernel_shape": [1, 1], "pads": [1, 0, 1, 0], "strides": [2, 1]}, "same"),
    ],
)
def test_opencv_classic_transposes_along_two_axes_and_crops_no_1x1(
    given: dict[str, Any], ends: str
) -> None:
    kernel = given["kernel_shape"]
    model = chain(
        13, [1, 2, *[5] * len(kernel)], ("ConvTranspose", [weights(2, 2, *kernel)], given)
    )
    done = onnxpad.rewrite(model, target="opencv-classic")
    assert not done.unfit
    rules = " ".join(sorted({change.rule for change in done.changes}))
    assert ends in rules if ends != "same" else not rules


def with_indices(dims: Sequence[int], **more: int) -> onnx.ModelProto:
    rank = len(dims) - 2
    given = {"kernel_shape": [2] * rank, "strides": [2] * rank, **more}
    model = chain(13, list(dims), ("MaxPool", [], given))
    model.graph.node[0].output.append("i")
    model.graph.output.append(
        helper.make_tensor_value_info("i", TensorProto.INT64, [None] * len(dims))
    )
    return model


def test_indices_in_opencv_are_of_one_flat_image() -> None:
    assert only(with_indices([1, 2, 6, 6]), "opencv") is Answer.TAKES
    assert only(with_indices([2, 2, 6, 6]), "opencv") is Answer.MISCOMPUTES
    assert only(with_indices([1, 2, 6, 6], storage_order=1), "opencv") is Answer.MISCOMPUTES
    for dims in ([1, 2, 6], [1, 2, 6, 6, 6]):
        assert only(with_indices(dims), "opencv") is Answer.REFUSES


def quantised(
    dtype: type[Any], zero: int, *, form: str = "QLinearConv", **given: Any
) -> onnx.ModelProto:
    """A convolution between floats, as QLinearConv or between Q and DQ; `zero` of the weight."""
    kernel, sizes = given.pop("kernel", 3), given.pop("sizes", [6, 7])
    wide = weights(4, 4 // given.get("group", 1), kernel, kernel) * 20 + zero
    arrays: dict[str, Any] = {name: np.float32(0.05) for name in ("xs", "ws", "ys")}
    read = given.pop("read", np.uint8(7))
    arrays |= {"xz": read, "wz": dtype(zero), "yz": type(read)(9)}
    arrays["w"] = wide.clip(np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)
    nodes = [helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["q"])]
    if form == "QLinearConv":
        inputs = ["q", "xs", "xz", "w", "ws", "wz", "ys", "yz"]
        nodes.append(helper.make_node(form, inputs, ["r"], **given))
    else:
        nodes += [
            helper.make_node("DequantizeLinear", ["q", "xs", "xz"], ["d"]),
            helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"]),
            helper.make_node("Conv", ["d", "v"], ["c"], **given),
            helper.make_node("QuantizeLinear", ["c", "ys", "yz"], ["r"]),
        ]
    nodes.append(helper.make_node("DequantizeLinear", ["r", "ys", "yz"], ["y"]))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, *sizes])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * 4)],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()],
    )
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])


@pytest.mark.parametrize(
    ("dtype", "zero", "wrong"),
    [(np.int8, 0, False), (np.int8, 5, True), (np.uint8, 128, False), (np.uint8, 100, True)],
)
def test_opencv_classic_takes_weights_around_the_middle(
    dtype: type[Any], zero: int, wrong: bool
) -> None:
    done = onnxpad.rewrite(quantised(dtype, zero, kernel_shape=[3, 3]), target="opencv-classic")
    assert bool(done.unfit) is wrong
    dequantised = quantised(dtype, zero, form="Conv", kernel_shape=[3, 3])
    assert not onnxpad.rewrite(dequantised, target="opencv-classic").unfit


def test_opencv_classic_ends_at_qlinearconv_without_kernel_shape() -> None:
    done = onnxpad.rewrite(quantised(np.int8, 0), target="opencv-classic")
    assert {change.rule for change in done.changes} == {"written-defaults"}
    assert not done.unfit


@pytest.mark.parametrize("form", ["QLinearConv", "Conv"])
def test_opencv_computes_some_int8_weights_wrongly(form: str) -> None:
    def ends(dtype: type[Any], zero: int, kernel: int, **given: Any) -> str:
        given |= {"kernel_shape": [kernel] * 2, "kernel": kernel}
        done = onnxpad.rewrite(quantised(dtype, zero, form=form, **given), target="opencv")
        return "no way" if done.unfit else "changed" if done.changed else "same"

    assert ends(np.int8, 0, 3, pads=[1] * 4) == "changed"
    assert ends(np.int8, 0, 1) == "same"  # not known: it hangs on the processor and the size
    assert ends(np.int8, 0, 1, strides=[2, 2]) == "same"
    assert ends(np.int8, 0, 3) == "same"
    assert ends(np.uint8, 128, 3, pads=[1] * 4) == "same"
    assert ends(np.int8, 5, 3, pads=[1] * 4) == "same"


@pytest.mark.parametrize(
    ("kernel", "sizes", "given", "answer"),
    [
        *((1, [6, 7], {}, Answer.UNKNOWN), (1, [9, 3], {"strides": [2, 2]}, Answer.TAKES)),
        (3, [6, 7], {"pads": [1] * 4}, Answer.MISCOMPUTES),
        *((3, [6, 7], {"pads": [0, 0, 1, 1]}, Answer.TAKES), (3, [6, 7], {}, Answer.TAKES)),
        (3, [5, 5], {"pads": [1] * 4, "strides": [2, 2]}, Answer.MISCOMPUTES),
    ],
)
def test_opencv_computes_the_last_cells_of_bytes_alone(
    kernel: int, sizes: list[int], given: dict[str, Any], answer: Answer
) -> None:
    more: dict[str, Any] = {"kernel_shape": [kernel] * 2, "kernel": kernel, "sizes": sizes}
    found = answers(quantised(np.int8, 0, **given, **more), "opencv")["QLinearConv"]
    assert found is answer


@pytest.mark.parametrize("form", ["QLinearConv", "Conv"])
@pytest.mark.parametrize(
    ("read", "kernel", "group", "wrong"),
    [
        *((np.uint8(0), 3, 4, False), (np.uint8(7), 3, 4, True), (np.uint8(7), 1, 4, False)),
        *((np.int8(0), 3, 4, True), (np.int8(5), 1, 4, False)),
        *((np.uint8(0), 3, 1, False), (np.uint8(7), 3, 1, True), (np.uint8(0), 1, 1, True)),
        *((np.int8(0), 3, 1, True), (np.int8(-128), 1, 2, True)),
    ],
)
def test_opencv_passes_over_padding_as_if_it_were_the_lowest_byte(
    form: str, read: Any, kernel: int, group: int, *, wrong: bool
) -> None:
    more = {"kernel_shape": [kernel] * 2, "kernel": kernel, "pads": [kernel // 2] * 4}
    model = quantised(np.int8, 0, form=form, read=read, group=group, **more)
    found = answers(model, "opencv")[form]
    if kernel == 1 and group < 4:
        assert found is Answer.UNKNOWN
    else:
        assert found is Answer.MISCOMPUTES or not wrong


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"pads": [1] * 4}, True),
        ({"pads": [0, 0, 0, 1]}, True),
        ({"pads": [1, 0, 0, 0], "dilations": [2, 2]}, True),
        ({"pads": [1] * 4, "strides": [1, 2]}, False),
        ({"pads": [1] * 4, "strides": [2, 2]}, False),
        ({}, False),
    ],
)
@pytest.mark.parametrize(("dtype", "zero"), [(np.uint8, 128), (np.uint8, 100), (np.int8, 5)])
def test_opencv_reads_other_memory_for_pads_of_1x1_convolutions(
    dtype: type[Any], zero: int, given: dict[str, Any], wrong: bool
) -> None:
    for form in ("QLinearConv", "Conv"):
        model = quantised(dtype, zero, form=form, kernel_shape=[1, 1], kernel=1, **given)
        assert onnxpad.rewrite(model, target="opencv").changed is wrong


@pytest.mark.parametrize("outputs", [3, 6])
def test_opencv_pads_1x1_convolutions_of_single_channels(outputs: int) -> None:
    given = {"kernel_shape": [1, 1], "pads": [1] * 4, "group": 3}
    step: Step = ("Conv", [weights(outputs, 1, 1, 1)], given)
    answer = only(chain(13, [1, 3, 5, 6], step), "opencv")
    assert answer is (Answer.TAKES if outputs == 3 else Answer.MISCOMPUTES)


BRANCHES = """g (float[1,2,6,6] x%s) => (float[a,b,d,e] y) %s {
  y = If<
    then_branch = t () => (float[a,b,d,e] r) { r = Abs(x) },
    else_branch = f () => (float[a,b,d,e] q) { q = MaxPool<kernel_shape=[2,2], strides=[1,1]>(x) }
  >(c)
}"""


@pytest.mark.parametrize(
    ("target", "given", "stored"),
    [
        ("opencv", set(), set()),
        ("opencv-classic", {"If"}, {"If"}),
        ("onnx2torch", {"If"}, {"If"}),
        ("mnn", set(), set()),
        ("openvino", set(), set()),
        ("onnxruntime", set(), set()),
    ],
)
def test_who_stops_at_if(target: str, given: set[str], stored: set[str]) -> None:
    for model, expected in (
        (parser.parse_model(OPSET_13 + BRANCHES % (", bool c", "")), given),
        (parser.parse_model(OPSET_13 + BRANCHES % ("", "<bool c = {1}>")), stored),
    ):
        found = answers(model, target)
        assert {op for op, answer in found.items() if answer is Answer.REFUSES} == expected


IN, FLOATS = "uint8[1,2,5,5]", "float[1,2,5,5]"
OUT, FLOAT = "uint8[a,b,d,e]", "float[a,b,d,e]"
QUANTISED = "uint8 input or result of the model on a quantised operator"


@pytest.mark.parametrize(
    ("given", "result", "nodes", "wrong"),
    [
        (IN, FLOAT, "y = DequantizeLinear(x,s,z)", True),
        (IN, FLOAT, "y = Cast<to=1>(x)", False),
        (FLOATS, OUT, "y = QuantizeLinear(x,s,z)", True),
        (FLOATS, FLOAT, "q = QuantizeLinear(x,s,z) y = DequantizeLinear(q,s,z)", False),
        (IN, OUT, "y = Transpose(x)", False),
    ],
)
def test_opencv_classic_shifts_what_quantised_operators_hand_over(
    given: str, result: str, nodes: str, wrong: bool
) -> None:
    text = f"g ({given} x) => ({result} y) <float s = {{0.5}}, uint8 z = {{7}}> {{ {nodes} }}"
    model = parser.parse_model(OPSET_13 + text)
    assert (answers(model, "opencv-classic").get(QUANTISED) is Answer.MISCOMPUTES) is wrong
    assert QUANTISED not in answers(model, "opencv")


def test_onnx2torch_has_no_max_pool_of_opset_7() -> None:
    pool: dict[str, Any] = {"kernel_shape": [2, 2], "strides": [2, 2]}
    for op, opset, expected in (
        ("MaxPool", 7, Answer.REFUSES),
        ("MaxPool", 8, Answer.TAKES),
        ("AveragePool", 7, Answer.TAKES),
    ):
        assert only(chain(opset, [1, 2, 6, 6], (op, [], pool)), "onnx2torch") is expected
