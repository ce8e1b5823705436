"""Files that a verb writes beside models: pages, plans, certificates, reproducers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onnxpad import __version__
from onnxpad.batch.inputs import refuse_inputs
from onnxpad.cli.options import Option
from onnxpad.cli.streams import FINE, STANDARD, show
from onnxpad.errors import ModelError, RequestError

if TYPE_CHECKING:
    from onnxpad.reproducing import Reproducer
    from onnxpad.show.document import Document

_BEGINS = {"--html": b"<", "--plan": b"{", "--certificate": b"{", "--counterexample": b"PK"}
"""How the file of an option begins: another one is never replaced by it."""
_READ = ("model", "existing", "there", "file", "words", "text")
"""Kinds of options that may name a file to read."""


def check_outputs(rows: Iterable[Option], given: Mapping[str, Any]) -> None:
    """Errors where a file that an option names cannot be written, before there is work to lose.

    It is none that the command reads or writes otherwise, nor one of another kind, such as weights.
    """
    read = [given[row.name] for row in rows if row.kind in _READ and given[row.name]]
    taken = [one for value in read for one in ((value,) if isinstance(value, str) else value)]
    for row in (row for row in rows if row.kind == "out"):
        path, option = given[row.name], row.spellings[0]
        if path is None or (path == STANDARD and "prints" in row.more):
            continue
        if path == STANDARD:
            raise click.UsageError(f"{option} needs the name of a file: the report is printed")
        refuse_reading(option, path, taken)
        taken.append(path)
        _check_place(option, path)


def _check_place(option: str, path: str) -> None:
    from onnxpad.model.files.delivery import check_target
    from onnxpad.show.pages.templates import check_installed

    begins = _BEGINS.get(option, b"")
    try:
        check_target(path)
        if Path(path).is_file():
            with Path(path).open("rb") as file:
                begin = file.read(len(begins))
            if begin and begin != begins:
                raise RequestError(f"{option}: '{path}' is a file of another kind: name another")
    except (ModelError, OSError) as error:
        raise RequestError(f"{option}: {error!s}") from error
    if option == "--html":
        check_installed()


def refuse_reading(option: str, path: str | None, inputs: Iterable[str | None]) -> None:
    """Raise UsageError if an output file is an input, or a sample in a folder of inputs."""
    read = [name for name in inputs if name not in (None, STANDARD)]
    folders = [Path(name) for name in read if Path(name).is_dir()] if path else []
    samples = [str(file) for folder in folders for file in folder.glob("**/*.pb")]
    try:
        refuse_inputs([*read, *samples], [path], option)
    except RequestError as error:
        raise click.UsageError(str(error)) from None


def write_file(option: str, path: str, data: bytes) -> None:
    """Write a file, all or nothing where it can be replaced; RequestError where that fails."""
    from onnxpad.model.files.delivery import deliver

    try:
        deliver([memoryview(data)], (), path, origin=None)
    except ModelError as error:
        raise RequestError(f"{option}: {error!s}") from error.__cause__


def write_page(path: str | None, page: Callable[[], Document]) -> None:
    """Write a page and name its file on standard error. Raises RequestError if that fails."""
    if path is None:
        return
    from onnxpad.show.pages.page import page_html
    from onnxpad.show.wording import visible

    write_file("--html", path, page_html(page(), __version__).encode("utf-8", "backslashreplace"))
    show(f"wrote {visible(path)}\n", sys.stderr)


def write_reproducer(make: Callable[[], Reproducer], given: Mapping[str, Any]) -> int:
    """Write what `make` gives into the folder -o and say what is in it; FINE.

    Raises RequestError where the folder holds other files, before there is work to lose.
    """
    from onnxpad.reports import json_line
    from onnxpad.reproducing import FILES, refuse_folder
    from onnxpad.show.explanations import reproducer_text

    refuse_folder(given["output"], FILES)
    reproducer = make().save(given["output"], __version__)
    if given["as_json"]:
        sys.stdout.write(json_line(reproducer.to_json()))
    else:
        show(reproducer_text(reproducer))
    return FINE
