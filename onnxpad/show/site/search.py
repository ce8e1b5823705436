"""What the search of the site looks in: every page, every cell of the tables, every fact.

How words are told apart and hits are ranked stands in templates/finding.js.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from onnxpad.explaining import Explanation
from onnxpad.frameworks.conventions import by_name_and_alias
from onnxpad.reproducing.ways import ways
from onnxpad.runtimes.releases import held
from onnxpad.runtimes.targets import all_targets, find_target
from onnxpad.show.site.conformance import WORDS, Table, counted_words, facts_of
from onnxpad.show.site.contents import brief
from onnxpad.show.site.links import address_of

_MEANT = {
    "convtranspose": "deconv, deconvolution, transposed conv, transposed convolution, "
    "convolution transpose",
    "conv": "convolution",
    "average": "avg",
    "averagepool": "avgpool, mean pool",
    "transpose": "transposed",
    "lppool": "l2 pool",
    "edge": "replicate, replication",
    "reflect": "mirror",
    "wrap": "circular, periodic",
    "constant 0": "zero",
    "refused": "unsupported, rejected, crash",
    "wrong": "incorrect, differ",
    "asymmetric": "uneven",
}
"""How these pages say it, and what people say; forms of the words are the search's business."""


class Entry(NamedTuple):
    """What may be found: `said` is shown below the title, `more` is searched only.

    `subject` is the runtime or framework that it is about, '' for none.
    """

    title: str
    kind: str
    address: str
    said: str
    subject: str = ""
    more: str = ""


def index_of(explained: Sequence[Explanation], table: Table) -> str:
    """The entries, and other names and words for what they hold, as JSON."""
    found = (*_pages(explained, table), *_cells(table), *_facts())
    entries = [[text.replace("`", "") for text in entry] for entry in found]
    words = {said: word for word, texts in _MEANT.items() for said in texts.split(", ")}
    return json.dumps({"entries": entries, "names": _names(), "words": words})


def _names() -> Mapping[str, str]:
    """Names of runtimes and frameworks by what people write, in small letters and digits alone.

    'opencv4' is the target that has the releases 4.x of OpenCV.
    """
    found = {_letters(name): one.name for name, one in by_name_and_alias().items()}
    for target in all_targets().values():
        before = find_target(target.before).releases if target.before else ()
        for release in (one for one in before if one not in target.releases):
            for number in (release, release.partition(".")[0]):
                found[_letters(target.name + number)] = target.before
        found |= {_letters(name): target.name for name in (target.name, *target.also)}
    return found


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", name.casefold())


def _pages(explained: Sequence[Explanation], table: Table) -> Iterator[Entry]:
    for one in explained:
        address = address_of(one.kind, one.name)
        if one.kind == "target":
            also = " ".join(find_target(one.name).also)
            counts = counted_words(cell for _, cell in table.of_target(one.name))
            said = f"{one.headline}; of {len(ways())} ways of padding {counts}"
            yield Entry(one.name, one.kind, address, said, one.name, f"{also} {one.text}")
        else:
            subject = one.name if one.kind == "convention" else ""
            yield Entry(one.name, one.kind, address, one.headline, subject, one.text)
    for operator in table.operators:
        many = len(table.of_operator(operator))
        said = f"{many} ways of padding in {len(table.newest)} runtimes"
        yield Entry(f"Where {operator} works", "table", address_of("works", operator), said)


def _cells(table: Table) -> Iterator[Entry]:
    for way in ways():
        address, newest = address_of("way", way.name), table.of_way(way, newest=True)
        yield Entry(way.title, "way of padding", address, counted_words(newest))
        for cell in newest:
            title, place = f"{cell.target}: {way.title}", f"{address}#{cell.anchor}"
            yield Entry(title, cell.word, place, cell.reason, cell.target)


def _facts() -> Iterator[Entry]:
    for name, target in all_targets().items():
        for anchor, row in facts_of(target):
            when = f" ({known})" if (known := held(row, target.releases)) else ""
            title = f"{name}: {WORDS[row.answer]}, {brief(row)}{when}"
            address = f"{address_of('target', name)}#{anchor}"
            yield Entry(title, "fact", address, row.says, name, f"{row.what}; {row.evidence.what}")
