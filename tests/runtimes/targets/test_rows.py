"""Every fact about a runtime names what it is about and how it is known."""

from __future__ import annotations

import pytest

from onnxpad import InternalError, RequestError
from onnxpad.padding.operators import OPERATORS
from onnxpad.runtimes.conditions.plain_facts import EVERYTHING
from onnxpad.runtimes.conditions.rows import Certainty, Row
from onnxpad.runtimes.targets import Target, all_targets, find_target
from tests.runtimes.targets import probes

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


@pytest.mark.parametrize("name", all_targets())
def test_no_fact_is_about_a_probe(name: str) -> None:
    known = {one.probe for one in probes.outcomes()}
    for row in find_target(name).rows:
        words = f"{row.what} {row.evidence}".split()
        assert not known.intersection(words)


def test_what_is_known_of_every_operator_that_is_taken() -> None:
    for target in all_targets().values():
        taken = {name for row in target.rows if row.answer == "takes" for name in row.operators}
        assert "Conv" in taken, target.name


def test_an_unknown_target_suggests_the_nearest() -> None:
    with pytest.raises(RequestError, match="did you mean 'opencv'"):
        find_target("opnecv")
    with pytest.raises(RequestError, match="'onnxpad explain' lists them"):
        find_target("zzzzzz")


def test_a_row_reads_as_a_sentence() -> None:
    row: Row = next(r for r in find_target("mnn").rows if "strides is not written" in r.what)
    assert row.what == "MaxPool, AveragePool, LpPool where strides is not written"
    assert InternalError.__name__ not in row.what
