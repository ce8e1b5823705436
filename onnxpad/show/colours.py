"""Colour says what is fine, what is wrong, and what was refused or left; nothing else has any."""

from __future__ import annotations

_FINE, _WRONG, _LEFT = "32", "31", "33"
_BEGINNINGS = {
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
    return "\n".join(map(_painted_line, text.split("\n")))


def _painted_line(line: str) -> str:
    for words, colour in _BEGINNINGS.items():
        if line.startswith((f"{words}:", f"{words},")):
            return _in_colour(words, colour) + line.removeprefix(words)
    first, *cells = line.split("  ")
    return "  ".join([first, *(_in_colour(one, _CELLS.get(one, "")) for one in cells)])


def _in_colour(text: str, colour: str) -> str:
    return f"\x1b[{colour}m{text}\x1b[0m" if colour else text
