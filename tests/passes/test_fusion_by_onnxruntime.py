"""A rewrite must not make onnxruntime fuse a Pad wrongly that it left alone before."""

import pytest

from tests.tiny_models import NEGATIVE, X5, Array, by_onnxruntime, rewritten, tiny, values

SHARED = """a = Pad (x, p) [pool] m = MaxPool <kernel_shape = [3]> (a)
    [op] c = Conv (a, w) y = Concat <axis = 1> (c, m)"""
IN_A_ROW = """a = Pad (x, p) b = Pad (a, p)
    [op] y = AveragePool <kernel_shape = [2], count_include_pad = 1, auto_pad = "VALID"> (b)"""


@pytest.mark.xfail(strict=True, reason="absorb-pad does not see the other readers of a Pad")
@pytest.mark.parametrize(
    ("body", "x"), [(SHARED, NEGATIVE), (IN_A_ROW, X5)], ids=["shared", "in a row"]
)
def test_absorbed_pads(body: str, x: Array) -> None:
    model = tiny(body, f"float[1,1,{x.size}]", constants="int64[6] p = {0, 0, 1, 0, 0, 1}")
    assert by_onnxruntime(model, x, optimised=True) == values(model, x)
    after = rewritten(model, "absorb-pad", x)
    assert by_onnxruntime(after, x, optimised=True) == values(after, x)
