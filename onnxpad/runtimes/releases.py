"""Releases of runtimes: which facts hold in which."""

from __future__ import annotations

import re
from collections.abc import Sequence

from onnxpad.runtimes.conditions.rows import Answer, Row

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


def held(row: Row) -> str:
    """In which of the releases that were run a row was seen to hold; '' for all of them."""
    if row.since and row.since == row.until:
        return f"{row.since} only"
    if row.since and row.until:
        return f"from {row.since} up to {row.until}"
    return f"since {row.since}" if row.since else f"up to {row.until}" if row.until else ""


def is_about(row: Row, release: str) -> bool:
    """Whether a row is known from a release."""
    return any(are_one(one, release) for one in _NUMBERS.findall(row.evidence.where))


def _begins(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return one == other[: len(one)]


def _holds(row: Row, release: str) -> bool:
    at = numbers(release)
    if row.since and at < numbers(row.since):
        return False
    return not row.until or at <= numbers(row.until) or _begins(numbers(row.until), at)
