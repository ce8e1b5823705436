"""onnxpad resolve on the command line."""

from __future__ import annotations

import pytest

from onnxpad.cli.values import parse_value

CONV = ["resolve", "tensorflow", "conv", "--input", "1,3,224,224", "--kernel", "7", "--stride", "2"]
SAME = [*CONV, "--padding", "SAME"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("[1, 2]", [1, 2]),
        ("1,2", (1, 2)),
        ("true", True),
        ("False", False),
        ("none", None),
        ("SAME", "SAME"),
        ("[[0,0],[1,1]]", [[0, 0], [1, 1]]),
        ("'3'", "3"),
        ("[1,", "[1,"),
    ],
)
def test_values(text: str, value: object) -> None:
    assert parse_value(text) == value
