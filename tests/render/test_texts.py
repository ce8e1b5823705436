"""Wording of shapes, pads, skips and reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onnxpad.inspection import inspect
from onnxpad.render.inspections import inspection_text
from onnxpad.render.jsons import json_line
from onnxpad.render.rewritings import rewriting_record, rewriting_text
from onnxpad.render.validations import validation_text
from onnxpad.render.wording import (
    counted,
    either,
    input_text,
    note,
    pads_text,
    shape_text,
    window_text,
)
from onnxpad.rewriting import rewrite
from onnxpad.validation import validate
from tests.text_models import text_model

MODELS = Path(__file__).parents[2] / "models"
WEIGHT = "float[1,1,3] w = {1, 10, 100}"
SAME = '[conv] y = Conv <strides=[2], auto_pad="SAME_UPPER"> (x, w)'


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
    assert counted(1, "pass", "passes") == "1 pass"
    assert counted(2, "pass", "passes") == "2 passes"


def test_a_note_shows_the_input_only_with_something_to_try() -> None:
    assert note("skip: p, Conv 'c'", "why", read="x [1]") == "skip: p, Conv 'c': why"
    assert note("skip: p, Conv 'c'", "why", read="x [1]", hints=("--a", "--b")) == (
        "skip: p, Conv 'c': why\n  input   x [1]\n  try     --a or --b"
    )


def test_a_skip_as_it_is_printed() -> None:
    done = rewrite(text_model(SAME, "float[1,1,height] x", constants=WEIGHT))
    assert rewriting_text("m.onnx", "out.onnx", done) == (
        "skip: explicit-pads, Conv 'conv': SAME_UPPER with kernel 3 needs the size of axis 2 "
        "(which is 'height', stride 2)\n"
        "  input   x [1, 1, height], kernel 3, stride 2\n"
        "  try     --dim 'height=640' or --dim 'height%2=0'\n"
        "m.onnx -> out.onnx: 0 nodes rewritten, 1 skipped\n"
    )
    (skip,) = rewriting_record("m.onnx", None, done)["skips"]
    assert skip["input"] == "x"
    assert skip["input_shape"] == [1, 1, "height"]


def test_a_script_as_it_is_printed() -> None:
    done = rewrite(text_model(SAME, constants=WEIGHT))
    assert rewriting_text("-", None, done, script=True) == (
        "conv: remove auto_pad\nconv: set pads=[0, 1]\n"
        "standard input: 1 node would be rewritten (explicit-pads 1), 0 skipped\n"
    )


def test_an_inspection_as_it_is_printed() -> None:
    text = inspection_text(inspect(MODELS / "t_same_string_ts.onnx"))
    lines = text.splitlines()
    assert lines[2].split() == [
        *("/f/f.2/Conv", "Conv", "[1,", "12,", "24,", "31]", "k2,5", "d3,1", "1,2", "2,2"),
        *("SAME_UPPER", "pytorch,", "tensorflow"),
    ]
    assert (
        "trap: same-with-dilation, Conv '/f/f.4/Conv': onnxruntime refuses to run SAME_UPPER "
        "together with dilations" in lines
    )
    assert lines[-1] == (
        "6 padded operators, 6 with auto_pad, 3 asymmetric, 2 traps; "
        "'onnxpad explain NAME' says more about a trap"
    )


def test_unknown_pads_are_explained() -> None:
    text = inspection_text(inspect(text_model(SAME, "float[1,1,H] x", constants=WEIGHT)))
    assert "unknown: Conv 'conv': SAME_UPPER with kernel 3 needs" in text
    assert "\n  input   x [1, 1, H], kernel 3, stride 2\n  try     --dim 'H=640'" in text
    assert text.endswith("0 traps; the pads of 1 are not known\n")


def test_a_model_without_padded_operators() -> None:
    text = inspection_text(inspect(text_model("y = Neg (x)")))
    assert text == "0 padded operators, 0 with auto_pad, 0 asymmetric, 0 traps\n"


def test_pad_nodes_say_what_they_write() -> None:
    rows = inspection_text(inspect(MODELS / "kt_net_even.onnx")).splitlines()
    assert "0,0 0,0 0,1 0,1  edge " in rows[2]


@pytest.mark.parametrize(("same", "verdict"), [(True, "identical"), (False, "different")])
def test_a_validation_as_it_is_printed(same: bool, verdict: str) -> None:
    pytest.importorskip("onnxruntime")
    before = text_model("[pool] y = MaxPool <kernel_shape=[3], pads=[1, 1]> (x)")
    pads = "1, 1" if same else "2, 0"
    after = text_model(f"[pool] y = MaxPool <kernel_shape=[3], pads=[{pads}]> (x)")
    found = validate(before, after, samples=1, device="cpu")
    text = validation_text(found)
    assert text.splitlines()[-1] == f"{verdict}: {found.reason}"
    assert ("first difference: MaxPool 'pool'" in text) is not same
    assert "device cpu: before on CPUExecutionProvider" in text
    row = text.splitlines()[1].split("  ")
    assert ("none" in [cell.strip() for cell in row]) is same


def test_json_has_no_numbers_that_are_none() -> None:
    line = json_line({"a": float("inf"), "b": [float("nan"), 1, "x"], "c": (1, {"d": -1.5})})
    assert json.loads(line) == {"a": "inf", "b": ["nan", 1, "x"], "c": [1, {"d": -1.5}]}
    assert line.count("\n") == 1
