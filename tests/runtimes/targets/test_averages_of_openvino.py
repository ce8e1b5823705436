"""Averages behind DequantizeLinear in OpenVINO: which Pads in front keep the bytes away.

By 154 images live in 2026.4, 216 lines in 2024.6 too, 24 averages of int8 in 2023.3 and 2024.6.
"""

from __future__ import annotations

import pytest

from tests.models.text import text_model
from tests.runtimes.targets.test_held_out_facts import answers

KINDS = {"uint8": "uint8 {118}", "zero": "uint8 {0}", "least": "int8 {-128}"}
COUNTED = "kernel_shape = [3, 3], pads = [1, 1, 1, 1], count_include_pad = 1"


def wrong(between: str, average: str = COUNTED, *, kind: str = "uint8", target: str) -> bool:
    """Whether an average of what is dequantised fails, with these operators between."""
    size = "6, 7" if "[3, 3]" in average else "7"
    nodes = (
        f"s = Constant <value = float {{0.05}}> () z = Constant <value = {KINDS[kind]}> () "
        "t = Constant <value = float {3}> () n = Constant <value = float {0}> () "
        "rows = Constant <value = int64[8] {0, 0, 2, 0, 0, 0, 1, 0}> () "
        "channel = Constant <value = int64[8] {0, 1, 0, 0, 0, 0, 0, 0}> () "
        "both = Constant <value = int64[8] {0, 1, 1, 0, 0, 0, 0, 0}> () "
        f"q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) {between} "
        f"y = AveragePool <{average}> ({'a' if between else 'd'})"
    )
    model = text_model(
        nodes,
        inputs=f"float[2, 3, {size}] x",
        outputs=f"float[{', '.join('abcd'[: size.count(',') + 3])}] y",
        opset=17,
    )
    return answers(model, target)["AveragePool"].fails


@pytest.mark.parametrize("target", ["openvino", "openvino@2024.6"])
@pytest.mark.parametrize(
    ("between", "fails"),
    [
        ("", True),
        ("a = Pad (d, rows, n)", True),
        ("a = Pad (d, channel, n)", True),
        ("p = Pad (d, channel, n) a = Add (p, t)", True),
        ('a = Pad <mode = "reflect"> (d, rows)', True),
        ("p = Add (d, t) a = Pad (p, rows, n)", True),
        ("p = Pad (d, rows, n) a = Add (p, t)", False),
        ("p = Pad (d, rows, n) a = Mul (p, t)", False),
        ("a = Pad (d, rows, t)", False),
        ("a = Pad (d, both, n)", False),
    ],
)
def test_a_constant_pad_holds_bytes_back(between: str, target: str, *, fails: bool) -> None:
    assert wrong(between, target=target) is fails


def test_a_pad_of_what_bytes_of_0_are_worth_holds_nothing_back() -> None:
    between = "p = Pad (d, rows, n) a = Add (p, t)"
    assert wrong(between, kind="zero", target="openvino")
    assert not wrong("a = Pad (d, rows, n)", kind="zero", target="openvino")


def test_channels_alone_are_no_pads_of_an_average() -> None:
    unpadded = "kernel_shape = [3, 3]"
    assert not wrong("a = Pad (d, channel, n)", unpadded, target="openvino")
    assert wrong("a = Pad (d, rows, n)", unpadded, target="openvino")


@pytest.mark.parametrize("target", ["openvino@2023.3", "openvino@2024.6", "openvino"])
def test_older_releases_take_the_least_byte_for_0_but_on_one_axis(target: str) -> None:
    line = "kernel_shape = [3], pads = [1, 1], count_include_pad = 1"
    assert wrong("", line, kind="least", target=target)
    assert wrong("", kind="least", target=target) is (target == "openvino")
