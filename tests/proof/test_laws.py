"""Laws over drawn models; `python -m tests.proof` draws many."""

import pytest

from tests.proof.law import judge_mutants, judge_rewrites


@pytest.mark.parametrize("number", range(2, 54, 9))
def test_every_rewrite_is_proved_or_listed(number: int) -> None:
    tally = judge_rewrites(number, seed=11)
    assert not tally.wrong, "\n".join(tally.wrong)


@pytest.mark.parametrize("number", range(1, 54, 12))
def test_no_observable_mutant_is_proved(number: int) -> None:
    tally = judge_mutants(number, seed=12, each=2)
    assert not tally.wrong, "\n".join(tally.wrong)
