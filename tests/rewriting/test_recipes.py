"""Passes that go together do what their line in `explain recipes` says."""

from __future__ import annotations

from onnxpad.padding.forms import Form
from onnxpad.rewriting.passes import all_passes
from onnxpad.rewriting.recipes import ADVICE, RECIPES


def test_recipes_name_passes_and_what_they_take_away() -> None:
    known = all_passes()
    for recipe in RECIPES:
        gone = frozenset[Form]().union(*(known[name].removes for name in recipe.passes))
        assert set(recipe.forms) <= gone, recipe
    assert len({recipe.passes for recipe in RECIPES}) == len(RECIPES)


def test_advice_is_for_forms_that_no_pass_takes_away() -> None:
    removed = frozenset[Form]().union(*(rule.removes for rule in all_passes().values()))
    assert set(ADVICE) == set(Form) - removed
