"""Wording of shapes, pads, skips and reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onnxpad.cli import without_quotes
from onnxpad.errors import counted, either, together
from onnxpad.inspection import Inspection, inspect
from onnxpad.reports import json_line
from onnxpad.rewriting.rewrite import rewrite
from onnxpad.show.batches import refusal_text
from onnxpad.show.document import Command, Note, document_text, lines_text
from onnxpad.show.following import next_lines
from onnxpad.show.inspections import inspection_document, traps_texts
from onnxpad.show.rewritings import rewriting_document
from onnxpad.show.tables import Terminal
from onnxpad.show.validations import validation_document
from onnxpad.show.wording import (
    bytes_text,
    input_text,
    pads_text,
    quotes_for_windows,
    shape_text,
    window_text,
)
from onnxpad.validation import Validation, Verdict, validate
from tests.models.text import text_model
from tests.models.traps import TRAPS
from tests.show.transcripts import REST, REST_CONSTANTS

MODELS = Path(__file__).parents[2] / "models"


def inspected(
    found: Inspection, model: str = "MODEL", terminal: Terminal | None = None, **options: bool
) -> str:
    return document_text(inspection_document(found, model, **options), terminal)


WEIGHT = "float[1,1,3] w = {1, 10, 100}"
SAME = '[conv] y = Conv <strides=[2], auto_pad="SAME_UPPER"> (x, w)'

NO_FORM_HELPS = {
    *("auto-pad-with-pads", "pad-fused-beside-identity", "pad-on-weight", "negative-pads"),
    *("input-shorter-than-window", "no-cpu-kernel", "window-of-padding"),
    *("declared-shape", "overridable-pads", "mixed-types", "optimised-only", "computed-pads"),
}

THREE_ALIKE = """
    [a] p = Conv <pads=[1, 1]> (x, w)
    [b] q = Conv <pads=[1, 1]> (p, w)
    [c] y = Conv <pads=[1, 1]> (q, w)
