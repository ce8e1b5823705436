"""Where SAME padding cannot be computed while the model runs, and why."""

from __future__ import annotations

from typing import Any

import pytest

from onnxpad.padding.chain import Skip
from tests.models.tiny import refused, tiny

RULE = "runtime-pads"
STRIDED = 'Conv <auto_pad = "SAME_UPPER", strides = [2]> (x, w)'
SAME3 = 'auto_pad = "SAME_UPPER", kernel_shape = [3], strides = [2]'
refusals: dict[str, tuple[str, dict[str, Any], str, tuple[str, ...]]] = {
    "Pad has attributes": (
        STRIDED,
        {"opset": 10},
        "the pads of Pad are attributes in opset 10: they cannot be computed",
        ("raise the model's opset to 11 or newer",),
    ),
    "Indices are used": (
        f"MaxPool <{SAME3}> (x)",
        {"second": "i", "more": "z = Cast <to = 1> (i)"},
        "its Indices are used and would count the padded cells",
        (),
    ),
    "pads too": (
        'Conv <auto_pad = "SAME_UPPER", strides = [2], pads = [1, 1]> (x, w)',
        {},
        (
            "auto_pad=SAME_UPPER and pads=[1, 1] contradict each other, runtimes differ in which "
            "one wins"
        ),
        ("--ambiguous auto_pad", "--ambiguous pads"),
    ),
    "a zero point for each channel": (
        'ConvInteger <auto_pad = "SAME_UPPER", strides = [2]> (x, k, zeros)',
        {"constants": "uint8[1,1,3] k = {1, 2, 3}, uint8[2] zeros = {1, 2}", "dtype": "uint8"},
        "the zero point has one value per channel, a Pad node writes one for all",
        (),
    ),
    "an integer average": (
        f"com.microsoft.QLinearAveragePool <{SAME3}> (x, s, zero, s, zero)",
        {"constants": "float s = {1}, uint8 zero = {3}", "dtype": "uint8"},
        "an integer average that does not count padding cannot be divided again",
        (),
    ),
    "a mask": (
        f"com.microsoft.MaxpoolWithMask <{SAME3}> (x, m)",
        {"constants": "int32[1,1,1] m = {1}"},
        "MaxpoolWithMask has an input that depends on its own padding",
        (),
    ),
    "a Pad that onnxruntime would fuse": (
        'MaxPool <auto_pad = "SAME_UPPER", kernel_shape = [2], strides = [3], dilations = [3]> (x)',
        {"dtype": "uint8"},
        "onnxruntime would fuse the Pad beyond the kernel as soon as the size is fixed",
        ("raise the model's opset to 18 or newer",),
    ),
}


@pytest.mark.parametrize("name", refusals)
def test_refuses(name: str) -> None:
    op, given, reason, hints = refusals[name]
    kind = given.get("dtype", "float")
    outputs = ", ".join(["y", given["second"]] if "second" in given else ["y"])
    text = f"{given.get('front', '')} [op] {outputs} = {op} {given.get('more', '')}"
    model = tiny(
        text,
        f"{kind}[1,1,n]",
        constants=given.get("constants", ""),
        opset=given.get("opset", 17),
        result="int32[]" if "Integer" in op else f"{kind}[]",
    )
    assert refused(model, RULE) == Skip(reason, hints)
