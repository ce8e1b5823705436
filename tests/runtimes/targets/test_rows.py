"""Every fact about a runtime names what it is about and how it is known."""

from __future__ import annotations

import pytest

from onnxpad import RequestError
from onnxpad.padding.operators import OPERATORS
from onnxpad.runtimes.conditions.plain_facts import EVERYTHING
from onnxpad.runtimes.conditions.rows import Certainty
from onnxpad.runtimes.targets import Target, all_targets, find_target

TITLES = {op.title for op in OPERATORS.values()} | {*EVERYTHING}


def complaints(target: Target) -> list[str]:
    """What is missing in the rows of a target."""
    found = []
    for row in target.rows:
        found += [f"no operator is called {name}" for name in row.operators if name not in TITLES]
        if not (row.evidence.where.strip() and row.evidence.what.strip()):
            found.append(f"no evidence: {row.what}")
        if row.evidence.certainty not in Certainty:
            found.append(f"no certainty: {row.what}")
        if any(not condition.text.strip() for condition in row.when):
            found.append(f"a condition says nothing: {row.what}")
    return found


@pytest.mark.parametrize("name", all_targets())
def test_every_fact_has_evidence(name: str) -> None:
    target = find_target(name)
    assert complaints(target) == []
    assert target.version
    assert target.text
    assert target.rows


def test_an_unknown_target_suggests_the_nearest() -> None:
    with pytest.raises(RequestError, match="did you mean 'opencv'"):
        find_target("opnecv")
    with pytest.raises(RequestError, match="'onnxpad explain' lists them"):
        find_target("zzzzzz")
