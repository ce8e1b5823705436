"""Verbs that work out one thing and report it: explain, guard, measure, port, resolve."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import onnxpad
from onnxpad.cli import outputs
from onnxpad.cli.streams import (
    FINDINGS,
    FINE,
    STANDARD,
    keywords,
    report,
    show,
    terminal,
    working,
)

if TYPE_CHECKING:
    from onnxpad.show.document import Document

_WINDOW = ("kernel", "stride", "dilation", "groups")


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

        return outputs.write_reproducer(lambda: reproduce(name, given["reproduce"]), given)
    from onnxpad import explaining  # only this verb needs it
    from onnxpad.reports import json_line
    from onnxpad.show import explanations

    entries = explaining.entries() if name is None else explaining.explain(name)
    entries = entries if word is None else tuple(entry.about(word) for entry in entries)
    everything, shown = given["everything"], terminal(sys.stdout)
    if given["as_json"]:
        sys.stdout.writelines(json_line(entry.to_json()) for entry in entries)
    elif name is None:
        show(explanations.listing_text(entries, shown, everything=everything))
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


def guard(given: dict[str, Any]) -> int:
    """Guard and print the verdict."""
    from onnxpad.guarding import guard as run_guarded  # loads numpy and onnx
    from onnxpad.show.guardings import guarding_document

    command = given["command"]
    with ExitStack() as behind:

        @cache
        def line() -> Callable[[str], None]:
            return behind.enter_context(working("comparing"))

        def tell(step: str) -> None:  # not before the command has left the terminal
            line()(step)

        options = keywords("guard", given) | {"quiet_stdout": given["as_json"]}
        guarding = run_guarded(command, **options, progress=tell)
    outputs.write_page(given["html"], partial(guarding_document, guarding, each=True))
    report(given, guarding.to_json, lambda: guarding_document(guarding))
    return FINE if guarding.ok else FINDINGS


def measure(given: dict[str, Any]) -> int:
    """Measure, print what came out, and write the target file."""
    from onnxpad import measuring  # loads numpy and onnx

    given["live"] = given["live"] or None
    target, output = given["target"], given["output"]
    if output is not None:
        measuring.check_place(output)
    with working(f"starting {target}") as tell:
        measurement = measuring.measure(target, progress=tell, **keywords("measure", given))
    if output is not None:
        measurement.save(output)

    def document() -> Document:
        from onnxpad.show.measurements import measurement_document

        return measurement_document(measurement, output)

    stream = sys.stderr if output == STANDARD else sys.stdout
    report(given, measurement.to_json, document, stream)
    return FINE


def port(given: dict[str, Any]) -> int:
    """Port and print the code."""
    from onnxpad.porting import port as port_model  # loads onnx
    from onnxpad.show import portings
    from onnxpad.show.pasting import language_called

    model, language = given["model"], language_called(given["language"])
    with working(model):
        porting = port_model(model, **keywords("port", given))

    def record() -> dict[str, Any]:
        plain = porting.to_json()
        for node, one in zip(plain["nodes"], porting.nodes, strict=True):
            node.update(portings.record(one, language))
        return {"file": model, "language": language, **plain}

    report(given, record, lambda: portings.porting_document(porting, language, model))
    return FINE if portings.complete(porting, language) else FINDINGS


def resolve(given: dict[str, Any]) -> int:
    """Resolve one layer, or two, and print what was found."""
    from onnxpad.frameworks.choices import Role
    from onnxpad.resolving import resolve_general

    window = {Role(name): given[name] for name in _WINDOW if given[name] is not None}
    padding = {} if given["padding"] is None else {Role.PADDING: given["padding"]}
    framework, op, attributes = given["framework"], given["op"], given["attributes"]
    shapes = {name: given[name] for name in ("input_shape", "weight_shape")}
    layer = resolve_general(
        framework, op, **shapes, general={**window, **padding}, attributes=attributes
    )
    if given["compare"] is None:
        return _report_one(layer, given)
    from onnxpad.resolving.differences import compare
    from onnxpad.show.resolutions import difference_document

    framework, attributes = given["compare"]
    other = resolve_general(
        framework, op, **shapes, general=window, attributes=attributes, wins=True
    )
    difference = compare(layer, other)
    report(given, difference.to_json, lambda: difference_document(difference))
    return FINE


def _report_one(layer: Any, given: Mapping[str, Any]) -> int:  # noqa: ANN401 - a Resolution
    from onnxpad.show.pasting import code_of, language_called
    from onnxpad.show.resolutions import resolution_document

    code = None
    if given["language"] is not None:
        language = language_called(given["language"])
        code = (language, code_of(layer, language))
    more = {} if code is None else {"code": code[1]}
    report(given, lambda: layer.to_json() | more, lambda: resolution_document(layer, code))
    return FINE
