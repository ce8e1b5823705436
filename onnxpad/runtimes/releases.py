"""Releases of runtimes: which facts hold in which."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from onnxpad.runtimes.conditions.rows import Answer, Certainty, Row

_NUMBERS = re.compile(r"\d+(?:\.\d+)*")
_SPELLING = re.compile(r"v?\d+(\.\d+)*")


def is_release(text: str) -> bool:
    """Whether it is written as a release is: numbers with dots between."""
    return bool(_SPELLING.fullmatch(text))


def numbers(release: str) -> tuple[int, ...]:
    """What releases are compared by."""
    return tuple(int(number) for number in release.removeprefix("v").split("."))


def written_as(release: str, known: Sequence[str]) -> str:
    """A release as those that are known are written: dates, of a version that ends in its date.

    The wheel of ncnn 20261020 calls itself 1.0.20261020.
    """
    are_dates = all("." not in one for one in known)
    return release.rpartition(".")[2] if are_dates else release


def nearest_known(release: str, known: Sequence[str]) -> tuple[str, ...]:
    """The one of `known`, oldest first, that a release belongs to, else those next to it.

    One belongs to another of which it writes out more or less: 1.20.1 to 1.20, and 2026 to the
    newest of that year.
    """
    wanted = numbers(release)
    same = [one for one in known if are_one(one, release)]
    if same:
        return (same[-1],)
    older = [one for one in known if numbers(one) < wanted]
    newer = [one for one in known if numbers(one) > wanted]
    return (*older[-1:], *newer[:1])


def are_one(one: str, other: str) -> bool:
    """Whether one of two releases writes out more of the other."""
    a, b = numbers(one), numbers(other)
    return _begins(a, b) or _begins(b, a)


def rows_in(rows: Sequence[Row], releases: Sequence[str]) -> tuple[Row, ...]:
    """Rows that hold in these releases: in all of them where they take, in any otherwise."""
    return tuple(
        row
        for row in rows
        if (all if row.answer is Answer.TAKES else any)(_holds(row, one) for one in releases)
    )


def held(row: Row, known: Sequence[str]) -> str:
    """In which releases a row holds, of which `known` were run; '' for all of them.

    The nearest releases in which it was seen not to hold are named: what was never run may be
    either way.
    """
    if not (row.since or row.until):
        return ""
    before = [one for one in known if row.since and numbers(one) < numbers(row.since)]
    behind = [one for one in known if row.until and _is_newer(one, row.until)]
    others = [*before[-1:], *([row.gone] if row.gone else behind[:1])]
    both = f"{row.since} only" if row.since == row.until else f"from {row.since} up to {row.until}"
    one = f"since {row.since}" if row.since else f"up to {row.until}"
    words = both if row.since and row.until else one
    if not others:
        return words
    between = "" if others == [row.gone] else "; releases between were not run"
    return f"{words}, not in {' and '.join(others)}{between}"


class Change(NamedTuple):
    """A row that holds in one of two neighbouring releases: in the newer one if it `began`."""

    older: str
    newer: str
    row: Row
    began: bool


def changes(rows: Sequence[Row], known: Sequence[str]) -> tuple[Change, ...]:
    """What began or ended between each two of the known releases, the newest first."""
    found = (
        Change(older, newer, row, _holds(row, newer))
        for older, newer in reversed([*pairwise(known)])
        for row in rows
        if _holds(row, older) is not _holds(row, newer)
    )
    return tuple(found)


def shown_for(row: Row, release: str) -> Row:
    """The same row, whose evidence says so where it was measured with another release alone."""
    evidence = row.evidence
    versions = _NUMBERS.findall(evidence.where)
    is_of = any(are_one(one, release) or one.endswith(f".{release}") for one in versions)
    if is_of or evidence.certainty is not Certainty.MEASURED:
        return row
    return replace(row, evidence=replace(evidence, other_than=release))


def _is_newer(one: str, other: str) -> bool:
    return numbers(one) > numbers(other) and not are_one(one, other)


def _begins(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return one == other[: len(one)]


def _holds(row: Row, release: str) -> bool:
    at = numbers(release)
    if row.since and at < numbers(row.since):
        return False
    return not row.until or at <= numbers(row.until) or _begins(numbers(row.until), at)
