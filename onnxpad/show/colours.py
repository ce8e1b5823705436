"""Colour says what is fine, what is wrong, and what was refused or left; nothing else has any."""

from __future__ import annotations

import re

_FINE, _WRONG, _LEFT = "32", "31", "33"
_OF_LINES = {
    _FINE: ("explained", "identical", "proved", "rounding", "validation: proved"),
    _WRONG: (
        *("breaks", "different", "error", "fails", "not explained", "validation: different"),
        "wrong change",
    ),
    _LEFT: (
        *("no way", "not proved and not refuted", "nothing written", "skip", "tolerated", "trap"),
        *("unknown", "unverified", "warning"),
    ),
}
_OF_CELLS = {
    _FINE: ("takes",),
    _WRONG: ("miscomputes",),
    _LEFT: ("falls back", "no way", "refuses", "unknown"),
}


def painted(text: str) -> str:
    """The text with colours for terminals: of words that begin a line, and of cells of tables."""
    text = _BEGINNINGS.sub(lambda found: _in_colour(found[0], _LINES[found[0]]), text)
    return _CELLS_APART.sub(lambda found: _in_colour(found[0], _CELLS[found[0]]), text)


def _in_colour(text: str, colour: str) -> str:
    return f"\x1b[{colour}m{text}\x1b[0m"


def _by_word(colours: dict[str, tuple[str, ...]]) -> dict[str, str]:
    return {word: colour for colour, words in colours.items() for word in words}


def _either(words: dict[str, str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_LINES, _CELLS = _by_word(_OF_LINES), _by_word(_OF_CELLS)
_BEGINNINGS = re.compile(rf"^(?:{_either(_LINES)})(?=[:,])", re.MULTILINE)
_CELLS_APART = re.compile(rf"(?<=  )(?:{_either(_CELLS)})(?=  |$| \d)", re.MULTILINE)
