"""Rows that hang on what stands around a node: what reads a Pad, biases, sizes that users know."""

from __future__ import annotations

import pytest
from onnx import ModelProto, parser

from onnxpad.rewriting.rewrite import Rewriting, rewrite
from onnxpad.runtimes.conditions.rows import Answer

HEAD = '<ir_version: 8, opset_import: ["" : 13]>\n'
LOWEST = """g (float[1,2,8,8] x) => (float y)
<int64[8] p = {0,0,1,1,0,0,1,1}, float v = {-inf}> {
  a = Pad<mode="constant">(x, p, v)
  y = %s
}"""
POOL = "MaxPool<kernel_shape=[%s]>(a)"
TRANSPOSED = """g (float[1,4,5,6] x, float[4,%d,3,3] w) => (float y) {
  y = ConvTranspose<group=4, kernel_shape=[3,3], pads=[1,1,1,1], strides=[2,2]>(x, w)
}"""
QUANTISED = """g (uint8[1,4,8,8] x, int8[2,4,3,3] w%s) => (uint8 y)
<float s = {0.5}, uint8 z = {9}, float[%d] u = {%s}, int8 n = {0}> {
  y = QLinearConv<kernel_shape=[3,3], pads=[1,1,1,1]>(x, s, z, w, u, n, s, z%s)
}"""
LINE = """g (uint8[1,4,8] x, int8[2,4,3] w) => (uint8 y)
<float s = {0.5}, uint8 z = {9}, int8 n = {0}> {
  y = QLinearConv<kernel_shape=[3], pads=[1,1]>(x, s, z, w, s, n, s, z)
}"""
AVERAGE = """g (float[1,2,7,7,7] x) => (float y) {
  y = AveragePool<count_include_pad=%d, kernel_shape=[3,3,3], pads=[1,1,1,1,1,1], strides=%s>(x)
}"""
OPEN = """g (float[%s] x) => (float y) <float[1,1,3,3] w = {1, -2, 3, -4, 5, -6, 7, -8, 9}> {
  y = Conv<kernel_shape=[3,3], pads=[1,1,1,1], strides=[1,1]>(x, w)
}"""


def model_of(text: str) -> ModelProto:
    """The model; infinities are no numbers for the parser."""
    model = parser.parse_model(HEAD + text.replace("-inf", "-1"))
    for tensor in model.graph.initializer:
        if tensor.name == "v":
            tensor.float_data[:] = [float("-inf")]
    return model


def fitted(text: str, target: str, **options: dict[str, int | str]) -> Rewriting:
    return rewrite(model_of(text), target=target, **options)  # type: ignore[arg-type]


def fails(text: str, target: str) -> bool:
    done = fitted(text, target)
    assert done.fitting is not None
    return bool(done.fitting.plans or done.unfit)


def test_tflite_has_no_minus_infinity() -> None:
    """It writes the lowest finite number, in Concat as well: right under a max pool alone."""
    (verdict,) = fitted(LOWEST % "Abs(a)", "tflite").unfit
    assert verdict.judgement.answer is Answer.MISCOMPUTES
    assert not fails(LOWEST % (POOL % "2,2"), "tflite")
    assert not fails(LOWEST % "Abs(a)", "onnxruntime")


@pytest.mark.parametrize(
    "readers",
    [
        POOL % "1,1",
        "MaxPool<kernel_shape=[2,2], pads=[1,1,1,1]>(a)",
        "MaxPool<ceil_mode=1, kernel_shape=[2,2], strides=[2,2]>(a)",
        "MaxPool<dilations=[2,2], kernel_shape=[2,2]>(a)\n  b = Abs(a)",
    ],
)
def test_a_window_without_data_or_another_reader_shows_the_lowest_number(readers: str) -> None:
    assert fails(LOWEST % readers, "tflite")


def test_iree_has_no_depthwise_transposed_convolution() -> None:
    assert fitted(TRANSPOSED % 1, "iree").unfit


def test_iree_adds_no_bias_where_scales_are_many() -> None:
    signed = QUANTISED.replace("uint8", "int8")
    assert fails(signed % (", int32[2] b", 2, "1, 2", ", b"), "iree")
    assert not fails(signed % ("", 2, "1, 2", ""), "iree")
    assert not fails(signed % (", int32[2] b", 1, "1", ", b"), "iree")


def test_iree_gives_results_of_uint8_as_int8() -> None:
    """80 models live whose bytes a DequantizeLinear reads: right where uint8 cannot hold them."""
    assert fails(QUANTISED % ("", 1, "1", ""), "iree")
    assert not fails(QUANTISED.replace("uint8", "int8") % ("", 1, "1", ""), "iree")
    inside = (QUANTISED % ("", 1, "1", "")).replace("(uint8 y)", "(float y)", 1)
    inside = inside.replace("y = QLinearConv", "r = QLinearConv").rstrip("}")
    assert not fails(inside + "y = DequantizeLinear(r, s, z)\n}", "iree")


def test_openvino_wants_scalars_for_scales() -> None:
    assert not fails((QUANTISED % ("", 1, "1", "")).replace("[1] u", " u"), "openvino")
    for count, scales in ((1, "1"), (2, "1, 2")):
        text = QUANTISED % ("", count, scales, "")
        assert fails(text, "openvino")
        assert "write scales and zero points as scalars" in str(fitted(text, "openvino").to_json())


@pytest.mark.parametrize("target", ["iree", "tinygrad"])
def test_quantised_convolutions_along_one_axis_are_lifted(target: str) -> None:
    done = fitted(LINE.replace("uint8", "int8"), target)
    assert not done.unfit
    assert {change.rule for change in done.changes} == {"lift-rank"}


def test_tflite_reads_pads_like_same_in_its_own_way() -> None:
    """Sizes of 7 with stride 2 want pads of 1 and 1, with stride 4 none."""
    same, other = "[2,2,2]", "[4,4,4]"
    assert not fails(AVERAGE % (0, same), "tflite")
    assert fails(AVERAGE % (0, other), "tflite")
    assert fails(AVERAGE % (1, same), "tflite")
    assert not fails(AVERAGE % (1, other), "tflite")


@pytest.mark.parametrize("target", ["portable", "qnn", "onnx2keras"])
def test_sizes_that_the_user_knows_are_not_in_the_file(target: str) -> None:
    spatial: dict[str, int | str] = {"h": "%8=0", "n": 1}
    batch: dict[str, int | str] = {"n": 1}
    assert fitted(OPEN % "n,1,h,8", target, dims=spatial).unfit
    assert not fitted(OPEN % "n,1,h,8", target, dims={"h": 8, "n": 1}).unfit
    assert not fitted(OPEN % "n,1,8,8", target, dims=batch).unfit
