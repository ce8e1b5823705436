"""A row of Pads in front of an operator: absorbed at once, at a cost that grows with the row."""

from __future__ import annotations

import sys
from typing import Any

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


def calls_of(model: onnx.ModelProto, **wanted: Any) -> int:
    """Calls of functions that a rewrite makes, however long each takes."""
    count = 0

    def one(_: object, event: str, __: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(one)
    try:
        rewrite(model, **wanted)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("count", [1, 2, 29, 100])
def test_all_of_a_row_is_absorbed(count: int) -> None:
    found = rewrite(row(count), passes="absorb-pad")
    (conv,) = found.model.graph.node
    pads = next(list(one.ints) for one in conv.attribute if one.name == "pads")
    assert pads == [(count + 1) // 2, count // 2]
    assert len(found.changes) == 1


@pytest.mark.parametrize("wanted", [{"passes": "absorb-pad"}, {"target": "ncnn"}])
def test_the_work_grows_with_the_row(wanted: dict[str, Any]) -> None:
    calls_of(row(2), **wanted)  # what is loaded once is no matter
    short, long = (calls_of(row(count), **wanted) for count in (75, 150))
    assert long < 2.2 * short
