"""The pages of the site as documents, where their cells lead to, and what is searched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from onnxpad.explaining import KINDS, Explanation, entries
from onnxpad.model.small_models import text_lines
from onnxpad.padding.forms import forms_of
from onnxpad.reproducing.specimens import drafted
from onnxpad.reproducing.ways import Way, ways
from onnxpad.runtimes.targets import all_targets, find_target
from onnxpad.show.document import Card, Document, Picture, Section, Table
from onnxpad.show.explanations import PLURALS, explanation_document
from onnxpad.show.pages.drawings import drawing_of, sentence
from onnxpad.show.pages.figures import legend, window_figure
from onnxpad.show.site.conformance import Conformance, address_of, counted_words

_FILES = (".onnx", "-input.npz", "-expected.npz")
_PROGRAM = """import numpy, onnxruntime
given, right = numpy.load("{0}-input.npz"), numpy.load("{0}-expected.npz")
session = onnxruntime.InferenceSession("{0}.onnx")
for name, made in zip(right, session.run(list(right), dict(given))):
    print(name, made.shape, right[name].shape, abs(made.astype(float) - right[name]).max())"""


def index_document(table: Conformance) -> Document:
    """The start page: what works where, and every entry; a runtime is what people ask for first."""
    works = tuple((f"Where {operator} works",) for operator in table.operators)
    sections = [Section("works", "What works where", table=Table(("table",), works))]
    for kind in sorted(KINDS, key=lambda kind: kind != "target"):
        rows = tuple((_label(one), one.headline) for one in entries() if one.kind == kind)
        listed = Table(("name", "what it is"), rows, PLURALS[kind])
        sections.append(Section(kind, PLURALS[kind].capitalize(), table=listed))
    about = (
        "What runtimes, frameworks and tools do with the padding of ONNX models: what each runtime "
        "computes right, wrong or not at all, how each framework places padding, and what onnxpad "
        "can make of it. Everything here is also printed by `onnxpad explain NAME`."
    )
    return Document("", "Padding of ONNX models", about, sections=tuple(sections))


def entry_document(entry: Explanation, table: Conformance) -> Document:
    """An entry as `explain` prints it, and what works where."""
    document = explanation_document(entry)
    return replace(document, sections=(*document.sections, *_beside(entry, table)))


def _beside(entry: Explanation, table: Conformance) -> Iterator[Section]:
    if entry.kind == "target":
        cells = table.of_target(entry.name)
        rows = tuple((way.title, cell.text, cell.reason) for way, cell in cells)
        counts = counted_words(cell for _, cell in cells)
        own = f"onnxpad inspect MODEL --target {entry.name}"
        shown = f"onnxpad explain {entry.name} --reproduce ADDRESS -o DIR"
        lines = (
            f"{len(cells)} ways: {counts}. Of a model of your own `{own}` says what goes wrong.",
            f"`{shown}` writes the smallest model for a fact with an address.",
        )
        headers = ("way of padding", "verdict", "why")
        title = "What it does with each way of padding"
        yield Section("ways", title, lines, Table(headers, rows, "ways of padding"))
    if entry.kind in ("form", "operator"):
        about = tuple((way.title,) for way in ways() if _is_about(entry, way))
        yield Section("ways", "Where it works", table=Table(("way of padding",), about, "ways"))


def _is_about(entry: Explanation, way: Way) -> bool:
    if entry.kind == "form":
        return any(entry.name in forms_of(chain) for chain in way.chains)
    return way.operator == entry.name


def way_document(way: Way, table: Conformance) -> Document:
    """A way of padding: its picture and model, files to try, and what runtimes do with it."""
    cells = table.of_way(way)
    rows = tuple((one.target, one.text, one.reason, "; ".join(one.evidence)) for one in cells)
    headers = ("runtime", "verdict", "why", "evidence")
    files = tuple((f"{way.name}{end}",) for end in _FILES)
    said = "How far a runtime, here onnxruntime, is from what the ONNX text asks for:"
    sections = (
        Section("pictures", "In pictures", cards=partial(_cards, way), windows=True),
        Section("model", "The model", code="\n".join(text_lines(drafted(way.specimen)[0]))),
        Section("files", "Files", table=Table(("file",), files, "files")),
        Section("program", "A program", (said,), code=_PROGRAM.format(way.name)),
        Section("runtimes", "What runtimes do with it", table=Table(headers, rows, "runtimes")),
    )
    counts = counted_words(table.of_way(way, newest=True))
    headline = f"{counts}, counting the newest release of each runtime."
    return Document("way", way.title, headline, sections=sections)


def _cards(way: Way) -> Iterator[Card]:
    drawing = drawing_of(way.chain)
    if svg := window_figure(drawing, title=way.title):
        yield Card("picture", way.title, sentence(drawing), (Picture(svg),), legend(drawing))


def _label(entry: Explanation) -> str:
    """Its name, with its kind where a target has that name as well."""
    same = entry.kind != "target" and entry.name in all_targets()
    return f"{entry.name} ({entry.kind})" if same else entry.name


def links_of(table: Conformance) -> dict[str, str]:
    """The page of each name."""
    links: dict[str, str] = {}
    for entry in sorted(entries(), key=lambda entry: entry.kind == "topic"):
        links.setdefault(_label(entry), address_of(entry.kind, entry.name))
    links |= {name: address_of("target", find_target(name).runtime) for name in table.targets}
    for way in ways():
        links[way.title] = address_of("way", way.title)
        links |= {f"{way.name}{end}": f"models/{way.name}{end}" for end in _FILES}
    return links | {f"Where {one} works": address_of("works", one) for one in table.operators}


def searched(table: Conformance) -> list[tuple[str, ...]]:
    """Title, kind, address, what is shown below the title, and text that is searched only."""
    found: list[tuple[str, ...]] = []
    for one in entries():
        also = " ".join(find_target(one.name).also) if one.kind == "target" else ""
        address = address_of(one.kind, one.name)
        found.append((one.name, one.kind, address, one.headline, f"{also} {one.text}"))
    for operator in table.operators:
        address = address_of("works", operator)
        found.append((f"Where {operator} works", "table", address, "ways in runtimes", ""))
    for way in ways():
        address, cells = address_of("way", way.title), table.of_way(way, newest=True)
        found.append((way.title, "way of padding", address, counted_words(cells), ""))
        for cell in cells:
            title, also = f"{cell.target}: {way.title}", " ".join(find_target(cell.target).also)
            found.append((title, cell.word, address, cell.reason, also))
    return found
