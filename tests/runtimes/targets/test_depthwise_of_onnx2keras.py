"""Depthwise convolutions with a bias, whose result onnx2keras makes as wide as it has channels."""

from __future__ import annotations

import pytest

from onnxpad.runtimes.conditions.rows import Answer
from tests.models.text import text_model
from tests.runtimes.targets.test_held_out_facts import answers


@pytest.mark.parametrize("width", [4, 5, 6, 7, 8, 11, 12, 13])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("pad", [0, 1])
@pytest.mark.parametrize("kernel", [1, 3])
@pytest.mark.parametrize(("group", "bias"), [(6, True), (6, False), (1, True), (2, True)], ids=str)
def test_the_bias_goes_along_a_width_like_the_channels(
    width: int, stride: int, pad: int, kernel: int, group: int, *, bias: bool
) -> None:
    """Run in onnx2keras 0.0.25: 430 convolutions."""
    if kernel == 1 and pad:
        pytest.skip("pads that are not half of an odd kernel have a row of their own")
    weight = ",".join(["1"] * (36 // group * kernel * kernel))
    model = text_model(
        f"y = Conv <group = {group}, pads = [{pad},{pad},{pad},{pad}], "
        f"strides = [{stride},{stride}]> (x, w{', b' if bias else ''})",
        f"float[1,6,9,{width}] x",
        outputs="float[1,6,p,q] y",
        constants=f"float[6,{6 // group},{kernel},{kernel}] w = {{{weight}}}"
        + ", float[6] b = {1,2,3,4,5,6}" * bias,
        opset=13,
    )
    wide = (width + 2 * pad - kernel) // stride + 1
    found = answers(model, "onnx2keras")["Conv"]
    assert found.fails is (group == 6 and bias and wide == 6)
    assert found in (Answer.TAKES, Answer.MISCOMPUTES)
