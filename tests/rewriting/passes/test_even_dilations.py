"""even-dilations: along an axis with a kernel of one cell any dilation is the same."""

from __future__ import annotations

import onnx
import pytest

from onnxpad.rewriting.rewrite import rewrite
from onnxpad.validation import validate
from tests.models.text import text_model


def conv(kernel: str, dilations: str) -> onnx.ModelProto:
    return text_model(
        f"y = Conv <kernel_shape = [{kernel}], dilations = [{dilations}]> (x, w)",
        inputs=f"float[1, 1, 9, 9] x, float[1, 1, {kernel}] w",
        outputs="float[a, b, c, d] y",
        opset=13,
    )


@pytest.mark.parametrize(
    ("kernel", "dilations", "wanted"),
    [("1, 3", "1, 4", [4, 4]), ("3, 1", "2, 7", [2, 2]), ("1, 1", "3, 2", [1, 1])],
)
def test_a_kernel_of_one_cell(kernel: str, dilations: str, wanted: list[int]) -> None:
    model = conv(kernel, dilations)
    after = rewrite(model, passes="even-dilations").model
    assert isinstance(after, onnx.ModelProto)
    (written,) = [a.ints for a in after.graph.node[0].attribute if a.name == "dilations"]
    assert list(written) == wanted
    assert validate(model, after).verdict == "proved"


def test_two_axes_that_differ_are_left() -> None:
    done = rewrite(conv("2, 3", "1, 2"), passes="even-dilations")
    assert not done.changed
    assert done.skips[0].skip.reason == (
        "its dilations differ along axes of which each has several cells of the kernel"
    )
