"""inspect --target foresees what runtimes did with the probes; over all of them where they are."""

from __future__ import annotations

import pytest

from tests.runtimes.targets import probes
from tests.runtimes.targets.predict import is_missed, table

pytestmark = pytest.mark.skipif(probes.folder() is None, reason="../shared/probes is not there")


def test_no_failure_is_missed() -> None:
    missed = [
        f"{one.runtime}: {one.probe} ({one.verdict})" for one in probes.outcomes() if is_missed(one)
    ]
    assert missed == []


def test_false_alarms_are_rare() -> None:
    most = 0.06
    for target, counts in table().items():
        assert counts["false alarm"] <= most * (counts["fine"] + counts["false alarm"]), target


def test_every_runtime_was_looked_at() -> None:
    assert set(table()) == set(probes.RUNTIMES.values())
