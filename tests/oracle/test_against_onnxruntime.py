"""The tests' interpreter computes what onnxruntime does, where that is not known to deviate."""

import pytest

from tests.random_models.checking import opened
from tests.random_models.drawing import draw
from tests.random_models.judging import by_interpreter, difference
from tests.random_models.kinds import KINDS

WITHOUT_KERNEL = ("DeformConv", "AveragePool double")
"""In the interpreter, and the last in onnxruntime."""
SILENT = ("no kernel for", "holds no window")
"""Said by the interpreter where it is stricter: it lacks Scan, and no cells are no result."""
FIRST, MODELS = 10_000, 16
SWEPT = 10


@pytest.mark.part(3)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in WITHOUT_KERNEL])
@pytest.mark.parametrize(
    "part", [0, *(pytest.param(n, marks=pytest.mark.sweep) for n in range(1, SWEPT))]
)
def test_agrees_with_onnxruntime(kind: str, part: int) -> None:
    compared = 0
    for seed in range(MODELS):
        spec = draw(kind, FIRST + MODELS * part + seed)
        original = opened(spec)
        for feed, expected in zip(original.feeds, original.ran, strict=True):
            if original.deviates or isinstance(expected, str):
                continue
            found = by_interpreter(original.model, feed)
            if isinstance(found, str) and any(reason in found for reason in SILENT):
                continue
            wrong = difference(spec, found, expected)
            assert wrong is None, f"{wrong}\n{spec}"
            compared += 1
    assert compared >= MODELS // 2
