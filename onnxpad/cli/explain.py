"""Say what a pass, target, form, operator, convention, trap or optimiser is, or a topic.

    onnxpad explain
    onnxpad explain exit-codes
    onnxpad explain AveragePool
    onnxpad explain opencv Resize
    onnxpad explain opencv --reproduce output-shape -o DIR
    onnxpad explain --html DIR

Without NAME it lists all names. Topics are guides to the verbs and tables. With WORD, such as an
operator, only facts that have it are told. With --reproduce ROW it writes the smallest model that
shows what a target gets wrong, ready for a bug report; ROW stands in front of the fact in what
explain TARGET prints.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

import onnxpad
from onnxpad.cli.outputs import write_reproducer
from onnxpad.cli.streams import FINE, show, terminal, working


def explain(given: dict[str, Any]) -> int:
    """Print one entry, the list of all, or a schema; or write a reproducer, or pages."""
    name, word = given["name"], given["word"]
    if given["html"] is not None:
        return _site(given["html"])
    if given["schema"] is not None:
        sys.stdout.write(_schema_of(given["schema"]))
        return FINE
    if given["reproduce"]:
        from onnxpad.reproducing import reproduce

        return write_reproducer(lambda: reproduce(name, given["reproduce"]), given)
    from onnxpad import explaining  # only this verb needs it
    from onnxpad.reports import json_line
    from onnxpad.show import explanations

    entries = explaining.entries() if name is None else explaining.explain(name)
    entries = entries if word is None else tuple(entry.about(word) for entry in entries)
    everything, shown = given["everything"], terminal(sys.stdout)
    if given["as_json"]:
        sys.stdout.writelines(json_line(entry.to_json()) for entry in entries)
    elif name is None:
        listed = explanations.list_text if everything else explanations.overview_text
        show(listed(entries, shown))
    else:
        text = explanations.explanation_text
        show("\n".join(text(entry, shown, everything=everything) for entry in entries))
    return FINE


def _site(folder: str) -> int:
    """Write the reference as pages."""
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


def _schema_of(verb: str) -> str:
    """The schema of a verb, as it is shipped."""
    folder = Path(onnxpad.__file__).parent / "schemas"
    known = sorted(file.stem for file in folder.glob("*.json"))
    if verb not in known:
        raise click.UsageError(f"--schema {verb}: the verbs are {', '.join(known)}")
    return (folder / f"{verb}.json").read_text(encoding="utf-8")
