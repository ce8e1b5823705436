"""`cases/layers.txt`: layers in their framework's words, with pads and sizes or a refusal.

Most are rules that nobody ran here: numbers that their sources give or that follow from them.
"""

from __future__ import annotations

import ast
from pathlib import Path

from onnxpad import RequestError, resolve
from tests.conftest import Recorded

CASES = Path(__file__).parent / "cases" / "layers.txt"


def answer(line: str) -> str:
    """What is said of `FRAMEWORK OP INPUT WEIGHT {words}`; a weight of - is none."""
    framework, op, given, weight, words = line.split(" ", 4)
    shapes = [None if one == "-" else tuple(map(int, one.split(","))) for one in (given, weight)]
    try:
        layer = resolve(
            framework,
            op,
            input_shape=shapes[0],
            weight_shape=shapes[1],
            **ast.literal_eval(words),
        )
    except RequestError as error:
        return str(error).replace("\n", "\\n")
    return f"pads {layer.pads} output {layer.output_shape}"


def test_layers(recorded: Recorded) -> None:
    recorded(CASES, " : ", answer)
