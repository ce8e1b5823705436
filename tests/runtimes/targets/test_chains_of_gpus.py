"""Facts that freshly drawn chains brought to light on GPUs, IREE, tinygrad and older releases."""

from __future__ import annotations

import onnx
import pytest

from onnxpad import rewrite
from onnxpad.runtimes.conditions.rows import Answer
from tests.models.text import text_model
from tests.runtimes.targets.test_held_out_facts import answers

TAKES, REFUSES, WRONG = Answer.TAKES, Answer.REFUSES, Answer.MISCOMPUTES
WEIGHT = "w = Constant <value = float[2, 2, 1, 1] {1, 2, 3, 4}> () "
CONV = f"{WEIGHT} c = Conv <kernel_shape = [1, 1]> (x, w) "
TRANSPOSED = "ConvTranspose <kernel_shape = [1, 1], strides = [2, 2]>"
UNSTRIDED = "ConvTranspose <kernel_shape = [1, 1]>"
SIDES = "p = Constant <value = int64[4] {1, 0, 1, 1}> () e = Constant <value = float {0}> () "
ALL_SIDES = "p = Constant <value = int64[8] {0, 0, 1, 0, 0, 0, 1, 1}> () "
STRIDED = "kernel_shape = [3, 3], strides = [2, 2]"
NUMBERS = "s = Constant <value = float {0.1}> () z = Constant <value = %s {3}> () "


def found(
    target: str, nodes: str, *, opset: int = 18, size: str = "8, 9", planes: int = 2
) -> dict[str, Answer]:
    """What a target does with the nodes of a model."""
    return answers(one(nodes, opset=opset, size=size, planes=planes), target)


def one(nodes: str, *, opset: int = 18, size: str = "8, 9", planes: int = 2) -> onnx.ModelProto:
    open_sizes = ", ".join(f"o{number}" for number in range(size.count(",") + 3))
    return text_model(
        nodes,
        inputs=f"float[1, {planes}, {size}] x",
        outputs=f"float[{open_sizes}] y",
        opset=opset,
    )


@pytest.mark.parametrize(
    ("front", "axes", "jsep"),
    [
        ("r = Relu (x)", "2, 3", REFUSES),
        ("r = Relu (x)", "-2, -1", WRONG),
        ("r = Relu (x)", "2, -1", WRONG),
        (f"{CONV} r = Relu (c)", "2, 3", REFUSES),
        ("r = LpPool <kernel_shape = [2, 2]> (x)", "2, 3", REFUSES),
    ],
)
def test_pads_that_list_axes_on_jsep(front: str, axes: str, jsep: Answer) -> None:
    given = f"{SIDES} a = Constant <value = int64[2] {{{axes}}}> () {front} y = Pad (r, p, e, a)"
    assert found("webgpu-jsep", given)["Pad"].fails or not jsep.fails


@pytest.mark.parametrize("target", ["webgpu", "webgpu-jsep"])
def test_pads_behind_windows_get_a_way(target: str) -> None:
    nodes = f"{SIDES} a = Constant <value = int64[2] {{2, 3}}> () {CONV} y = Pad (c, p, e, a)"
    assert found(target, nodes)["Pad"].fails
    done = rewrite(one(nodes), target=target)
    assert not done.unfit
    assert "all-axes" in [change.rule for change in done.changes]


def test_an_if_hands_on_what_a_convolution_makes() -> None:
    body = (
        "g () => (float[1, 2, 8, 9] b) { w = Constant <value = float[2, 2, 1, 1] {1, 2, 3, 4}> () "
        "b = Conv <kernel_shape = [1, 1]> (x, w) }"
    )
    nodes = (
        f"{SIDES} a = Constant <value = int64[2] {{2, 3}}> () t = Constant <value = bool {{1}}> () "
        f"r = If (t) <then_branch = {body}, else_branch = {body.replace('g ()', 'h ()')}> "
        "y = Pad (r, p, e, a)"
    )
    assert found("webgpu", nodes)["Pad"] is REFUSES


@pytest.mark.parametrize("target", ["tinygrad", "webgpu-jsep"])
@pytest.mark.parametrize(
    ("size", "stride", "lower", "upper"),
    [(20, 2, TAKES, WRONG), (21, 3, WRONG, WRONG), (20, 3, TAKES, WRONG), (19, 2, TAKES, TAKES)],
)
def test_half_of_negative_padding_is_cut_in_front(
    target: str, size: int, stride: int, lower: Answer, upper: Answer
) -> None:
    for auto_pad, wanted in (("SAME_LOWER", lower), ("SAME_UPPER", upper)):
        given = f'auto_pad = "{auto_pad}", kernel_shape = [1, 1], strides = [{stride}, {stride}]'
        nodes = f"{WEIGHT} y = Conv <{given}> (x, w)"
        assert found(target, nodes, size=f"{size}, {size}")["Conv"].fails or not wanted.fails


