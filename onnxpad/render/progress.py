"""A progress bar over several models, on a terminal only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO, TypeVar

Item = TypeVar("Item")


def following(
    items: Sequence[Item], stream: TextIO, *, shown: bool, shares_screen: bool
) -> Iterator[Item]:
    """`items`, with a bar on `stream` that shows how many are done.

    `shares_screen` says that standard output is on the same terminal, so that its lines have to
    go above the bar.
    """
    if not shown or len(items) < 2:
        yield from items
        return
    from rich.console import Console  # slow to import, and only for terminals
    from rich.progress import Progress

    bar = Progress(console=Console(file=stream), transient=True, redirect_stdout=shares_screen)
    with bar:
        yield from bar.track(items, description="models")
