"""onnxpad explain."""

from __future__ import annotations

import sys
from pathlib import Path

import click

import onnxpad
from onnxpad.cli import arguments
from onnxpad.cli.exits import FINE
from onnxpad.cli.streams import show, terminal
from onnxpad.errors import nearest

_HELP = """Say what a pass, target, form, operator, convention, trap or optimiser is, or a topic.

Without NAME it lists all names. Topics are guides to the verbs and tables: installation,
exit-codes, limits, passes, recipes, targets ... With WORD, such as an operator, only facts that
have it are told.

\b
onnxpad explain
onnxpad explain split-pads
onnxpad explain AveragePool
onnxpad explain exit-codes
onnxpad explain opencv
onnxpad explain opencv Resize
onnxpad explain opencv --reproduce output-shape -o DIR
onnxpad explain --html DIR
onnxpad explain --schema inspect

With --reproduce ROW it writes the smallest model that shows what a target gets wrong, with an
input, the expected output and a script for the runtime, ready for a bug report. ROW is what stands
in front of the fact in what explain TARGET prints.
"""


@click.command(
    help=_HELP,
    short_help="Say what a pass, target, form, operator, convention, trap or optimiser is.",
)
@click.argument("name", required=False, shell_complete=arguments.completed())
@click.argument("word", required=False)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Every operator of every rule of a target, and how each is known; without NAME a "
    "line for each entry.",
)
@click.option(
    "--schema",
    metavar="VERB",
    help="Print the JSON Schema (2020-12) of what the verb prints with --json.",
)
@click.option(
    "--reproduce",
    "row",
    metavar="ROW",
    help="Write a model, an input, the expected output and a script that show this fact of a "
    "target into the folder -o DIR.",
)
@click.option("-o", "folder", type=click.Path(), metavar="DIR", help="The folder to write into.")
@click.option(
    "--html",
    "site",
    type=click.Path(),
    metavar="DIR",
    help="Write everything as pages that need no network, with pictures, search and what works "
    "where. Needs jinja2.",
)
@arguments.spoken
def explain(  # noqa: PLR0913 - one option each
    *,
    name: str | None,
    word: str | None,
    everything: bool,
    schema: str | None,
    row: str | None,
    folder: str | None,
    site: str | None,
    as_json: bool,
) -> int:
    """Print one entry, the list of all, or a schema; or write a reproducer, or pages."""
    if site is not None:
        if name is not None or schema is not None or row is not None or folder is not None:
            raise click.UsageError("--html DIR writes everything: give nothing else")
        return _site(site)
    if schema is not None:
        if name is not None:
            raise click.UsageError("--schema VERB explains no NAME: give one of them")
        sys.stdout.write(_schema_of(schema))
        return FINE
    if row is not None or folder is not None:
        if name is None or row is None or folder is None:
            raise click.UsageError(
                "a reproducer needs a target, a row and a folder: "
                "onnxpad explain TARGET --reproduce ROW -o DIR"
            )
        return _reproduced(name, row, folder, as_json=as_json)
    from onnxpad import explaining  # only this verb needs it
    from onnxpad.reports import json_line
    from onnxpad.show import explanations

    found = explaining.entries() if name is None else explaining.explain(name)
    found = found if word is None else tuple(entry.about(word) for entry in found)
    shown = terminal(sys.stdout)
    if as_json:
        sys.stdout.writelines(json_line(entry.to_json()) for entry in found)
    elif name is None:
        listed = explanations.list_text if everything else explanations.overview_text
        show(listed(found, shown))
    else:
        texts = (
            explanations.explanation_text(entry, shown, everything=everything) for entry in found
        )
        show("\n".join(texts))
    return FINE


def _site(folder: str) -> int:
    """Write the reference as pages."""
    from onnxpad.cli.streams import working
    from onnxpad.model.files.delivery import refuse_folder, write_folder
    from onnxpad.show.pages.templates import check_installed
    from onnxpad.show.site import INDEX, site_files

    check_installed()
    refuse_folder(folder)
    with working("writing pages"):
        files = site_files(onnxpad.__version__)
        write_folder(folder, files)
    show(f"{len(files)} files; open {Path(folder) / INDEX}\n")
    return FINE


def _reproduced(target: str, row: str, folder: str, *, as_json: bool) -> int:
    """Write a reproducer and say what is in it."""
    from onnxpad.cli.reproducers import written
    from onnxpad.reproducing import reproduce

    return written(lambda: reproduce(target, row), folder, as_json=as_json)


def _schema_of(verb: str) -> str:
    """The schema of a verb, as it is shipped."""
    folder = Path(onnxpad.__file__).parent / "schemas"
    known = sorted(file.stem for file in folder.glob("*.json"))
    if verb not in known:
        near = [f"did you mean '{one}'?" for one in nearest(verb, known)]
        cure = "".join(near) or f"the verbs are {', '.join(known)}"
        raise click.UsageError(f"--schema {verb}: no verb is called like this; {cure}")
    return (folder / f"{verb}.json").read_text(encoding="utf-8")
