"""Tables: aligned columns for files and pipes, rich ones for terminals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO

_GAP = 2
_LEGIBLE = 8


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal that shows colours, `width` characters wide."""

    width: int


def table(
    headers: Sequence[str], rows: Sequence[Sequence[str]], terminal: Terminal | None = None
) -> str:
    """Rows under headers. Nothing is ever cut off: a terminal folds what is too long.

    A terminal that is too narrow to fold legibly gets the same text as a file.
    """
    if not rows:
        return ""
    columns = list(zip(headers, *rows, strict=True))
    longest = [max(len(cell) for cell in column) for column in columns]
    room = None if terminal is None else _room(longest, terminal.width - _GAP * len(longest))
    return _plain(headers, rows, longest) if room is None else _rich(headers, rows, room)


def _room(longest: Sequence[int], width: int) -> list[int] | None:
    """A width for each column, taken from the widest first; None where that is too little.

    What that leaves over goes to the first column, which holds names.
    """
    room = list(longest)
    while (excess := sum(room) - width) > 0:
        widest = max(room)
        if widest <= _LEGIBLE:
            return None
        below = max((length for length in room if length < widest), default=_LEGIBLE)
        many = room.count(widest)
        step = min(widest - max(below, _LEGIBLE), -(-excess // many))
        room = [length - step if length == widest else length for length in room]
    room[0] = min(longest[0], room[0] - excess)
    return room


def _plain(headers: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int]) -> str:
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (headers, *rows)
    ]
    return "\n".join(lines)


def _rich(headers: Sequence[str], rows: Sequence[Sequence[str]], room: Sequence[int]) -> str:
    from rich.console import Console  # slow to import, and only for terminals
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, header_style="bold", padding=(0, _GAP, 0, 0))
    for header, width in zip(headers, room, strict=True):
        grid.add_column(header, overflow="fold", width=width)
    for row in rows:
        grid.add_row(*(Text(cell) for cell in row))
    written = StringIO()
    console = Console(file=written, force_terminal=True, width=sum(room) + _GAP * len(room))
    console.print(grid)
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines())
