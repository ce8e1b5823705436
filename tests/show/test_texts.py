"""What reports say: names are harmless, and what is to be typed next helps."""

from __future__ import annotations

import json

import pytest

from onnxpad.inspection import Inspection, inspect
from onnxpad.reports import json_line
from onnxpad.rewriting.rewrite import rewrite
from onnxpad.show.batches import refusal_text
from onnxpad.show.document import Command, document_text
from onnxpad.show.following import next_lines
from onnxpad.show.inspections import inspection_document
from onnxpad.show.rewritings import rewriting_document
from onnxpad.validation import Validation, Verdict
from tests.models.text import text_model
from tests.models.traps import TRAPS
from tests.show.transcripts import DYNAMIC, SAME, WEIGHT

NO_FORM_HELPS = {
    *("auto-pad-with-pads", "pad-fused-beside-identity", "pad-on-weight", "negative-pads"),
    *("input-shorter-than-window", "no-cpu-kernel", "window-of-padding"),
    *("overridable-pads", "mixed-types", "optimised-only", "computed-pads"),
}


def inspected(found: Inspection, *, everything: bool = False) -> str:
    return document_text(inspection_document(found, everything=everything))


@pytest.mark.parametrize("code", TRAPS)
def test_what_inspect_offers_for_a_trap_mends_it_or_says_why_not(code: str) -> None:
    trapped = TRAPS[code][0]
    lines = next_lines(inspect(trapped), "m.onnx")
    commands = [one.typed.split() for one in lines if isinstance(one, Command)]
    words = [one for one in commands if one[1] == "rewrite"]
    if code == "auto-pad-with-pads":
        assert [one[3:5] for one in words] == [["--ambiguous", way] for way in ("auto_pad", "pads")]
        assert not any(one.traps for one in inspect(rewrite(trapped, ambiguous="pads").model).nodes)
        return
    assert bool(words) == (code not in NO_FORM_HELPS)
    for *_, option, name, _, _ in words:
        only_pass = option == "--pass"
        done = rewrite(
            trapped, passes=[name] if only_pass else None, target=None if only_pass else name
        )
        left = {one.code for node in inspect(done.model).nodes for one in node.traps}
        assert code not in left or done.skips


def test_a_failed_validation_is_the_reason_of_a_refusal() -> None:
    done = rewrite(DYNAMIC)
    failed = Validation(Verdict.DIFFERENT, "b differs", "nobody", {}, "cpu", None, hints=("--dim",))
    said = refusal_text("a.onnx", "it is not validated (different)", done, failed)
    assert said == (
        "nothing written for a.onnx: it is not validated (different): b differs\n  try     --dim"
    )


def test_names_cannot_write_to_the_terminal() -> None:
    model = text_model(SAME, "float[1,1,height] x", constants=WEIGHT)
    model.graph.node[0].name = "c\x1b[2J\nerror: forged"
    texts = [
        inspected(inspect(model)),
        document_text(rewriting_document("m\x1b]0;t\x07", None, rewrite(model))),
        str(rewriting_document("m", None, rewrite(model, dims={"height": 8}), script=True)),
    ]
    for text in texts:
        assert r"c\x1b[2J\nerror: forged" in text
        assert text.replace("\n", "").isprintable()
        assert not any(line.startswith("error") for line in text.splitlines())


def test_json_has_no_numbers_that_are_none() -> None:
    line = json_line({"a": float("inf"), "b": [float("nan"), 1, "x"], "c": (1, {"d": -1.5})})
    assert json.loads(line) == {"a": "inf", "b": ["nan", 1, "x"], "c": [1, {"d": -1.5}]}
    assert line.count("\n") == 1


def test_no_report_fills_more_than_a_screen_unless_each_is_asked_for() -> None:
    sizes = ", ".join(f"float[1,1,3] w{number}" for number in range(60))
    nodes = " ".join(
        f'[n{number}] t{number} = Conv <auto_pad="SAME_UPPER", strides=[2], '
        f"dilations=[{1 + number}]> (x, w{number})"
        for number in range(60)
    )
    outputs = ", ".join(f"float[a,b,c] t{number}" for number in range(60))
    model = text_model(nodes, f"float[1,1,height] x, {sizes}", outputs=outputs)
    found, done = inspect(model), rewrite(model)
    assert len(inspected(found).splitlines()) <= 60
    assert len(str(inspection_document(found, each=True)).splitlines()) > 120
    assert len(str(rewriting_document("m", None, done)).splitlines()) <= 40
    text = str(rewriting_document("m", None, done, each=True))
    assert all(f"'n{number}'" in text for number in range(60))
