"""The reference as a static site: one page for each thing that `explain` explains, and a table.

It is made of the project's own files alone and loads nothing from anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from onnxpad.explaining import KINDS, Explanation, entries
from onnxpad.model.assembled import text_lines
from onnxpad.reproducing.specimens import drafted
from onnxpad.reproducing.ways import Way, ways
from onnxpad.sessions import check_device
from onnxpad.show.explanations import PLURALS
from onnxpad.show.pages.templates import text_of
from onnxpad.show.site.conformance import (
    SIGNS,
    Table,
    conformance,
    downloads,
    outcomes_of,
)
from onnxpad.show.site.contents import page_of
from onnxpad.show.site.drawings import of_chain
from onnxpad.show.site.links import address_of
from onnxpad.show.site.search import index_of
from onnxpad.show.site.templates import filled, own_text

_ORDER = sorted(KINDS, key=lambda kind: kind != "target")
"""Kinds as the start page has them: who comes to look something up asks for a runtime first."""
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
        one = page_of(entry, table)
        yield one.address, page("entry.html", one.address, page=one, title=one.title)
    for way in ways():
        address = address_of("way", way.name)
        yield address, page("way.html", address, title=way.title, **_of_way(way, table))
        yield from downloads(way)
    for operator in table.operators:
        address = address_of("works", operator)
        given = {"table": table, "operator": operator, "signs": SIGNS}
        yield address, page("table.html", address, title=f"Where {operator} works", **given)
    yield STYLE, (text_of("page.css") + text_of("figures.css") + own_text("site.css")).encode()
    yield SCRIPT, (text_of("page.js") + own_text("finding.js") + own_text("site.js")).encode()
    yield SEARCH, f"window.onnxpadIndex = {index_of(explained, table)};\n".encode()
    kinds = [(PLURALS[kind], _cards(explained, kind)) for kind in _ORDER]
    yield (
        INDEX,
        page("index.html", INDEX, title="Padding of ONNX models", kinds=kinds, table=table),
    )


def _of_way(way: Way, table: Table) -> dict[str, object]:
    return {
        "way": way,
        "cells": table.of_way(way),
        "outcomes": outcomes_of(table, way),
        "shown": tuple(of_chain(way.title, way.chain)),
        "lines": text_lines(drafted(way.specimen)[0]),
    }


def _cards(explained: Sequence[Explanation], kind: str) -> list[tuple[str, str, str]]:
    return [
        (address_of(one.kind, one.name), one.name, one.headline)
        for one in explained
        if one.kind == kind
    ]


def _page(template: str, address: str, **given: object) -> bytes:
    html = filled(template, root="../" * address.count("/"), **given)
    return html.encode("utf-8", "backslashreplace")
