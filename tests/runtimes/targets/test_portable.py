"""How many real models `portable` writes, and what keeps the others."""

from __future__ import annotations

from collections import Counter

import pytest

from onnxpad import rewrite
from tests.runtimes.targets import corpus

LEAST = 56


@pytest.mark.sweep
def test_most_real_models_are_written() -> None:
    cases = corpus.cases()
    if not cases:
        pytest.skip("../shared/corpus is not there")
    kept: Counter[str] = Counter()
    for case in cases.values():
        done = rewrite(case.model, target="portable", dims=corpus.sizes(case))
        kept.update({done.unfit[0].judgement.reason} if done.unfit else ())
    assert len(cases) - kept.total() >= LEAST, kept