@pytest.mark.parametrize("target", ["onnxruntime@1.23", "onnxruntime-web@1.23"])
@pytest.mark.parametrize(
    ("given", "size", "wrong"),
    [
        ("kernel_shape = [3, 3], pads = [1, 1, 2, 2]", "9, 11", True),
        ("kernel_shape = [3, 3], pads = [0, 1, 1, 1]", "9, 11", False),
        ("kernel_shape = [3, 3], pads = [1, 0, 1, 1]", "9, 11", True),
        ("kernel_shape = [3, 3], pads = [0, 2, 2, 0]", "9, 11", False),
        ("kernel_shape = [3], pads = [0, 2]", "9", False),
        ("kernel_shape = [2, 2], strides = [3, 3], pads = [0, 0, 1, 1]", "9, 9", False),
        ("kernel_shape = [2, 2, 2], pads = [0, 1, 0, 1, 1, 1]", "5, 5, 5", False),
        ("kernel_shape = [2, 2, 2], pads = [1, 1, 0, 0, 1, 0]", "5, 5, 5", True),
        (f"{STRIDED}, pads = [2, 2, 0, 0], ceil_mode = 1", "10, 10", True),
        ("kernel_shape = [3, 3], pads = [2, 2, 1, 1], dilations = [2, 2]", "10, 12", False),
        ("kernel_shape = [3, 3], pads = [0, 0, 2, 2], dilations = [2, 2]", "10, 12", True),
    ],
)
def test_averages_of_opset_19_in_1_23(target: str, given: str, size: str, *, wrong: bool) -> None:
    nodes = f"y = AveragePool <{given}, count_include_pad = 1> (x)"
    wanted = WRONG if wrong else TAKES
    assert found(target, nodes, opset=19, size=size)["AveragePool"] is wanted
    assert (
        found(target, nodes.replace("pad = 1", "pad = 0"), opset=19, size=size)["AveragePool"]
        is TAKES
    )
    newer = target.replace("1.23", "1.27" if "web" in target else "1.26")
    assert found(newer, nodes, opset=19, size=size)["AveragePool"] is TAKES


BYTES = f"{NUMBERS} q = QuantizeLinear (x, s, z) m = MaxPool <kernel_shape = [2, 2]> (q)"
PADDED = BYTES.replace("[2, 2]", "[2, 2], pads = [%s]") % ("int8", "%s")
CROSSED = f"{ALL_SIDES} {WEIGHT} v = Constant <value = float {{2}}> ()"
MIRROR = 'y = Pad <mode = "reflect"> (x, p)'


@pytest.mark.parametrize(
    ("nodes", "op", "answer"),
    [
        (f"{BYTES % 'uint8'} y = DequantizeLinear (m, s, z)", "MaxPool", WRONG),
        (f"{BYTES % 'int8'} y = DequantizeLinear (m, s, z)", "MaxPool", TAKES),
        (f"{PADDED % '0, 1, 1, 0'} y = DequantizeLinear (m, s, z)", "MaxPool", WRONG),
        (f"{PADDED % '1, 1, 1, 1'} y = DequantizeLinear (m, s, z)", "MaxPool", TAKES),
        (f"{CROSSED} t = Pad (x, p) y = {TRANSPOSED} (t, w)", "ConvTranspose", WRONG),
        (f"{CROSSED} t = Pad (x, p, v) y = {TRANSPOSED} (t, w)", "ConvTranspose", TAKES),
        (f"{CROSSED} t = Pad (x, p) y = {UNSTRIDED} (t, w)", "ConvTranspose", TAKES),
        ("y = LpPool <kernel_shape = [2, 2], pads = [0, 0, 1, 1]> (x)", "LpPool", TAKES),
        ("y = LpPool <kernel_shape = [2, 2], dilations = [1, 1]> (x)", "LpPool", REFUSES),
    ],
)
def test_what_iree_does(nodes: str, op: str, answer: Answer) -> None:
    assert found("iree", nodes)[op].fails or not answer.fails


