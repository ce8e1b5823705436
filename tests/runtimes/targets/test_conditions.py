"""The vocabulary is shared: what built-in targets ask for rarely is asked for by some of them."""

from __future__ import annotations

from pathlib import Path

from onnxpad import runtimes
from onnxpad.runtimes.conditions.words import LEARNABLE, WORDS
from onnxpad.runtimes.rule_files import GROUPS

FILES = [one.read_text(encoding="utf-8") for one in Path(runtimes.__path__[0]).rglob("*.toml")]
MOST_ALONE = 20
"""Formulas of one runtime: where no pass leads out, or most of what they spare is healthy."""


def users(name: str) -> int:
    """How many files use a word or a group of operators."""
    return sum(
        f'"{name}"' in text or f'"not {name}"' in text or f"\n{name} =" in text for text in FILES
    )


def test_every_rare_word_serves_a_target() -> None:
    assert [name for name in WORDS.keys() - LEARNABLE.keys() if not users(name)] == []


def test_few_words_serve_one_target_alone() -> None:
    assert len([name for name in WORDS.keys() - LEARNABLE.keys() if users(name) == 1]) <= MOST_ALONE


def test_every_group_of_operators_stands_in_a_table() -> None:
    assert [name for name in GROUPS if not users(name)] == []
