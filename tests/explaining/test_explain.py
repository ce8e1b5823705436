"""explain: every entry comes from its own file, and every name leads to it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import onnxpad
from onnxpad import Explanation, explain
from onnxpad.explaining import entries
from onnxpad.frameworks.conventions import all_conventions
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import OPERATORS
from onnxpad.retargeting.habits import PLACEMENTS, SYNONYMS
from onnxpad.rewriting.passes import all_passes
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.targets import all_targets
from onnxpad.runtimes.traps import all_rules

TOPICS = [path.stem for path in (Path(onnxpad.__file__).parent / "topics").glob("*.txt")]


def test_everything_is_listed_once() -> None:
    assert {(entry.kind, entry.name) for entry in entries()} == {
        *(("topic", name) for name in TOPICS),
        *(("pass", name) for name in all_passes()),
        *(("target", name) for name in all_targets()),
        *(("form", str(form)) for form in Form),
        *(("operator", op.title) for op in OPERATORS.values()),
        *(("convention", name) for name in (*all_conventions(), *PLACEMENTS, *SYNONYMS)),
        *(("trap", code) for code in all_rules()),
    }
    names = Counter(entry.name.casefold() for entry in entries())
    assert {name for name, times in names.items() if times > 1} <= {"pad", "tflite"}


@pytest.mark.part(31)
@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_every_name_leads_to_its_entry(entry: Explanation) -> None:
    found = explain(entry.name)
    assert entry in found
    assert len(found) == 1 + (entry.name == "tflite")
    assert entry.headline
    assert "\n" not in entry.headline
    assert entry.kind in {"form", "pass", "topic"} or entry.source


def test_the_address_of_a_fact_leads_to_it_in_each_target() -> None:
    found = explain("SAME-ConvTranspose")
    assert len(found) > 1
    (one,) = [entry for entry in found if entry.name == "openvino: same-convtranspose"]
    assert one.kind == "fact"
    assert one.text.startswith("openvino miscomputes ConvTranspose where auto_pad is SAME_UPPER")
    facts = one.facts_by_name
    assert facts["releases"].startswith("up to 2025.3")
    assert facts["to see it"].startswith("onnxpad explain openvino --reproduce same-convtranspose")


@pytest.mark.parametrize(
    ("name", "kind", "told"),
    [
        ("live", "topic", "own-runtime"),
        ("pad_above", "condition", "pad_above"),
        ("Pad-Above", "condition", "pad_above"),
        ("npu:refused", "finding", "npu:refused"),
    ],
)
def test_words_of_reports_and_rules_are_explained(name: str, kind: str, told: str) -> None:
    (entry,) = explain(name)
    assert (entry.kind, entry.name) == (kind, told)


@pytest.mark.part(6)
@pytest.mark.parametrize("name", all_targets())
def test_a_target_does_not_take_what_it_never_takes(name: str) -> None:
    (entry,) = (one for one in explain(name) if one.kind == "target")
    always = [
        (answer, text.split(" [")[0].split(", "))
        for answer, text in entry.facts
        if answer in tuple(Answer) and not text.partition(" [")[2].startswith(("up to", "since"))
    ]
    always = [(answer, names) for answer, names in always if not any(" where " in n for n in names)]
    taken = {one for answer, names in always if answer == "takes" for one in names}
    failing = {one for answer, names in always if answer != "takes" for one in names}
    assert taken.isdisjoint(failing)
    assert entry.facts[0] == ("order", "if several rules match, the most severe applies")
