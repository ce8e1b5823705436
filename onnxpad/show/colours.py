"""Colour says what is fine, what is wrong, and what was refused or left; nothing else has any."""

from __future__ import annotations

import re

_FINE, _WRONG, _LEFT = "32", "31", "33"
_LINES = {
    **dict.fromkeys(("explained", "identical", "proved", "rounding", "validation: proved"), _FINE),
    **dict.fromkeys(("breaks", "different", "error", "fails", "not explained"), _WRONG),
    **dict.fromkeys(("validation: different", "wrong change"), _WRONG),
    **dict.fromkeys(("no way", "not as it is", "not proved and not refuted", "skip"), _LEFT),
    **dict.fromkeys(("nothing written", "tolerated", "trap", "unknown", "unverified"), _LEFT),
    "warning": _LEFT,
}
_CELLS = {
    "takes": _FINE,
    "miscomputes": _WRONG,
    **dict.fromkeys(("falls back", "no way", "refuses", "unknown"), _LEFT),
}


def painted(text: str) -> str:
    """The text with colours for terminals: of words that begin a line, and of cells of tables."""
    text = _BEGINNINGS.sub(lambda found: _in_colour(found[0], _LINES[found[0]]), text)
    return _CELLS_APART.sub(lambda found: _in_colour(found[0], _CELLS[found[0]]), text)


def _in_colour(text: str, colour: str) -> str:
    return f"\x1b[{colour}m{text}\x1b[0m"


def _either(words: dict[str, str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_BEGINNINGS = re.compile(rf"^(?:{_either(_LINES)})(?=[:,])", re.MULTILINE)
_CELLS_APART = re.compile(rf"(?<=  )(?:{_either(_CELLS)})(?=  |$| \d)", re.MULTILINE)
