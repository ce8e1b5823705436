"""A rewrite must not make onnxruntime fuse a Pad wrongly that it left alone before."""

import onnx
import pytest

from onnxpad.passes import all_passes
from onnxpad.rewriting import rewrite
from tests.tiny_models import NEGATIVE, X5, Array, by_onnxruntime, tiny, values

ONE_EACH = "int64[6] p = {0, 0, 1, 0, 0, 1}"
SHARED = "a = Pad (x, p) m = {} (a) [op] c = Conv (a, w) y = Concat <axis = 2> (c, m)"
AVERAGE = '[op] y = AveragePool <kernel_shape = [2], count_include_pad = 1, auto_pad = "VALID"> (b)'
CASES = {
    "a max pool reads the Pad too": (SHARED.format("MaxPool <kernel_shape = [3]>"), NEGATIVE),
    "two Pads in a row": (f"a = Pad (x, p) b = Pad (a, p) {AVERAGE}", X5),
    "of which the first stays": (f"a = Pad (x, p) z = Relu (a) b = Pad (a, p) {AVERAGE}", X5),
}


@pytest.mark.parametrize("rule", all_passes())
@pytest.mark.parametrize(("body", "x"), CASES.values(), ids=CASES)
def test_pads(body: str, x: Array, rule: str) -> None:
    model = tiny(body, f"float[1,1,{x.size}]", constants=ONE_EACH)
    assert by_onnxruntime(model, x, optimised=True) == values(model, x)
    after = rewrite(model, passes=[rule]).model
    assert isinstance(after, onnx.ModelProto)
    assert by_onnxruntime(after, x, optimised=True) == values(after, x) == values(model, x)


def test_no_average_is_left_alone_with_a_wide_pad() -> None:
    model = tiny(SHARED.format("AveragePool <kernel_shape = [1]>"), constants=ONE_EACH)
    assert by_onnxruntime(model, X5, optimised=True) == values(model, X5)
    after = rewrite(model, passes=["absorb-pad"])
    assert not after.changed
    assert any("another pool reads the Pad too" in one.skip.reason for one in after.skips)
