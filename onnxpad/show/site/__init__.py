"""The reference as a static site: one page for each thing that `explain` explains, and a table.

It is made of the project's own files alone and loads nothing from anywhere. `contents` says what
stands on the page of an entry, `conformance` what each runtime does with each way of padding,
`drawings` draws, `search` makes the index of the search.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from onnxpad.explaining import KINDS, entries
from onnxpad.model.small_models import text_lines
from onnxpad.reproducing.specimens import drafted
from onnxpad.reproducing.ways import Way, file_of, ways
from onnxpad.sessions import check_device
from onnxpad.show.explanations import PLURALS
from onnxpad.show.pages.templates import rendered, text_of
from onnxpad.show.site.conformance import SIGNS, address_of, conformance, counted_words
from onnxpad.show.site.contents import page_of
from onnxpad.show.site.drawings import of_chain
from onnxpad.show.site.search import index_of
from onnxpad.validation.kernel_verdict import arrays_file

_ORDER = sorted(KINDS, key=lambda kind: kind != "target")
"""Kinds as the start page has them: who comes to look something up asks for a runtime first."""
_TITLE = "Padding of ONNX models"
INDEX, STYLE, SCRIPT, SEARCH = "index.html", "style.css", "site.js", "search.js"


def site_files(version: str) -> dict[str, bytes]:
    """Every file of the site by its name, the start page last.

    RuntimeUnavailable where jinja2 is not installed, or no onnxruntime: the outputs
    that its models are to have are run.
    """
    check_device("cpu")
    return dict(_files(version))


def _files(version: str) -> Iterator[tuple[str, bytes]]:
    page, explained = partial(_page, version=version), entries()
    table = conformance()
    for entry in explained:
        yield page("entry.html", entry.kind, entry.name, page=page_of(entry, table))
    for way in ways():
        cells, newest = table.of_way(way), table.of_way(way, newest=True)
        given = {"title": way.title, "way": way, "cells": cells, "outcomes": counted_words(newest)}
        lines, shown = text_lines(drafted(way.specimen)[0]), of_chain(way.title, way.chain)
        yield page("way.html", "way", way.name, lines=lines, shown=list(shown), **given)
        yield from downloads(way)
    for operator in table.operators:
        given = {"table": table, "operator": operator, "signs": SIGNS}
        yield page("table.html", "works", operator, title=f"Where {operator} works", **given)
    own = partial(text_of, package="onnxpad.show.site.templates")
    yield STYLE, (text_of("page.css") + text_of("figures.css") + own("site.css")).encode()
    yield SCRIPT, (text_of("page.js") + own("finding.js") + own("site.js")).encode()
    yield SEARCH, f"window.onnxpadIndex = {index_of(explained, table)};\n".encode()
    cards = {PLURALS[kind]: [one for one in explained if one.kind == kind] for kind in _ORDER}
    yield page(
        "index.html", "", INDEX, title=_TITLE, cards=cards, table=table, address_of=address_of
    )


def _page(template: str, kind: str, name: str, **given: object) -> tuple[str, bytes]:
    """The address of a page below the folder of its kind, and its HTML."""
    address = address_of(kind, name) if kind else name
    html = rendered(template, **{"root": "../" * bool(kind), "title": name, **given})
    return address, html.encode("utf-8", "backslashreplace")


def downloads(way: Way) -> Iterator[tuple[str, bytes]]:
    """The model of a way, an input for it, and what it computes by the ONNX text."""
    model, inputs, outputs = file_of(way)
    yield f"models/{way.name}.onnx", model
    yield f"models/{way.name}-input.npz", arrays_file(inputs)
    yield f"models/{way.name}-expected.npz", arrays_file(outputs)
