"""Files that a verb writes beside models: pages, plans, certificates, reproducers."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onnxpad import __version__
from onnxpad.cli.streams import FINE, STANDARD, show
from onnxpad.errors import ModelError, RequestError

if TYPE_CHECKING:
    from onnxpad.reproducing import Reproducer
    from onnxpad.show.document import Document

_PAGE = b"<!doctype html>"


def refuse_overwriting(option: str, path: str | None, inputs: Iterable[str | None]) -> None:
    """UsageError where `path` is one of the files that the command reads, or in a folder of them.

    Links, hard links and other spellings of a path count as the file itself.
    """
    if path is None or path == STANDARD:
        return
    for given in inputs:
        if given is not None and given != STANDARD and _same_file_or_within(given, path):
            cure = f"give another {option}"
            raise click.UsageError(f"'{path}' is an input, which is never overwritten: {cure}")


def _same_file_or_within(given: str, path: str) -> bool:
    """A folder test_data_set_* is read as its .pb files, in it or one folder further down."""
    folder = Path(given)
    files = [folder]
    if folder.is_dir():
        files = [*folder.glob("*.pb"), *folder.glob("*/*.pb")]
    return any(_same_file(file, path) for file in files)


def _same_file(first: Path, second: str) -> bool:
    try:
        return first.samefile(second)
    except OSError:
        return os.path.realpath(first) == os.path.realpath(second)


def check_place(
    option: str, path: str | None, inputs: Iterable[str | None], *, may_print: bool = False
) -> None:
    """Errors where a file cannot be written, before there is work to lose.

    With `may_print` '-' stands for standard output.
    """
    if path is None:
        return
    if path == STANDARD and not may_print:
        raise click.UsageError(f"{option} needs the name of a file: the report is printed")
    refuse_overwriting(option, path, inputs)
    from onnxpad.model.files.delivery import check_target

    try:
        check_target(path)
    except ModelError as error:
        raise RequestError(f"{option}: {error!s}") from error


def write_file(option: str, path: str, data: bytes) -> None:
    """Write a file, all or nothing where it can be replaced; RequestError where that fails."""
    from onnxpad.model.files.delivery import deliver

    try:
        deliver([memoryview(data)], (), path, origin=None)
    except ModelError as error:
        raise RequestError(f"{option}: {error!s}") from error.__cause__


def check_page(path: str | None, inputs: Iterable[str | None], *, many: bool = False) -> None:
    """Errors where the page of --html cannot be made or written."""
    if path is None:
        return
    if many:
        raise click.UsageError("--html is about one model: give one, without --dask and --failing")
    check_place("--html", path, inputs)
    from onnxpad.show.pages.templates import check_installed

    if Path(path).is_file():
        with Path(path).open("rb") as file:
            begin = file.read(len(_PAGE))
        if begin and begin.lower() != _PAGE:  # weights, a plan, whatever was not meant
            raise RequestError(
                f"--html: '{path}' is there and is no page of HTML: give another name, or remove it"
            )
    check_installed()


def write_page(path: str | None, page: Callable[[], Document]) -> None:
    """Write a page and say so on standard error; RequestError where it fails."""
    if path is None:
        return
    from onnxpad.show.pages.page import page_html
    from onnxpad.show.wording import visible

    write_file("--html", path, page_html(page(), __version__).encode("utf-8", "backslashreplace"))
    show(f"wrote {visible(path)}\n", sys.stderr)


def write_reproducer(made: Callable[[], Reproducer], given: Mapping[str, Any]) -> int:
    """Write what `made` gives into the folder -o and say what is in it; FINE.

    Raises RequestError where the folder holds other files, before there is work to lose.
    """
    from onnxpad.reports import json_line
    from onnxpad.reproducing import FILES, refuse_folder
    from onnxpad.show.explanations import reproducer_text

    refuse_folder(given["output"], FILES)
    reproducer = made().save(given["output"], __version__)
    if given["as_json"]:
        sys.stdout.write(json_line(reproducer.to_json()))
    else:
        show(reproducer_text(reproducer))
    return FINE
