"""The reference as pages that load nothing: one for each thing that `explain` explains.

Pages of operators have a table of which way of padding works in the newest release of each runtime,
pages of runtimes one of what they do with each way, and why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from onnxpad.explaining import KINDS, Explanation, entries
from onnxpad.reproducing.ways import judged, ways
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.judge import Judgement
from onnxpad.runtimes.targets import all_targets
from onnxpad.sessions import check_device
from onnxpad.show.document import Document, Section, Table
from onnxpad.show.explanations import PLURALS, explanation_document
from onnxpad.show.pages.page import filled
from onnxpad.show.pages.templates import rendered, text_of

INDEX = "index.html"
_NO_RUNTIME = "portable"  # which stands for what all of them take
_ABOUT = (
    "What runtimes, frameworks and tools do with the padding of ONNX models. All of it is also "
    "printed by `onnxpad explain NAME`."
)
_Judgements = Mapping[tuple[str, str], Judgement]


def site_files(version: str) -> dict[str, bytes]:
    """Every file of the site by its name, the start page last.

    RuntimeUnavailable where jinja2 is not installed, or no onnxruntime, which gives the shapes of
    the models that runtimes are judged by.
    """
    check_device("cpu")
    targets = [target for name, target in all_targets().items() if name != _NO_RUNTIME]
    judgements = {(way.title, one.name): judged(one, way) for way in ways() for one in targets}
    addresses = {_label(entry): _address(entry) for entry in entries()}
    links = {name: f"../{address}" for name, address in addresses.items()}
    pages = {}
    for entry in entries():
        document = explanation_document(entry)
        sections = (*document.sections, *_what_works(entry, judgements))
        given = filled(replace(document, sections=sections), links=links)
        pages[_address(entry)] = rendered("site.html", **given, version=version, root="../")
    lists = (_listed(kind) for kind in sorted(KINDS, key=lambda kind: kind != "target"))
    index = Document("onnxpad", "Padding of ONNX models", _ABOUT, sections=tuple(lists))
    pages[INDEX] = rendered("site.html", **filled(index, links=addresses), version=version, root="")
    styles = text_of("page.css") + text_of("figures.css")
    files = {"style.css": styles, "page.js": text_of("page.js"), **pages}
    return {name: text.encode("utf-8", "backslashreplace") for name, text in files.items()}


def _listed(kind: str) -> Section:
    rows = tuple((_label(one), one.headline) for one in entries() if one.kind == kind)
    table = Table(("name", "what it is"), rows, PLURALS[kind])
    return Section(kind, PLURALS[kind].capitalize(), table=table)


def _label(entry: Explanation) -> str:
    """Its name, with its kind where a target has that name as well."""
    same = entry.kind != "target" and entry.name in all_targets()
    return f"{entry.name} ({entry.kind})" if same else entry.name


def _address(entry: Explanation) -> str:
    """The file of its page, below the folder of the site."""
    letters = (
        one if one.isascii() and (one.isalnum() or one in "._-") else "-" for one in entry.name
    )
    return f"{entry.kind}/{''.join(letters)}.html"


def _what_works(entry: Explanation, judgements: _Judgements) -> Iterator[Section]:
    headers: tuple[str, ...] = ("way of padding", *Answer)
    rows: list[tuple[str, ...]] = []
    if entry.kind == "operator":
        for title in (way.title for way in ways() if way.operator == entry.name):
            answers = {name: one.answer for (way, name), one in judgements.items() if way == title}
            rows.append((title, *(_having(answers, answer) for answer in Answer)))
    elif entry.kind == "target":
        headers = ("way of padding", "verdict", "why")
        mine = {way: one for (way, name), one in judgements.items() if name == entry.name}
        worst = sorted(mine.items(), key=lambda one: -one[1].answer.rank)
        rows = [(way, str(one.answer), one.sentence) for way, one in worst]
    if rows:
        yield Section("ways", "What works", table=Table(headers, tuple(rows), "ways of padding"))


def _having(answers: Mapping[str, Answer], answer: Answer) -> str:
    return ", ".join(name for name, each in answers.items() if each is answer)
