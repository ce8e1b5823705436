"""Tables: aligned columns for files and pipes, rich ones for terminals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO

from onnxpad.show.wording import visible

_GAP = 2
_LEGIBLE = 8
_SHORT_WORD = 12
_ELLIPSIS = "…"
_WIDEST = 1_000  # a longer cell stands out of its column: others are not filled up to it


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal that shows colours, `width` characters wide."""

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

    A terminal breaks cells between words and shortens long words under the headers `names` in the
    middle; the columns under `whole` stay as they are. One that is too narrow for that gets the
    same text as a file.
    """
    if not rows:
        return ""
    rows = [[visible(cell) for cell in row] for row in rows]
    columns = list(zip(headers, *rows, strict=True))
    longest = [max(len(cell) for cell in column) for column in columns]
    if terminal is None:
        return _plain(headers, rows, longest)
    least = [
        most if column[0] in whole else _least(column, shortens=column[0] in names)
        for column, most in zip(columns, longest, strict=True)
    ]
    room = _room(longest, least, terminal.width - _GAP * (len(longest) - 1))
    return _plain(headers, rows, longest) if room is None else _rich(headers, rows, room)


def _least(column: Sequence[str], *, shortens: bool) -> int:
    """How narrow a column may get: its longest word, but something legible."""
    word = max((len(word) for cell in column for word in cell.split()), default=0)
    word = min(word, _SHORT_WORD) if shortens else word
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
    if len(cell) <= width:
        return cell
    lines: list[str] = []
    for word in (_shortened(word, width) for word in cell.split()):
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return "\n".join(lines)


def _shortened(word: str, width: int) -> str:
    """The begin and the end of a word that is too long."""
    if len(word) <= width:
        return word
    kept = width - len(_ELLIPSIS)
    return word[: kept - kept // 2] + _ELLIPSIS + word[len(word) - kept // 2 :]


def _rich(headers: Sequence[str], rows: Sequence[Sequence[str]], room: Sequence[int]) -> str:
    from rich.console import Console  # slow to import, and only for terminals
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, header_style="bold", padding=(0, _GAP, 0, 0))
    for header, width in zip(headers, room, strict=True):
        grid.add_column(header, overflow="fold", width=width)
    for row in rows:
        grid.add_row(*(Text(_folded(*pair)) for pair in zip(row, room, strict=True)))
    written = StringIO()
    console = Console(file=written, force_terminal=True, width=sum(room) + _GAP * (len(room) - 1))
    console.print(grid)
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines())
