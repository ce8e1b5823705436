"""explain: every entry comes from its own file, and every name leads to it."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from onnx.defs import get_all_schemas_with_history

import onnxpad
from onnxpad.errors import RequestError
from onnxpad.explaining import KINDS, Explanation, entries, explain
from onnxpad.frameworks.conventions import all_conventions
from onnxpad.padding.forms import Form
from onnxpad.padding.operators import OPERATORS
from onnxpad.retargeting.habits import PLACEMENTS, SYNONYMS
from onnxpad.rewriting.passes import all_passes
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.optimisers import optimisers
from onnxpad.runtimes.targets import all_targets
from onnxpad.runtimes.traps import all_rules
from onnxpad.show.explanations import explanation_text, list_text, overview_text
from onnxpad.show.tables import Terminal
from onnxpad.validation.report import Verdict

TOPICS = [path.stem for path in (Path(onnxpad.__file__).parent / "topics").glob("*.txt")]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("opencv", "pip install opencv-python-headless numpy"),
        ("opencv@4.14", "--target opencv-classic@4.14 --live, or --live PYTHON"),
        ("tinygrad", "needs clang on the PATH"),
        ("webgpu-jsep", "--live FOLDER; needs node and chromium"),
        ("onnxruntime-cuda", "TF32 is off"),
        ("burn", "nothing here starts it"),
        ("portable", ""),
    ],
)
def test_a_target_says_how_it_is_run(name: str, told: str) -> None:
    (entry,) = (one for one in explain(name) if one.kind == "target")
    live = entry.facts_by_name.get("live", "")
    assert told in live
    assert bool(told) is bool(live)


def test_everything_is_listed_once() -> None:
    assert {(entry.kind, entry.name) for entry in entries()} == {
        *(("topic", name) for name in TOPICS),
        *(("pass", name) for name in all_passes()),
        *(("target", name) for name in all_targets()),
        *(("form", str(form)) for form in Form),
        *(("operator", op.title) for op in OPERATORS.values()),
        *(("convention", name) for name in (*all_conventions(), *PLACEMENTS, *SYNONYMS)),
        *(("trap", code) for code in all_rules()),
        *(("optimiser", name) for name in optimisers()),
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


@pytest.mark.parametrize("name", [*PLACEMENTS, *SYNONYMS])
def test_what_retarget_takes_is_explained(name: str) -> None:
    (entry,) = explain(name.lower())
    assert (entry.kind, entry.name) == ("convention", name)


def test_every_word_of_darknet_s_padding_is_explained() -> None:
    (entry,) = explain("darknet")
    assert "padding=N as N cells at both sides" in " ".join(entry.text.split())


def test_capitals_do_not_matter() -> None:
    assert explain("AVERAGEPOOL") == explain("AveragePool")


def test_a_pass_says_what_its_file_says() -> None:
    (entry,) = explain("split-pads")
    assert entry.text == all_passes()["split-pads"].text
    assert dict(entry.facts)["removes"].startswith("pads, asymmetric")
    assert "Refuses: " in explanation_text(entry)


def test_a_form_names_the_passes_about_it() -> None:
    (entry,) = explain("auto_pad")
    facts = dict(entry.facts)
    assert "explicit-pads" in facts["removed by"]
    assert "split-pads" in facts["may come from"]


def test_a_form_says_which_passes_go_together() -> None:
    (asymmetric,) = explain("asymmetric")
    tried = [value for name, value in asymmetric.facts if name == "try"]
    assert tried[0] == "--pass symmetric-pads: equal begin and end pads"
    (output_padding,) = explain("output_padding")
    tried = [value for name, value in output_padding.facts if name == "try"]
    assert any("--pass output-padding-by-kernel --pass slice-transpose: " in way for way in tried)
    assert "; --pass plain-transpose" in output_padding.to_json()["facts"]["try"]


def test_a_form_names_passes_that_take_it_away_sometimes() -> None:
    facts = dict(explain("ceil_mode")[0].facts)
    assert "counted-padding" not in facts["removed by"]
    assert "counted-padding" in facts["sometimes by"]
    assert "ceil_mode" in dict(explain("counted-padding")[0].facts)["may remove"]


@pytest.mark.sweep
def test_every_form_says_what_to_do_about_it() -> None:
    for form in Form:
        facts = dict(explain(str(form))[0].facts)
        assert facts["removed by"] != "no pass" or facts["try"], form


def test_lines_of_passes_are_filled() -> None:
    """No line breaks in the middle of a sentence: the next word would have fitted."""
    for rule in all_passes().values():
        lines = rule.text.splitlines()
        for line, following in pairwise(lines):
            word = following.split(" ", maxsplit=1)[0]
            assert not word or not line or len(line) + 1 + len(word) > 70, (rule.name, line)


def test_an_operator_says_what_padded_cells_hold() -> None:
    facts = {
        name: dict(explain(name)[0].facts).get("padded cells hold")
        for name in ("Conv", "MaxPool", "QLinearConv", "MaxUnpool")
    }
    assert facts == {
        "Conv": "0",
        "MaxPool": "the lowest value of the type",
        "QLinearConv": "the zero point, input 2",
        "MaxUnpool": None,
    }


def test_a_convention_and_a_trap_have_sources() -> None:
    assert "pooling_layer.cpp" in explanation_text(explain("caffe")[0])
    assert "pad_fusion.cc" in explanation_text(explain("pad-fused-into-max-pool")[0])


def test_a_framework_answers_to_the_names_that_resolve_takes() -> None:
    for convention in all_conventions().values():
        for alias in convention.aliases:
            if alias not in all_targets():
                assert [entry.name for entry in explain(alias.upper())] == [convention.name]


def test_an_optimiser_tells_what_it_breaks() -> None:
    (entry,) = explain("onnxoptimizer")
    facts = dict(entry.facts)
    assert int(facts["rewrites"]) >= int(facts["proved equal"]) > int(facts["refuted"]) > 0
    assert any("0 and becomes negative" in value for _, value in entry.facts)
    assert entry.source == "measured with onnxoptimizer 0.4.2"
    assert "undecided" not in dict(explain("onnxslim")[0].facts)


def test_the_address_of_a_fact_leads_to_it_in_each_target() -> None:
    found = explain("SAME-ConvTranspose")
    assert len(found) > 1
    (one,) = [entry for entry in found if entry.name == "openvino: same-convtranspose"]
    assert one.kind == "fact"
    assert one.text.startswith("openvino miscomputes ConvTranspose where auto_pad is SAME_UPPER")
    facts = one.facts_by_name
    assert facts["releases"].startswith("up to 2025.3, not in 2025.4")
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


def test_unknown_names_suggest_near_ones() -> None:
    with pytest.raises(RequestError, match="did you mean 'explicit-pads'"):
        explain("explict-pads")
    with pytest.raises(RequestError, match="see the list"):
        explain("zzzz")


@pytest.mark.part(6)
@pytest.mark.parametrize("name", all_targets())
def test_facts_fit_a_terminal_and_do_not_repeat_where_they_are_from(name: str) -> None:
    (entry,) = (one for one in explain(name) if one.kind == "target")
    text = explanation_text(entry, Terminal(80))
    facts = text.partition("\norder ")[2]
    words = [word for word in facts.split() if len(word) > 60]
    assert words or max(map(len, facts.splitlines())) <= 80
    assert entry.source
    assert f": {entry.source}, " not in " ".join(facts.split())
    flat = " ".join(text.split())
    for _, value in entry.facts:
        assert " ".join(value.replace(f": {entry.source}, ", ": ").split()) in flat


def test_the_list_has_every_kind_and_name() -> None:
    text = list_text(entries())
    assert [line for line in text.splitlines() if line in {"passes", "traps"}] == [
        "passes",
        "traps",
    ]
    for entry in entries():
        assert f"\n{entry.name} " in text
    assert len(KINDS) == text.count("\n\n") + 1


def test_the_overview_is_one_screen() -> None:
    assert overview_text(entries()).count("\n") <= 40


def test_same_is_both_placements() -> None:
    assert [entry.name for entry in explain("SAME")] == ["SAME_UPPER", "SAME_LOWER"]


@pytest.mark.parametrize("word", [*map(str, Verdict), "undecided", "refuted", "Allowed"])
def test_the_words_of_verdicts_are_explained(word: str) -> None:
    (topic,) = explain(word)
    assert (topic.kind, topic.name) == ("topic", "verdicts")
    assert word.lower() in topic.text.lower()


def test_entries_are_plain_data() -> None:
    for entry in entries():
        read = json.loads(json.dumps(entry.to_json()))
        assert read["schema"] == 1
        assert read["name"] == entry.name


@pytest.mark.sweep
def test_pads_and_forms_say_what_becomes_of_them() -> None:
    pad, microsoft = (dict(explain(name)[0].facts) for name in ("Pad", "com.microsoft.Pad"))
    assert "wrap since opset 19" in pad["modes"]
    versions = {s.since_version for s in get_all_schemas_with_history() if s.name == "Pad"}
    assert all(str(version) in pad["opsets"] for version in versions)
    assert "pads" in microsoft
    assert dict(explain("reflect")[0].facts)["removed by"] == "plain-pad"
    assert dict(explain("one-axis")[0].facts)["removed by"] == "lift-rank"
    assert dict(explain("indices")[0].facts)["removed by"] == "no pass"
    for form in Form:
        assert "removed by" in dict(explain(str(form))[0].facts)


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


def test_functions_are_explained_with_the_targets_that_run_none() -> None:
    (found,) = explain("functions")
    assert found.name == "operators"
    assert "openvino, tvm" in found.text
    assert "webgpu" not in found.text
    assert "{functions}" not in found.text
