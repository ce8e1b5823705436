"""resolve against what the frameworks themselves gave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.resolving.goldens import ALL, ALLOWED, SAMPLE, Golden, difference, goldens

CASES = list(goldens(SAMPLE))
FILES = sorted(ALL.glob("*.json")) if ALL.is_dir() else []
NO_FILES = pytest.param(None, marks=pytest.mark.skip(reason="../shared/goldens is not there"))


@pytest.mark.part(2)
@pytest.mark.parametrize("optimised", [False, True], ids=["plain", "optimised"])
@pytest.mark.parametrize("golden", CASES, ids=lambda golden: golden.record["id"])
def test_the_nodes_give_what_the_framework_gave(golden: Golden, *, optimised: bool) -> None:
    assert golden.resolved().output_shape == golden.y.shape
    assert difference(golden.computed(optimised=optimised), golden.y) <= ALLOWED


@pytest.mark.part(3)
@pytest.mark.parametrize("path", FILES or [NO_FILES], ids=lambda path: path and path.stem)
def test_every_stored_golden(path: Path) -> None:
    checked, wrong = 0, []
    for golden in goldens(path):
        found = difference(golden.computed(optimised=True), golden.y)
        wrong += [(golden.record["id"], found)] if found > ALLOWED else []
        checked += 1
    assert wrong == []
    assert checked == len(json.loads(path.read_text(encoding="utf-8")))


def test_all_stored_goldens_are_there() -> None:
    if not FILES:
        pytest.skip("../shared/goldens is not there")
    count = sum(len(json.loads(path.read_text(encoding="utf-8"))) for path in FILES)
    assert count == 812
