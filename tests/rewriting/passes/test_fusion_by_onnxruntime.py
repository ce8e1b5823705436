"""A rewrite must not make onnxruntime fuse a Pad wrongly that it left alone before."""

import onnx
import pytest

from onnxpad.rewriting.passes import all_passes
from onnxpad.rewriting.rewrite import rewrite
from tests.models.tiny import NEGATIVE, X5, Array, by_onnxruntime, done, tiny, values

ONE_EACH = "int64[6] p = {0, 0, 1, 0, 0, 1}"
SHARED = "a = Pad (x, p) m = {} (a) [op] c = Conv (a, w) y = Concat <axis = 2> (c, m)"
BEHIND_ANOTHER = "z = Pad (x, p) " + SHARED.replace("(x, p)", "(z, p)")
AVERAGE = '[op] y = AveragePool <kernel_shape = [2], count_include_pad = 1, auto_pad = "VALID"> (b)'
CASES = {
    "a max pool reads the Pad too": (SHARED.format("MaxPool <kernel_shape = [3]>"), NEGATIVE),
    "two Pads in a row": (f"a = Pad (x, p) b = Pad (a, p) {AVERAGE}", X5),
    "an average reads the Pad too": (
        SHARED.format("AveragePool <kernel_shape = [1]>"),
        X5,
    ),
    "an average behind two Pads reads the second too": (
        BEHIND_ANOTHER.format("AveragePool <kernel_shape = [2]>"),
        X5,
    ),
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


AVERAGES = {
    "as wide as its kernel": ("kernel_shape = [1]", False),
    "as wide with its own pads": (
        "kernel_shape = [2], pads = [1, 0], count_include_pad = 1",
        False,
    ),
    "a window that starts in the Pad": ("kernel_shape = [2], strides = [3], ceil_mode = 1", False),
    "a window behind the Pad": ("kernel_shape = [2], strides = [4], ceil_mode = 1", True),
    "wider than the Pad": ("kernel_shape = [2]", True),
    "protected by auto_pad": ('kernel_shape = [1], auto_pad = "VALID"', True),
    "with pads that do not count": ("kernel_shape = [2], pads = [1, 1]", True),
}


@pytest.mark.parametrize(("written", "absorbed"), AVERAGES.values(), ids=AVERAGES)
def test_an_average_that_reads_the_pad_too(written: str, absorbed: bool) -> None:
    body = f"a = Pad (x, p) m = AveragePool <{written}> (a) [op] c = Conv (a, w) "
    model = tiny(body + "y = Concat <axis = 2> (c, m)", constants=ONE_EACH)
    found = done(model, "absorb-pad", nodes="op")
    after = found.model
    assert isinstance(after, onnx.ModelProto)
    assert found.changed is absorbed
    if not absorbed:
        (refusal,) = found.skips
        assert "an AveragePool reads the Pad too" in refusal.skip.reason
    for optimised in (False, True):
        assert by_onnxruntime(after, X5, optimised=optimised) == values(after, X5)
