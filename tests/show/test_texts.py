"""What reports say: names are harmless, and what is to be typed next helps."""

from __future__ import annotations

import json

import pytest

from onnxpad.cli import without_quotes
from onnxpad.inspection import Inspection, inspect
from onnxpad.reports import json_line
from onnxpad.rewriting.rewrite import rewrite
from onnxpad.show.batches import refusal_text
from onnxpad.show.document import Command, document_text
from onnxpad.show.following import next_lines
from onnxpad.show.inspections import inspection_document
from onnxpad.show.rewritings import rewriting_document
from onnxpad.show.wording import quotes_for_windows, shape_text
from onnxpad.validation import Validation, Verdict
from tests.models.text import text_model
from tests.models.traps import TRAPS
from tests.show.transcripts import DYNAMIC, MODELS, REST, REST_CONSTANTS, SAME, WEIGHT

NO_FORM_HELPS = {
    *("auto-pad-with-pads", "pad-fused-beside-identity", "pad-on-weight", "negative-pads"),
    *("input-shorter-than-window", "no-cpu-kernel", "window-of-padding"),
    *("declared-shape", "overridable-pads", "mixed-types", "optimised-only", "computed-pads"),
}


def inspected(found: Inspection, *, everything: bool = False) -> str:
    return document_text(inspection_document(found, everything=everything))


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        ("ceil(H/2)", "ceil(H/2)"),
        ("ceil((ceil((ceil(floor((unk__2153-1)/2)/2)-1)/2)+1)/2)", "~unk__2153/16"),
        ("(32*ceil(ceil(ceil(H/2)/2)/2))-5+7-9", "~4*H"),
        ("floor(3*ceil(unk__9105_foo/4)/2)", "~0.375*unk__9105_foo"),
        ("floor((ceil(height/2)+ceil(width/2))/2)", "computed"),
        ("a name that is long and no arithmetic", "computed"),
    ],
)
def test_sizes_read_like_sizes(size: str, shown: str) -> None:
    assert shape_text([1, size, None]) == f"[1, {shown}, ?]"


def test_hints_have_the_quotes_of_the_shell_at_hand() -> None:
    said = "try     --dim 'H=640' --dim 'W%2=0' for Conv 'a'; did you mean -o 'my model.onnx'?"
    assert quotes_for_windows(said) == (
        """try     --dim "H=640" --dim "W%2=0" for Conv 'a'; did you mean -o "my model.onnx"?"""
    )
    assert list(map(without_quotes, ("'H%2=0'", "'", "it's"))) == ["H%2=0", "'", "it's"]


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


@pytest.mark.sweep
def test_the_next_command_is_of_the_target_that_has_a_way() -> None:
    numbers = " ".join(f"--dim 'unk__{name}'" for name in ("9104=1", "9105=640", "9106=640"))
    text = inspected(inspect(DYNAMIC, target="onnx2keras"))
    assert f"next: onnxpad rewrite MODEL --target onnx2keras {numbers} -o OUT" in text
    text = inspected(inspect(DYNAMIC, target="opencv", nodes="Conv__8990"))
    assert "next: onnxpad rewrite MODEL --target opencv --dim 'unk__9105%2=0'" in text


def test_a_failed_validation_is_the_reason_of_a_refusal() -> None:
    done = rewrite(DYNAMIC)
    failed = Validation(Verdict.DIFFERENT, "b differs", "nobody", {}, "cpu", None, hints=("--dim",))
    said = refusal_text("a.onnx", "it is not validated (different)", done, failed)
    assert said == (
        "nothing written for a.onnx: it is not validated (different): b differs\n  try     --dim"
    )


def test_rows_without_padding_are_shown_only_where_asked() -> None:
    found = inspect(MODELS / "k_yolo_tiny_op15.onnx")
    (plain,) = [node.node for node in found.nodes if not node.forms and not node.traps]
    text, every = inspected(found), inspected(found, everything=True)
    assert f"\n{plain} " not in text
    assert "(--all)" in text
    assert f"\n{plain} " in every
    assert "--all" not in every


def test_computed_pads_have_a_fact_that_settles_them() -> None:
    model = text_model(REST, "float[N,1,H] x", constants=REST_CONSTANTS)
    text = inspected(inspect(model))
    assert "  try     --dim 'H=640' or --dim 'H%64=0'" in text
    assert "next: onnxpad rewrite MODEL --pass static-pads --dim 'H%64=0' -o OUT" in text
    done = rewrite(model, passes="static-pads", dims={"H": "%4=0"})
    assert not done.skips
    assert [change.node.label for change in done.changes] == ["pad"]
    (other,) = rewrite(model, passes="static-pads", dims={"H": "%3=0"}).skips
    assert other.skip.hints[-1] == "--dim 'H%192=0'", "what was said of a size is not taken back"


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
