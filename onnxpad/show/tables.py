"""Tables: aligned columns, folded where a terminal is narrower than they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from onnxpad.show.wording import visible

_GAP = 2
_LEGIBLE = 8
_SHORT_WORD = 12
_SEPARATORS = ("/", ".", ";", ":", "_")
_WIDEST = 1_000  # a longer cell stands out of its column: others are not filled up to it


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal, `width` characters wide."""

    width: int


def table(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    terminal: Terminal | None = None,
    *,
    names: Sequence[str] = (),
    whole: Sequence[str] = (),
) -> str:
    """Rows under headers; in a file or pipe nothing is cut off.

    A terminal breaks cells between words, and under the headers `names` anywhere; where the first
    of these is the first column and too long, it stands above the others, for addresses are typed
    again. The columns under `whole` stay as they are. A terminal that is too narrow for that gets
    the same text as a file.
    """
    if not rows:
        return ""
    rows = [[visible(cell) for cell in row] for row in rows]
    columns = list(zip(headers, *rows, strict=True))
    longest = [max(len(cell) for cell in column) for column in columns]
    if terminal is None:
        return _plain(headers, rows, longest)
    least = [
        most if column[0] in whole else _least(column, breaks=column[0] in names)
        for column, most in zip(columns, longest, strict=True)
    ]
    width = terminal.width - _GAP * (len(headers) - 1)
    room = _room(longest, least, width)
    if headers[0] in names and (room is None or room[0] < longest[0]):
        room = _room([0, *longest[1:]], [0, *least[1:]], width)
    return _plain(headers, rows, longest) if room is None else _narrow([headers, *rows], room)


def _least(column: Sequence[str], *, breaks: bool) -> int:
    """How narrow a column may get: its longest word, but something legible."""
    word = max((len(word) for cell in column for word in cell.split()), default=0)
    word = min(word, _SHORT_WORD) if breaks else word
    longest = max(len(cell) for cell in column)
    return max(len(column[0]), min(longest, max(word, _LEGIBLE)))


def _room(longest: Sequence[int], least: Sequence[int], width: int) -> list[int] | None:
    """A width for each column, taken from the widest first; None where that is too little."""
    room = list(longest)
    while (excess := sum(room) - width) > 0:
        loose = [index for index, length in enumerate(room) if length > least[index]]
        if not loose:
            return None
        widest = max(room[index] for index in loose)
        for index in [index for index in loose if room[index] == widest][:excess]:
            room[index] -= 1
    return room


def _plain(headers: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int]) -> str:
    lines = [
        "  ".join(
            cell.ljust(min(width, _WIDEST)) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in (headers, *rows)
    ]
    return "\n".join(lines)


def _folded(cell: str, width: int) -> str:
    """The cell in lines of at most `width`, broken between words."""
    if not width or len(cell) <= width:
        return cell
    lines: list[str] = []
    for word in cell.split():
        first, *rest = _pieces(word, width)
        if lines and len(lines[-1]) + 1 + len(first) <= width:
            lines[-1] += f" {first}"
        else:
            lines.append(first)
        lines += rest
    return "\n".join(lines)


def _pieces(word: str, width: int) -> Iterator[str]:
    """The word in pieces of at most `width`, broken in front of a separator where one is near."""
    while len(word) > width:
        near = max(word.rfind(one, width // 2, width + 1) for one in _SEPARATORS)
        cut = near if near > 0 else width
        yield word[:cut]
        word = word[cut:]
    yield word


def _narrow(lines: Sequence[Sequence[str]], room: Sequence[int]) -> str:
    """The lines in columns of this width; a first column without room stands above the others."""
    written: list[str] = []
    for line in lines:
        cells = [_folded(*pair).split("\n") for pair in zip(line, room, strict=True)]
        if not room[0]:
            written.append(line[0])
            cells[0] = []
        for parts in zip_longest(*cells, fillvalue=""):
            padded = (part.ljust(width) for part, width in zip(parts, room, strict=True))
            written.append((" " * _GAP).join(padded).rstrip())
    return "\n".join(written)
