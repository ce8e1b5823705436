"""--html: where a page goes, and that it may."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onnxpad import __version__
from onnxpad.cli import destinations
from onnxpad.cli.exits import STANDARD
from onnxpad.cli.streams import show
from onnxpad.errors import ModelError, RequestError

if TYPE_CHECKING:
    from onnxpad.show.document import Document

html = click.option(
    "--html",
    type=click.Path(allow_dash=True),
    metavar="FILE",
    help="Write the report as a page with pictures as well: one file that loads nothing. Needs "
    "jinja2.",
)
_BEGIN = b"<!doctype html>"


def check(path: str | None, inputs: Sequence[str | None], *, many: bool = False) -> None:
    """Errors where a page cannot be made or written, before there is work to lose."""
    if path is None:
        return
    if many:
        raise click.UsageError("--html is about one model: give one, without --dask and --failing")
    if path == STANDARD:
        raise click.UsageError("--html needs the name of a file: the report is printed")
    destinations.refuse_overwriting(path, inputs, "give another --html")
    from onnxpad.model.files.delivery import check_target
    from onnxpad.show.pages.templates import check_installed

    try:
        check_target(path)
    except ModelError as error:
        raise RequestError(f"--html: {error.told}") from error
    if _is_something_else(Path(path)):
        raise RequestError(
            f"--html: '{path}' is there and is no page of HTML: give another name, or remove it"
        )
    check_installed()


def _is_something_else(path: Path) -> bool:
    """Whether a file stands there that is no page: weights, a plan, whatever was not meant."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        begin = file.read(len(_BEGIN))
    return begin != b"" and begin.lower() != _BEGIN


def write(path: str | None, page: Callable[[], Document]) -> None:
    """Write a page, all or nothing, and say so on standard error; RequestError where it fails."""
    if path is None:
        return
    from onnxpad.model.files.delivery import deliver
    from onnxpad.show.pages.page import page_html
    from onnxpad.show.wording import visible

    data = page_html(page(), __version__).encode("utf-8", "backslashreplace")
    try:
        deliver([memoryview(data)], (), path, origin=None)
    except ModelError as error:
        raise RequestError(f"--html: {error.told}") from error.__cause__
    show(f"wrote {visible(path)}\n", sys.stderr)
