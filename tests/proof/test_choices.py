"""What chooses by data: places of maxima, rows of tables; and what numbers alone may say."""

import numpy as np
import pytest
from onnx import numpy_helper

from onnxpad import validate
from tests.proof.small_models import text


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
    assert validate(*models[:2], proof_only=True).verdict == "proved"
    found = validate(models[0], models[2], proof_only=True).proof
    assert found is not None
    assert found.verdict == "refuted"
    assert found.counterexample is not None
    assert rows - 2 in found.counterexample.inputs["x"]
