"""What chooses by data: places of maxima, rows of tables; and what numbers alone may say."""

import numpy as np
import pytest
from onnx import numpy_helper

from tests.proof.kernel import prove
from tests.proof.small_models import text

PLACES = "g (float[N,3,H,W] x) => (int64[a,b,c,d] y) {{ {0} }}"


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("y = ArgMax<axis = 1>(x)", "z = Identity(x)\ny = ArgMax<axis = -3>(z)", "proved"),
        ("y = ArgMax<axis = 1>(x)", "y = ArgMax<axis = 1, select_last_index = 1>(x)", "refuted"),
        ("y = ArgMax<axis = 1>(x)", "y = ArgMin<axis = 1>(x)", "refuted"),
        ("y = ArgMin<axis = 1>(x)", "z = Neg(x)\ny = ArgMax<axis = 1>(z)", "proved"),
    ],
)
def test_places_of_maxima_and_their_ties(first: str, second: str, verdict: str) -> None:
    before, after = (text(PLACES.format(body)) for body in (first, second))
    assert prove(before, after).verdict == verdict


@pytest.mark.parametrize("rows", [3, 700])
def test_every_row_of_a_table_counts(rows: int) -> None:
    table = np.random.default_rng(1).standard_normal((rows, 2)).astype(np.float32)
    other = table.copy()
    other[rows - 2, 1] += 1
    models = []
    for body, values in (
        ("y = Gather(t, x)", table),
        ("i = Identity(x)\ny = Gather(t, i)", table),
        ("y = Gather(t, x)", other),
    ):
        made = text(f"g (int64[N,2] x) => (float[a,b,c] y) {{ {body} }}")
        made.graph.initializer.append(numpy_helper.from_array(values, "t"))
        models.append(made)
    assert prove(models[0], models[1]).verdict == "proved"
    found = prove(models[0], models[2])
    assert found.verdict == "refuted"
    assert found.counterexample is not None
    assert rows - 2 in found.counterexample.inputs["x"]


@pytest.mark.sweep
def test_a_softmax_written_out_is_never_refuted() -> None:
    body = """m = ReduceMax<keepdims = 1>(x, a)\nd = Sub(x, m)\ne = Exp(d)
        s = ReduceSum<keepdims = 1>(e, a)\ny = Div(e, s)"""
    given = "g (float[N,3,H,W] x) => (float[a,b,c,d] y) <int64[1] a = {{1}}> {{ {0} }}"
    softmax, written = (text(given.format(one)) for one in ("y = Softmax<axis = 1>(x)", body))
    assert prove(softmax, written).verdict == "undecided"
    other = text(given.format("y = Softmax<axis = 2>(x)"))
    assert prove(softmax, other).verdict == "refuted"
