"""A row of Pads in front of an operator: absorbed one by one, so many as a pass goes on for."""

from __future__ import annotations

import onnx
import pytest

from onnxpad import rewrite
from tests.models.text import text_model


def row(count: int) -> onnx.ModelProto:
    """Pads by one cell, in turn at the begin and at the end, and a Conv."""
    names = ["x", *(f"t{number}" for number in range(count))]
    pads = [f"{names[n + 1]} = Pad ({names[n]}, p{n % 2})" for n in range(count)]
    held = "int64[6] p0 = {0,0,1,0,0,0}, int64[6] p1 = {0,0,0,0,0,1}, float[1,1,3] w = {1,1,1}"
    return text_model(f"{' '.join(pads)} y = Conv ({names[-1]}, w)", constants=held, opset=17)


@pytest.mark.parametrize(("count", "left"), [(1, 0), (2, 0), (9, 0), (100, 36)])
def test_a_row_is_absorbed(count: int, left: int) -> None:
    found = rewrite(row(count), passes="absorb-pad")
    *pads, conv = found.model.graph.node
    sides = next(list(one.ints) for one in conv.attribute if one.name == "pads")
    assert (len(pads), sum(sides)) == (left, count - left)