@pytest.mark.parametrize(
    ("pads", "size", "answer"),
    [
        *(("0, 0, 1, 1, 0, 0, 1, 1", "9, 8", TAKES), ("0, 0, 2, 2, 0, 0, 0, 3", "9, 8", TAKES)),
        *(("0, 0, 3, 0, 0, 0, 2, 0", "9, 8", TAKES), ("0, 0, 0, 1, 0, 0, 0, 1", "9, 8", TAKES)),
        *(("0, 0, 0, 2, 0, 0, 0, 0", "9, 8", REFUSES), ("0, 0, 0, 0, 0, 0, 0, 3", "9, 8", REFUSES)),
        *(("0, 0, 2, 1, 0, 0, 0, 0", "9, 8", REFUSES), ("0, 0, 0, 3, 0, 0, 3, 1", "9, 8", REFUSES)),
        *(("0, 1, 0, 0, 0, 0, 0, 0", "9, 8", REFUSES), ("1, 0, 1, 1, 0, 0, 1, 1", "9, 8", REFUSES)),
        *(("0, 0, 1, 0, 0, 2", "9", TAKES), ("0, 0, 3, 0, 0, 3", "9", TAKES)),
        *(("0, 0, 0, 1, 1, 0, 0, 0, 1, 1", "9, 8, 7", TAKES),),
        *(("0, 0, 1, 0, 0, 0, 0, 1, 0, 0", "9, 8, 7", REFUSES),),
    ],
)
def test_what_iree_mirrors(pads: str, size: str, answer: Answer) -> None:
    nodes = f"p = Constant <value = int64[{pads.count(',') + 1}] {{{pads}}}> () {MIRROR}"
    assert found("iree", nodes, size=size)["Pad"].fails or not answer.fails


@pytest.mark.parametrize(
    ("planes", "pads", "answer"),
    [
        *((3, (2, 2), TAKES), (4, (2, 0), REFUSES), (64, (0, 4), REFUSES)),
        *((64, (3, 3), TAKES), (64, (1, 1), TAKES)),
        *((9, (3, 0), REFUSES), (15, (0, 3), REFUSES), (3, (0, 3), TAKES)),
        *((2, (4, 0), TAKES), (3, (4, 0), REFUSES), (6, (1, 2), REFUSES)),
    ],
)
def test_iree_compiles_no_even_mirrors_of_lines(
    planes: int, pads: tuple[int, int], answer: Answer
) -> None:
    nodes = f"p = Constant <value = int64[6] {{0, 0, {pads[0]}, 0, 0, {pads[1]}}}> () {MIRROR}"
    assert found("iree", nodes, size="9", planes=planes)["Pad"].fails or not answer.fails


def test_lines_have_no_way_before_opencv_4_12() -> None:
    line = one("y = MaxPool <kernel_shape = [2]> (x)", size="9")
    assert rewrite(line, target="opencv@4.10").unfit
    assert not rewrite(line, target="opencv@4.12").unfit


@pytest.mark.parametrize("release", ["", "@2023.3", "@2024.6", "@2025.3"])
@pytest.mark.parametrize(
    ("pad", "given", "wrong"),
    [
        ("0, 1", "kernel_shape = [2], pads = [1, 1], strides = [2]", True),
        ("1, 0", "kernel_shape = [2], pads = [1, 1], strides = [2]", True),
        ("0, 1", "kernel_shape = [2], pads = [0, 1], strides = [2]", True),
        ("0, 1", "kernel_shape = [2], pads = [1, 0], strides = [2]", False),
        ("2, 2", "kernel_shape = [2], pads = [1, 1], strides = [2]", False),
        ("0, 1", "kernel_shape = [2], pads = [1, 1], strides = [1]", False),
        ("0, 1", "kernel_shape = [2], strides = [2]", False),
    ],
)
def test_openvino_takes_pads_off_crops(release: str, pad: str, given: str, *, wrong: bool) -> None:
    begin, end = pad.split(", ")
    nodes = (
        f"p = Constant <value = int64[6] {{0, 0, {begin}, 0, 0, {end}}}> () t = Pad (x, p) "
        "w = Constant <value = float[2, 1, 2] {1, 2, 3, 4}> () "
        f"y = ConvTranspose <{given}> (t, w)"
    )
    wanted = WRONG if wrong else TAKES
    assert (
        found(f"openvino{release}", nodes, opset=17, size="9")["ConvTranspose"].fails
        or not wanted.fails
    )


@pytest.mark.parametrize(
    ("size", "pads", "wrong"),
    [
        *((10, "pads = [0, 0, 0, 1]", False), (9, "pads = [0, 0, 0, 1]", True)),
        *((10, 'auto_pad = "SAME_UPPER"', False), (9, 'auto_pad = "SAME_LOWER"', True)),
        *((10, "pads = [0, 1, 0, 0]", True), (10, "pads = [0, 1, 0, 1]", False)),
    ],
)
def test_iree_pools_bytes_wrongly_where_a_window_reads_unequal_pads(
    size: int, pads: str, *, wrong: bool
) -> None:
    """By 48 models of negative data: kernels 2 and 3, strides 1 and 2."""
    pool = f"MaxPool <kernel_shape = [1, 2], strides = [1, 2], {pads}> (q)"
    nodes = (
        f"{NUMBERS % 'int8'} q = QuantizeLinear (x, s, z) p = {pool} y = DequantizeLinear (p, s, z)"
    )
    assert found("iree", nodes, size=f"4, {size}")["MaxPool"].fails or not wrong
