"""Where averages that count their padding stay as they are, and why."""

from __future__ import annotations

import pytest

from onnxpad.padding.chain import Skip
from tests.models.tiny import refused, tiny

RULE = "counted-padding"
THREE = "kernel_shape = [3], count_include_pad = 1"


@pytest.mark.parametrize(
    ("op", "opset", "expected"),
    [
        pytest.param(
            f"AveragePool <{THREE}, strides = [2], pads = [4, 4], ceil_mode = 1> (x)",
            17,
            Skip("ceil_mode drops windows over the pads [4, 4], wider than a window"),
            id="drops windows",
        ),
        pytest.param(
            "AveragePool <kernel_shape = [2], count_include_pad = 1, strides = [5], pads = [1, 0], "
            "dilations = [5], ceil_mode = 1> (x)",
            22,
            Skip(
                "written like that, pads=[0, 4] reach the kernel [2]: onnxruntime refuses to load "
                "such a pool"
            ),
            id="reaches the kernel",
        ),
        pytest.param(
            "com.microsoft.QLinearAveragePool <kernel_shape = [2], count_include_pad = 1, "
            "pads = [1, 0]> (x, s, zero, s, zero)",
            10,
            Skip("Pad of opset 10 takes no integers"),
            id="Pad had no integers",
        ),
        pytest.param(
            f'AveragePool <{THREE}, auto_pad = "SAME_UPPER", strides = [2]> (x)',
            17,
            Skip(
                "SAME_UPPER with kernel 3 needs the size of axis 2 (which is 'n', stride 2)",
                ("--dim 'n=640'", "--dim 'n%2=0'", "--pass runtime-pads"),
            ),
            id="the size is not known",
        ),
        pytest.param(
            f"AveragePool <{THREE}, pads = [-1, 1]> (x)",
            17,
            Skip("the pads [-1, 1] are negative, onnxruntime and the checker refuse"),
            id="negative",
        ),
    ],
)
def test_refuses(op: str, opset: int, expected: Skip) -> None:
    integers = "QLinear" in op
    kind = "uint8" if integers else "float"
    size = "n" if "SAME" in op else "6"
    held = "float s = {0.5}, uint8 zero = {117}" if integers else ""
    shape = f"{kind}[1,1,{size}]"
    model = tiny(f"[op] y = {op}", shape, constants=held, opset=opset, result=f"{kind}[]")
    assert refused(model, RULE) == expected
