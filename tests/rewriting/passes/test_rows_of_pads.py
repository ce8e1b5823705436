"""A row of Pads in front of an operator: absorbed one by one, so many as a pass goes on for."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxpad import rewrite
from tests.models.runaway import made_of, node, value


def row(count: int) -> onnx.ModelProto:
    """Pads by one cell, in turn at the begin and at the end, and a Conv."""
    names = ["x", *(f"t{number}" for number in range(count))]
    pads = [
        node("Pad", [names[number], f"p{number % 2}"], [names[number + 1]])
        for number in range(count)
    ]
    conv = node("Conv", [names[-1], "w"], ["y"])
    sides = {"p0": [0, 0, 1, 0, 0, 0], "p1": [0, 0, 0, 0, 0, 1]}
    weight = {"w": np.ones((1, 1, 3), np.float32)}
    return made_of([*pads, conv], [value("x", [1, 1, 8])], {**sides, **weight}, opset=17)


@pytest.mark.parametrize(("count", "left"), [(1, 0), (2, 0), (9, 0), (100, 36)])
def test_a_row_is_absorbed(count: int, left: int) -> None:
    found = rewrite(row(count), passes="absorb-pad")
    *pads, conv = found.model.graph.node
    sides = next(list(one.ints) for one in conv.attribute if one.name == "pads")
    assert (len(pads), sum(sides)) == (left, count - left)