"""


def test_small_words() -> None:
    assert shape_text((1, 3, "height", None)) == "[1, 3, height, ?]"
    assert shape_text(None) == "[?]"
    assert pads_text((0, 1, 2, 3)) == "0,2 1,3"
    assert pads_text(None) == "?"
    assert window_text((3, 3), (2, 2), (1, 1)) == "k3 s2"
    assert window_text((2, 5), (1, 1), (3, 1)) == "k2,5 d3,1"
    assert window_text((), (), ()) == ""
    assert input_text("x", (1, 3), (3, 3), (1, 1)) == "x [1, 3], kernel 3"
    assert either(["a"]) == "a"
    assert either(["a", "b"]) == "a or b"
    assert either(["a", "b", "c"]) == "a, b, or c"
    assert either(["a, with which b", "c"]) == "a, with which b; or c"
    assert either(["a", "b or c", "d"]) == "a; b or c; or d"
    assert either([]) == together([]) == ""
    assert together(["a", "b"]) == "a and b"
    assert together(["a, and b", "c"]) == "a, and b; and c"
    assert counted(1, "pass", "passes") == "1 pass"
    assert counted(2, "pass", "passes") == "2 passes"


def test_a_note_shows_the_input_only_with_something_to_try() -> None:
    assert lines_text([Note("skip: p, Conv 'c'", "why", "x [1]")]) == "skip: p, Conv 'c': why"
    assert lines_text([Note("skip: p, Conv 'c'", "why", "x [1]", ("--a", "--b"))]) == (
        "skip: p, Conv 'c': why\n  input   x [1]\n  try     --a or --b"
    )


def test_what_a_rewrite_costs_stands_under_it(tmp_path: Path) -> None:
    path = MODELS / "t_same_string_ts.onnx"
    done = rewrite(path, passes=["explicit-pads", "split-pads"])
    done.save(tmp_path / "o.onnx")
    text = str(rewriting_document(str(path), str(tmp_path / "o.onnx"), done))
    assert "operators: 10 before, 15 after (Pad +5); file: 21.6 kB before, 22.6 kB after" in text
    counts = done.to_json()["operators"]
    assert counts == {"before": 10, "after": 15, "change": {"Pad": 5}}


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        ("H", "H"),
        ("ceil(H/2)", "ceil(H/2)"),
        ("ceil((ceil((ceil(floor((unk__2153-1)/2)/2)-1)/2)+1)/2)", "~unk__2153/16"),
        ("(32*ceil(ceil(ceil(H/2)/2)/2))-5+7-9", "~4*H"),
        ("floor(3*ceil(unk__9105_foo/4)/2)", "~0.375*unk__9105_foo"),
        ("floor((ceil(height/2)+ceil(width/2))/2)", "computed"),
        ("a name that is long and no arithmetic", "computed"),
    ],
)
def test_sizes_read_like_sizes(size: str, shown: str) -> None:
    assert shape_text([1, size]) == f"[1, {shown}]"


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 B"), (999, "999 B"), (1_234, "1.23 kB"), (102_400_000, "102 MB")]
)
def test_bytes_have_three_digits(count: int, shown: str) -> None:
    assert bytes_text(count) == shown


def test_hints_have_the_quotes_of_the_shell_at_hand() -> None:
    said = "try     --dim 'H=640' --dim 'W%2=0' for Conv 'a'; did you mean -o 'my model.onnx'?"
    assert quotes_for_windows(said) == (
        """try     --dim "H=640" --dim "W%2=0" for Conv 'a'; did you mean -o "my model.onnx"?"""
    )
    assert [without_quotes(one) for one in ("'H%2=0'", "'", "it's", "a b")] == [
        *("H%2=0", "'", "it's", "a b"),
    ]


@pytest.mark.parametrize("code", TRAPS)
def test_what_inspect_offers_for_a_trap_mends_it_or_says_why_not(code: str) -> None:
    trapped = TRAPS[code][0]
    found = inspect(trapped)
    told = [one for one in next_lines(found, "m.onnx") if isinstance(one, Command)]
    words = [f"next: {one.typed}{one.remark}".split() for one in told if one.case == "next"]
    if code == "auto-pad-with-pads":
        (line,) = words
        assert line[4:8] == ["--ambiguous", "auto_pad", "-o", "OUT,"]
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


def test_traps_of_runtimes_that_were_not_asked_about_are_named_so() -> None:
    model = MODELS / "t_yolotiny_zeropad_maxpool_ts.onnx"
    said = {name: traps_texts(inspect(model, target=name)) for name in ("opencv", "onnxruntime")}
    assert said == {"opencv": ["1 trap", "1 more of onnxruntime"], "onnxruntime": ["2 traps"]}
    assert traps_texts(inspect(model), 3) == ["2 traps (computed-pads, pad-fused-into-max-pool)"]


@pytest.mark.sweep
def test_the_next_command_is_of_the_target_that_has_a_way() -> None:
    model = MODELS / "k_unet_dyn_op13.onnx"
    assert "if its numbers are wrong: onnxpad diagnose MODEL --data REF.npz\n" in inspected(
        inspect(text_model("y = Conv <pads=[1,1]> (x, w)", "float[1,1,8] x", constants=WEIGHT))
    )
    assert "next: onnxpad rewrite M -o OUT" in inspected(
        inspect(MODELS / "k_yolo_tiny_op15.onnx"), "M"
    )
    assert "next: onnxpad rewrite MODEL --target opencv --dim 'unk__9105%2=0'" in inspected(
        inspect(model, target="opencv", nodes="Conv__8990")
    )
    numbers = " ".join(f"--dim 'unk__{name}'" for name in ("9104=1", "9105=640", "9106=640"))
    text = inspected(inspect(model, target="onnx2keras"))
    assert f"next: onnxpad rewrite MODEL --target onnx2keras {numbers} -o OUT" in text
    same = inspect(MODELS / "t_same_string_ts.onnx", target="opencv")
    assert "next: onnxpad rewrite M --target opencv -o OUT" in inspected(same, "M")


def test_a_failed_validation_is_the_reason_of_a_refusal() -> None:
    done = rewrite(MODELS / "k_unet_dyn_op13.onnx")
    assert done.skips
    failed = Validation(Verdict.DIFFERENT, "b differs", "nobody", {}, "cpu", None, hints=("--dim",))
    said = refusal_text("a.onnx", "it is not validated (different)", done, failed)
    assert said == (
        "nothing written for a.onnx: it is not validated (different): b differs\n  try     --dim"
    )
    assert refusal_text("a.onnx", "it would break c", done) == (
        "nothing written for a.onnx: it would break c"
    )


def test_rows_without_padding_are_shown_only_where_asked() -> None:
    found = inspect(MODELS / "k_yolo_tiny_op15.onnx")
    plain = [node.node for node in found.nodes if not node.forms and not node.traps]
    text = inspected(found)
    assert plain
    assert not any(f"\n{name} " in text for name in plain)
    assert len(plain) == 1
    assert "1 that writes no padding not shown (--all)" in text
    every = inspected(found, everything=True)
    assert all(f"\n{name} " in every for name in plain)
    assert "--all" not in every
    assert len(found.to_json()["nodes"]) == len(found.nodes)


def test_computed_pads_are_told_once() -> None:
    nodes = "n = Cast <to=7> (m) [pad] y = Pad (x, n)"
    text = inspected(inspect(text_model(nodes, "float[1,1,8] x, float[6] m")))
    assert "trap: computed-pads, Pad 'pad'" in text
    assert "unknown:" not in text
    assert "the pads of 1 are not known" in text


@pytest.mark.parametrize(
    ("attributes", "shown", "hint"),
    [
        ('kernel_shape=[3], auto_pad="SAME"', "SAME (invalid)", "auto_pad=SAME_UPPER in the file"),
        ('auto_pad="SAME_UPPER"', "SAME_UPPER", "kernel_shape in the file"),
    ],
)
def test_what_cannot_be_read_is_shown_as_written(attributes: str, shown: str, hint: str) -> None:
    model = text_model(f"[c] y = Conv <{attributes}> (x, w)", "float[1,1,8] x, float[a,b,c] w")
    found = inspect(model)
    assert found.summary["forms"]["auto_pad"] == 1
    assert found.summary["forms"]["dynamic"] == 0
    text = inspected(found)
    assert shown in text.partition("\nnode ")[2].splitlines()[1]
    assert f"\n  try     {hint}" in text


def test_computed_pads_have_a_fact_that_settles_them() -> None:
    model = text_model(REST, "float[N,1,H] x", constants=REST_CONSTANTS)
    text = inspected(inspect(model))
    assert "  try     --dim 'H=640' or --dim 'H%4=0'" in text
    assert "next: onnxpad rewrite MODEL --pass static-pads --dim 'H%4=0' -o OUT" in text
    assert "unknown: Conv 'conv': what the Pad in front of it adds is not known" in text
    done = rewrite(model, passes="static-pads", dims={"H": "%4=0"})
    assert not done.skips
    assert [change.node.label for change in done.changes] == ["pad"]
    (skip,) = rewrite(model, passes="static-pads").skips
    assert skip.skip.hints == ("--dim 'H=640'", "--dim 'H%4=0'")
    (other,) = rewrite(model, passes="static-pads", dims={"H": "%3=0"}).skips
    assert other.skip.hints[-1] == "--dim 'H%12=0'", "what was said of a size is not taken back"


def test_the_next_command_has_the_divisors_that_all_nodes_need() -> None:
    nodes = """
        [a] a = Conv <strides=[2], auto_pad="SAME_UPPER"> (x, w)
        [b] y = Conv <strides=[2], auto_pad="SAME_UPPER"> (a, w)
    """
    found = inspect(text_model(nodes, "float[N,1,H] x", constants=WEIGHT))
    assert "next: onnxpad rewrite MODEL --dim 'H%4=0' -o OUT" in inspected(found)


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


def test_a_rewriting_shows_the_warnings_of_its_validation() -> None:
    model = MODELS / "t_yolotiny_zeropad_maxpool_ts.onnx"
    done = rewrite(model, passes="split-pads")
    found = validate(model, done.model, device="cpu", samples=1)
    shown = str(rewriting_document("m.onnx", "out.onnx", done, found)).splitlines()
    warned = [line for line in shown if line.startswith("warning: onnxruntime's default optimiser")]
    assert len(warned) == len(found.warnings) == 1
    assert "both models alike" in warned[0]
    assert shown[2].startswith("validation: proved: both are the same function, for all values")


def test_the_verdict_of_a_validation_stands_first() -> None:
    pytest.importorskip("onnxruntime")
    model = MODELS / "t_same_string_ts.onnx"
    found = validate(model, rewrite(model).model, samples=1, device="cpu")
    lines = str(validation_document(found)).splitlines()
    assert lines[0] == f"proved: {found.reason}"
    assert "apart by rounding in 1 sample of what the ONNX text makes of them" in found.reason
    assert lines[-1].startswith("device cpu")
