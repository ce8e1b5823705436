"""The reference as a static site: one page for each thing that `explain` explains, and a table.

It is made of the project's own files alone and loads nothing from anywhere. `contents` makes a
document for each page, `conformance` says what each runtime does with each way of padding.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from onnxpad.explaining import entries
from onnxpad.reproducing.ways import Way, file_of, ways
from onnxpad.sessions import check_device
from onnxpad.show.document import Document
from onnxpad.show.pages.page import filled
from onnxpad.show.pages.templates import rendered, text_of
from onnxpad.show.site import contents
from onnxpad.show.site.conformance import SIGNS, Conformance, address_of, conformance
from onnxpad.validation.kernel_verdict import arrays_file

INDEX, STYLE, SCRIPT, SEARCH = "index.html", "style.css", "site.js", "search.js"


def site_files(version: str) -> dict[str, bytes]:
    """Every file of the site by its name, the start page last.

    RuntimeUnavailable where jinja2 is not installed, or no onnxruntime: the outputs
    that its models are to have are run.
    """
    check_device("cpu")
    return dict(_files(version))


def _files(version: str) -> Iterator[tuple[str, bytes]]:
    table = conformance()
    links = contents.links_of(table)
    for document in _documents(table):
        page = document.title, document.subject
        address = address_of(*page) if document.title else INDEX
        root = "../" * bool(document.title)
        given = filled(document, links={name: root + to for name, to in links.items()})
        html = rendered("entry.html", **given, version=version, root=root, title=document.subject)
        yield address, html.encode("utf-8", "backslashreplace")
    for operator in table.operators:
        given = {"table": table, "operator": operator, "signs": SIGNS, "address_of": address_of}
        title = f"Where {operator} works"
        html = rendered("table.html", **given, version=version, title=title, root="../")
        yield address_of("works", operator), html.encode()
    for way in ways():
        yield from downloads(way)
    own = "onnxpad.show.site.templates"
    yield STYLE, (text_of("page.css") + text_of("figures.css") + text_of("site.css", own)).encode()
    yield SCRIPT, (text_of("page.js") + text_of("site.js", own)).encode()
    yield SEARCH, f"window.onnxpadIndex = {json.dumps(contents.searched(table))};\n".encode()


def _documents(table: Conformance) -> Iterator[Document]:
    yield from (contents.entry_document(entry, table) for entry in entries())
    yield from (contents.way_document(way, table) for way in ways())
    yield contents.index_document(table)


def downloads(way: Way) -> Iterator[tuple[str, bytes]]:
    """The model of a way, an input for it, and what it computes by the ONNX text."""
    model, inputs, outputs = file_of(way)
    yield f"models/{way.name}.onnx", model
    yield f"models/{way.name}-input.npz", arrays_file(inputs)
    yield f"models/{way.name}-expected.npz", arrays_file(outputs)
