"""Progress bars, on a terminal only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TextIO, TypeVar

from onnxpad.show.wording import visible

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


@contextmanager
def trying(stream: TextIO, budget: float | None) -> Iterator[Callable[[str], None]]:
    """A bar that fills as `budget` seconds pass, or moves; it shows what is being tried."""
    from rich.console import Console  # slow to import, and only for terminals
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(bar_width=20), TimeElapsedColumn(), TextColumn("{task.description}"))
    started = monotonic()
    with Progress(*columns, console=Console(file=stream), transient=True) as bar:
        task = bar.add_task("", total=budget)

        def say(text: str) -> None:
            shown = escape(visible(text))
            bar.update(task, completed=monotonic() - started, description=shown)

        yield say
