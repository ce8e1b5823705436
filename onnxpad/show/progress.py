"""Progress bars, on a terminal only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TextIO

from onnxpad.show.wording import visible


@contextmanager
def counting(
    what: str, total: int, stream: TextIO, *, shown: bool, shares_screen: bool
) -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar on `stream` that shows how many of `total` are done, and the one that was done last.

    `shares_screen` says that standard output is on the same terminal, so that its lines have to
    go above the bar.
    """
    if not shown or total < 2:
        yield None
        return
    from rich.console import Console  # slow to import, and only for terminals
    from rich.markup import escape
    from rich.progress import Progress

    bar = Progress(console=Console(file=stream), transient=True, redirect_stdout=shares_screen)
    with bar:
        task = bar.add_task(what, total=total)

        def tell(model: str, done: int, _total: int) -> None:
            bar.update(task, completed=done, description=f"{what}, {escape(visible(model))}")

        yield tell
        bar.update(task, completed=total, description=what)


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
