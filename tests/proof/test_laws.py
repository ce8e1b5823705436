"""Laws over drawn models; `python -m tests.proof` and `tests.proof.mutants` draw many."""

import pytest

from tests.proof.law import judge_rewrites
from tests.proof.mutants import judge


@pytest.mark.parametrize(
    "number",
    [2, 20, 29, *(pytest.param(number, marks=pytest.mark.sweep) for number in (11, 38)), 47],
)
def test_every_rewrite_is_proved_or_listed(number: int) -> None:
    tally = judge_rewrites(number, seed=11)
    assert not tally.wrong, "\n".join(tally.wrong)


@pytest.mark.parametrize(
    "number",
    [1, 17, *(pytest.param(number, marks=pytest.mark.sweep) for number in (9, 25, 33, 41)), 49],
)
def test_observable_mutants_are_refuted(number: int) -> None:
    """None is proved; what else is not refuted has a reason that no numbers could mend."""
    listed = ("input 1 of ", "auto_pad together", "the budget of ", "the operator ")
    for row in judge(number, seed=12, each=2):
        if row.label == "observable":
            assert row.proof.verdict != "proved" or row.proof.readings, row
            assert row.proof.verdict == "refuted" or row.proof.reason.startswith(listed), row
