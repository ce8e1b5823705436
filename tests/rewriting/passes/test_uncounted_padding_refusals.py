"""Where averages that leave out their padding stay as they are, and why."""

from __future__ import annotations

import pytest

from onnxpad.padding.chain import Skip
from tests.models.tiny import refused, tiny

RULE = "uncounted-padding"
THREE = "AveragePool <kernel_shape = [3], pads = [1, 1]> (x)"


@pytest.mark.parametrize(
    ("op", "opset", "reason"),
    [
        pytest.param(THREE, 6, "Mul of opset 6 does not broadcast shapes", id="old"),
        pytest.param(
            THREE.replace("1, 1", "-1, 1"),
            17,
            "the pads [-1, 1] are negative, onnxruntime and the checker refuse",
            id="negative",
        ),
        pytest.param(
            "com.microsoft.QLinearAveragePool <kernel_shape = [2], pads = [1, 0]> (x, s, z, s, z)",
            17,
            "an integer average cannot be corrected behind",
            id="integers",
        ),
        pytest.param(
            THREE.replace("1, 1", "3, 3").replace("1, 1", "3, 3").replace(">", ", ceil_mode = 1>"),
            17,
            "ceil_mode drops windows over the pads [3, 3], wider than a window",
            id="drops windows",
        ),
        pytest.param(
            THREE.replace("[3]", "[9]"),
            17,
            "axis 2 has 5 cells, with pads 1,1 fewer than the window's 9",
            id="no window",
        ),
    ],
)
def test_refuses(op: str, opset: int, reason: str) -> None:
    integers = "QLinear" in op
    kind = "uint8" if integers else "float"
    held = "float s = {0.5}, uint8 z = {117}" if integers else ""
    model = tiny(
        f"[op] y = {op}", f"{kind}[1,1,5]", constants=held, opset=opset, result=f"{kind}[]"
    )
    assert refused(model, RULE) == Skip(reason)
