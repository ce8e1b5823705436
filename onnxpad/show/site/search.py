"""What the search of the site looks in: every page, and what each runtime does with each way.

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
from onnxpad.runtimes.targets import all_targets, find_target
from onnxpad.show.site.conformance import Table, address_of, counted_words

_MEANT = {
    "convtranspose": "deconv, deconvolution, transposed conv, transposed convolution",
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
    entries = [[text.replace("`", "") for text in entry] for entry in _entries(explained, table)]
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


def _entries(explained: Sequence[Explanation], table: Table) -> Iterator[Entry]:
    for one in explained:
        said, subject, also = one.headline, one.name if one.kind == "convention" else "", ""
        if one.kind == "target":
            subject, also = one.name, " ".join(find_target(one.name).also)
            counts = counted_words(cell for _, cell in table.of_target(one.name))
            said = f"{one.headline}; of {len(ways())} ways of padding {counts}"
        address = address_of(one.kind, one.name)
        yield Entry(one.name, one.kind, address, said, subject, f"{also} {one.text}")
    for operator in table.operators:
        many = len(table.of_operator(operator))
        said = f"{many} ways of padding in {len(table.newest)} runtimes"
        yield Entry(f"Where {operator} works", "table", address_of("works", operator), said)
    for way in ways():
        address, newest = address_of("way", way.name), table.of_way(way, newest=True)
        yield Entry(way.title, "way of padding", address, counted_words(newest))
        for cell in newest:
            title, place = f"{cell.target}: {way.title}", f"{address}#{cell.anchor}"
            yield Entry(title, cell.word, place, cell.reason, cell.target)
