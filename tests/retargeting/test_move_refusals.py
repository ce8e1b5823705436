"""What cannot be moved, and what the source of a model settles."""

from __future__ import annotations

import pytest

from onnxpad.errors import RequestError
from onnxpad.geometry.size import Size, Symbol
from onnxpad.padding.chain import AutoPad, Chain, Pads, PadStep, Skip, Unclear
from onnxpad.padding.fills import Constant
from onnxpad.retargeting.move import moved
from tests.retargeting.layers import layer

H = Symbol("H")
Row = tuple[str, Size, int, int, tuple[int, int] | str, str, object]


REFUSALS: list[tuple[Chain, str, str | None, str]] = [
    (layer("Conv", 16, 2, 1, (1, 1)), "tensorflow", None, "can mean full or same"),
    (layer("Conv", 16, 2, 1, (1, 0)), "tensorflow", None, "can mean causal or same"),
    (layer("Conv", 32, 7, 2, (1, 1)), "tensorflow", None, r"pads \[1, 1, 1, 1\] fit no conv"),
    (layer("Conv", 225, 3, 2, (0, 1)), "pytorch", None, "fit no convention"),
    (layer("Conv", 32, 7, 2, (1, 2)), "tensorflow", "caffe", "caffe does not write"),
    (layer("Conv", H, 4, 2, "SAME_UPPER"), "pytorch", None, "needs the sizes of axes 2"),
    (
        layer("Conv", 16, 3, 2, "SAME_UPPER"),
        "pytorch",
        "pytorch",
        "SAME_UPPER is not what pytorch would write",
    ),
    (
        layer("Conv", H, 3, 2, "SAME_UPPER"),
        "pytorch",
        "caffe",
        "SAME_UPPER is not what caffe would write",
    ),
    (
        layer("Conv", H, 3, 2, "SAME_LOWER"),
        "pytorch",
        "tf",
        "SAME_LOWER is not what tensorflow would write",
    ),
    (
        layer("MaxPool", 16, 3, 2, (1, 1), ceil_mode=True),
        "pytorch",
        "tensorflow",
        "rounding up is not what tensorflow would write",
    ),
    (layer("Conv", 16, 2, 1, "SAME_UPPER"), "symmetric", None, "no padding alike at both sides"),
    (layer("Conv", 6, 1, 3, "SAME_UPPER"), "cntk", None, "begins inside the input here"),
    (layer("ConvTranspose", 12, 3, 2), "theano", None, "nothing is known of how theano pads"),
    (layer("Conv", 16, 3, 2, rank=3), "darknet", None, "darknet has no 3-D convolution"),
    (
        layer("MaxPool", 64, 2, 1, "SAME_UPPER", dilation=3),
        "SAME_LOWER",
        None,
        "is as large as the kernel",
    ),
    (layer("AveragePool", 9, 3, 2, (1, 1), opset=6), "timm", None, "opset 6 has no count_incl"),
    (layer("MaxPool", 8, 3, 2, opset=8), "caffe", None, "opset 8 has no ceil_mode"),
]


@pytest.mark.parametrize("row", REFUSALS, ids=lambda row: row[-1])
def test_a_refusal_says_why(row: tuple[Chain, str, str | None, str]) -> None:
    chain, to, source, reason = row
    found = moved(chain, to, source=source)
    assert isinstance(found, Skip)
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(found.reason)


def test_the_source_settles_what_padding_means() -> None:
    wide = layer("Conv", 16, 2, 1, (1, 1))
    assert moved(wide, "tensorflow", source="pytorch") == layer("Conv", 16, 2, 1, (0, 1))
    assert moved(wide, "tensorflow", source="theano") is not wide
    causal = layer("Conv", 16, 2, 1, (1, 0), rank=1)
    lower = moved(causal, "tensorflow", source="SAME_LOWER")
    assert lower == layer("Conv", 16, 2, 1, (0, 1), rank=1)
    plain = layer("Conv", 32, 7, 2, (1, 1))
    assert moved(plain, "tensorflow", source="pytorch") is plain


@pytest.mark.parametrize(
    ("chain", "source"),
    [
        (layer("Conv", 16, 3, 2, "SAME_UPPER"), "keras"),
        (layer("Conv", H, 3, 2, "SAME_UPPER"), "onnx"),
        (layer("Conv", H, 4, 2, "SAME_LOWER"), "SAME_LOWER"),
        (layer("Conv", 15, 3, 2, "SAME_UPPER"), "pytorch"),
        (layer("Conv", H, 3, 1, "SAME_LOWER"), "caffe"),
        (layer("AveragePool", 16, 3, 2, "SAME_UPPER"), "tensorflow"),
        (layer("MaxPool", 16, 3, 2, (0, 0), ceil_mode=True), "caffe"),
        (layer("MaxPool", 16, 3, 2, (0, 0), ceil_mode=True), "tensorflow"),
    ],
)
def test_what_the_source_writes_is_moved_as_without_it(chain: Chain, source: str) -> None:
    assert moved(chain, "SAME_UPPER", source=source) == moved(chain, "SAME_UPPER")


def test_what_cannot_be_read_is_left() -> None:
    computed = PadStep(
        Pads((0,) * 4, (0,) * 4), Constant(0), unclear=Unclear("the pads are computed")
    )
    chain = layer("Conv", 32, 3, 2)
    for found in (
        moved(layer("Conv", 32, 3, 2, front=None, trouble=Unclear("both")), "tf"),
        moved(Chain(chain.op, 22, chain.axes, chain.padding, chain.fill, pad=computed), "tf"),
    ):
        assert isinstance(found, Skip)
    assert moved(chain, "tf") is chain
    assert moved(layer("Conv", 32, 3, 2, "VALID"), "tf").padding == AutoPad.VALID  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["tensorflw", "SAME", "", "x" * 99])
def test_unknown_conventions_are_errors(name: str) -> None:
    with pytest.raises(RequestError, match=f"no convention is called '{name}'"):
        moved(layer("Conv", 32, 3, 2), name)
