"""The table of options: every name in it exists, and no verb has a spelling twice."""

from __future__ import annotations

from collections.abc import Iterator

from onnxpad.cli.options import IDLE, OPTIONS, VERBS, Option, options_of
from onnxpad.cli.values import kind_of

WORDS = {
    *("many", "optional", "required", "set", "default", "alone", "words"),
    *("needs", "not", "prints"),
}


def wrong(row: Option) -> Iterator[str]:
    kind_of(row.kind)
    yield from set(row.more) - WORDS
    for verb in row.verbs:
        yield from {*row.names("needs"), *row.names("not")} - options_of(verb).keys()
    if not row.help and not row.is_argument:
        yield "no help"


def test_names_of_the_table_exist() -> None:
    assert {row.spellings: found for row in OPTIONS if (found := list(wrong(row)))} == {}
    for verbs, names, when, _ in IDLE:
        for verb in verbs.split():
            known = {*options_of(verb), "many"}
            assert {name.lstrip("-") for name in f"{names} {when}".split()} <= known


def test_no_verb_has_a_spelling_twice() -> None:
    for verb in VERBS:
        typed = [spelling for row in options_of(verb).values() for spelling in row.spellings]
        assert len(typed) == len(set(typed))
