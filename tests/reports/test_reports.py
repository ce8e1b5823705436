"""The one encoder of reports: fields by their names, and what a class declares beside them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import pytest

from onnxpad.reports import Report, json_line, plain, reported


class Colour(StrEnum):
    """A choice that is written as its text."""

    RED = "red"


class Place(NamedTuple):
    """A named tuple is an object, not a list."""

    scope: str
    label: str


@reported("place.label as node", "*", "settings.*", "twice", "reason as why")
@dataclass(frozen=True, slots=True)
class Finding(Report):
    """A report that declares every kind of entry."""

    place: Place
    reason: str
    sizes: tuple[int | None, ...]
    settings: dict[str, float]
    colour: Colour = Colour.RED

    schema = 3

    @property
    def twice(self) -> list[int]:
        """What is worked out."""
        return [2 * (size or 0) for size in self.sizes]


@reported("nothing")
@dataclass(frozen=True)
class Mistaken:
    """A class whose declaration names no attribute."""


def test_declared_entries_come_in_their_order() -> None:
    found = Finding(Place("", "conv"), "why not", (1, None), {"value": float("-inf")})
    assert list(found.to_json().items()) == [
        ("schema", 3),
        ("node", "conv"),
        ("sizes", [1, None]),
        ("colour", "red"),
        ("value", "-inf"),
        ("twice", [2, 0]),
        ("why", "why not"),
    ]


def test_a_class_without_declaration_is_its_fields() -> None:
    assert plain([Place("f", "a")]) == [{"scope": "f", "label": "a"}]


def test_lines_hold_no_number_that_json_lacks() -> None:
    line = json_line({"a": float("inf"), "b": (float("nan"), 1, "x"), "c": {"d": -1.5}})
    assert json.loads(line) == {"a": "inf", "b": ["nan", 1, "x"], "c": {"d": -1.5}}


def test_what_has_no_json_is_a_defect() -> None:
    with pytest.raises(TypeError, match="no JSON"):
        plain({"a": object()})
    with pytest.raises(AttributeError, match="nothing"):
        plain(Mistaken())
