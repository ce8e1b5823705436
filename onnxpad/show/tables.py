"""Tables: aligned columns, folded between words where there is less room than they need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from textwrap import wrap

from onnxpad.show.wording import visible

_GAP = "  "
_LEGIBLE = (12, 8)  # characters: cells are folded into fewer only where nothing else fits


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal, `width` characters wide."""

    width: int


def row_texts(
    headers: Sequence[str], rows: Sequence[Sequence[str]], terminal: Terminal
) -> list[str]:
    """The headers and each row, which are one line or, where they are folded, several.

    No word is broken: addresses are typed again. Where the columns are too wide even so, the first
    stands above the others; where that is too wide as well, nothing is folded.
    """
    if not rows:
        return []
    lines = [list(headers), *([visible(cell) for cell in row] for row in rows)]
    columns = list(zip(*lines, strict=True))
    widths = [max(map(len, column)) for column in columns]
    words = [
        max((len(w) for cell in column for w in cell.split()), default=0) for column in columns
    ]
    width = terminal.width - len(_GAP) * (len(headers) - 1)
    for legible in _LEGIBLE if sum(widths) > width else ():
        least = [max(word, min(legible, most)) for word, most in zip(words, widths, strict=True)]
        room = _room(widths, least, width) or _room([0, *widths[1:]], [0, *least[1:]], width)
        if room is not None:
            return ["\n".join(_folded(line, room)) for line in lines]
    return [_aligned(line, widths) for line in lines]


def _room(widths: Sequence[int], least: Sequence[int], width: int) -> list[int] | None:
    """A width for each column, taken from the widest first; None where that is too little."""
    room = list(widths)
    while sum(room) > width:
        loose = [index for index, length in enumerate(room) if length > least[index]]
        if not loose:
            return None
        room[max(loose, key=room.__getitem__)] -= 1
    return room


def _folded(line: Sequence[str], room: Sequence[int]) -> Iterator[str]:
    """The lines of a row; a first column without room stands above the others."""
    if not room[0]:
        yield line[0]
        line = ["", *line[1:]]
    cells = [
        [cell] if len(cell) <= width else wrap(cell, width, break_on_hyphens=False)
        for cell, width in zip(line, room, strict=True)
    ]
    for parts in zip_longest(*cells, fillvalue=""):
        yield _aligned(parts, room)


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
    return _GAP.join(cells).rstrip()
