"""onnxruntime's Pad fusion over an Identity, with computed pads, and of a Pad read by others."""

import pytest
from onnx import parser

from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import NEGATIVE, by_onnxruntime, done, numbers, refused, tiny

ZEROS = "int64[6] p = {0,0,1,0,0,1}"
POOL = '<auto_pad="VALID", kernel_shape=[3]>'
GUARDS = "its auto_pad keeps onnxruntime from fusing the Pad in front of it wrongly"
COMPUTED = """
s = Shape(x) h = Gather(s, two) m = Mod(h, three) o = Concat<axis=0>(zeros, m, zeros, m)
t = Pad(x, o) [op] y = MaxPool<auto_pad="VALID", kernel_shape=[3]>(t)
"""
NUMBERS = "int64[1] two = {2}, int64[1] three = {3}, int64[2] zeros = {0,0}"


def test_an_identity_is_no_protection() -> None:
    model = tiny(
        f"t = Pad(x, p) u = Identity(t) [op] y = MaxPool {POOL} (u)",
        "float[1,1,4]",
        constants=ZEROS,
    )
    assert refused(model, "explicit-pads").reason == GUARDS
    model.graph.node[-1].attribute.pop(0)
    right = by_onnxruntime(model, NEGATIVE)
    assert right == [0, -1, -1, 0]
    assert by_onnxruntime(model, NEGATIVE, optimised=True) != right


def test_a_function_is_no_protection() -> None:
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17, "local": 1]>'
        "outside (float[1,1,4] x) => (float[] y) <int64[6] p = {0,0,1,0,0,1}>"
        "{ t = Pad(x, p) y = local.Block(t) }"
        '<opset_import: ["": 17], domain: "local"> Block (t) => (y)'
        f"{{ [op] y = MaxPool {POOL} (t) }}"
    )
    assert by_onnxruntime(model, NEGATIVE, optimised=True) == [0, -1, -1, 0]
    assert refused(model, "explicit-pads").reason == GUARDS


def test_computed_pads_are_no_protection() -> None:
    model = tiny(COMPUTED, "float[1,1,4]", constants=NUMBERS)
    assert refused(model, "explicit-pads").reason == GUARDS


def test_pads_that_are_an_input_of_the_model_are_one() -> None:
    body = f"t = Pad(x, p) [op] y = MaxPool {POOL} (t)"
    model = tiny(body, "float[1,1,4]", inputs="int64[6] p")
    assert done(model, "explicit-pads").changed


def test_a_computed_pad_of_another_value_is_none_of_its_business() -> None:
    body = COMPUTED.replace("Pad(x, o)", "Pad(x, o, c)")
    model = tiny(body, "float[1,1,4]", constants=f"{NUMBERS}, float c = {{-1e9}}")
    assert done(model, "explicit-pads").changed


@pytest.mark.parametrize("between", ["t", "u"])
def test_a_pad_is_not_left_alone_with_a_pool_that_it_reaches(between: str) -> None:
    model = tiny(
        "t = Pad(x, p) u = Identity(t) [op] y = Conv<kernel_shape=[3]>(t, w) "
        f"z = AveragePool<kernel_shape=[2], pads=[1,0], count_include_pad=1>({between})",
        constants=ZEROS,
    )
    model.graph.output.add().name = "z"
    done_ = rewrite(model, passes=["absorb-pad"], nodes="op")
    assert not done_.changed
    assert "an AveragePool reads the Pad too" in done_.skips[0].skip.reason


def test_a_pad_may_be_left_alone_with_a_pool_that_it_does_not_reach() -> None:
    model = tiny(
        "t = Pad(x, p) [op] y = Conv<kernel_shape=[3]>(t, w) z = AveragePool<kernel_shape=[3]>(t)",
        constants=ZEROS,
    )
    model.graph.output.add().name = "z"
    assert rewrite(model, passes=["absorb-pad"], nodes="op").changed


def test_floor_pool_does_not_make_a_fused_pad_reach_the_kernel() -> None:
    model = tiny(
        "t = Pad(x, p) "
        "[op] y = MaxPool<kernel_shape=[3], strides=[2], dilations=[2], ceil_mode=1>(t)",
        "uint8[1,1,4]",
        constants="int64[6] p = {0,0,0,0,0,2}",
        result="uint8[]",
    )
    assert "would fuse the Pad" in refused(model, "floor-pool").reason
    x = numbers(1, 2, 3, 4, dtype="uint8")
    assert by_onnxruntime(model, x) == by_onnxruntime(model, x, optimised=True) == [3, 3]


def test_a_pad_is_not_left_alone_with_a_max_pool_of_bytes_that_it_reaches() -> None:
    """0 is the lowest byte, so that fusing it is right, but its pads would reach the kernel."""
    model = tiny(
        "t = Pad(x, p) [op] y = MaxPool<kernel_shape=[2]>(t) "
        "z = MaxPool<kernel_shape=[2], pads=[0,1]>(t)",
        "uint8[1,1,5]",
        constants="int64[6] p = {0,0,0,0,0,1}",
        result="uint8[]",
    )
    model.graph.output.add().name = "z"
    done_ = rewrite(model, passes=["absorb-pad"], nodes="op")
    assert not done_.changed
    assert "a MaxPool reads the Pad too" in done_.skips[0].skip.reason
