"""Where there is no way for a node, what a user can add to the request is said, and was tried."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

from onnxpad.cli import run
from onnxpad.inspection import inspect
from onnxpad.rewriting.rewrite import rewrite
from tests.cli.processes import DYNAMIC, MODELS
from tests.targets.test_planning import CONV, PADDED, model_of

ALONE = """<ir_version: 8, opset_import: ["" : 20]>
g (float[1,2,8,8] x) => (float[1,2,9,9] y) <int64[8] p = {0,0,0,0,0,0,1,1}> {
  b = Neg(x)
  [pad] a = Pad<mode="constant">(b, p)
  y = Neg(a)
}"""
Captured = pytest.CaptureFixture[str]
YOLO = MODELS / "k_yolo_tiny_op15.onnx"
OPEN = CONV.replace("float[1,2,8,8]", "float[n,2,h,w]").replace("float[1,3,4,4]", "float[a,b,c,d]")


def test_divisors_that_settle_the_nodes_are_named(capsys: Captured) -> None:
    assert run(["rewrite", str(DYNAMIC), "--target", "opencv", "--check"]) == 1
    shown = capsys.readouterr().out
    facts = "--dim 'unk__9105%4=0' --dim 'unk__9106%4=0'"
    assert f"try: {facts} settles all 2" in shown
    assert "try: --allow-unknown, which takes for granted what is not known of opencv" in shown
    given = ["--dim", "unk__9105%4=0", "--dim", "unk__9106%4=0"]
    assert run(["rewrite", str(DYNAMIC), "--target", "opencv", "--dry-run", *given]) == 0


def test_what_is_named_does_settle_it() -> None:
    done = rewrite(YOLO, target="ncnn")
    assert done.fitting is not None
    opening = done.fitting.opening
    assert (opening.stuck, opening.settled) == (10, 10)
    assert dict(opening.facts)["unk__9836"] == 1
    after = rewrite(YOLO, target="ncnn", dims=dict(opening.facts))
    assert after.fitting is not None
    assert after.fitting.no_way == ()


def test_the_state_before_is_not_changed_by_trying() -> None:
    model = model_of(OPEN)
    before = model.SerializeToString()
    done = rewrite(model, target="opencv")
    assert done.fitting is not None
    assert dict(done.fitting.opening.facts) == {"h": "%2=0", "w": "%2=0"}
    assert done.fitting.opening.granted == 1
    assert not done.changed
    assert model.SerializeToString() == before


def test_fixed_sizes_leave_nothing_to_say(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(model_of(PADDED), path)
    assert run(["rewrite", str(path), "--target", "qnn", "--check"]) == 1
    assert "try:" not in capsys.readouterr().out


def test_inspect_says_the_same(capsys: Captured) -> None:
    assert run(["inspect", str(YOLO), "--target", "ncnn"]) == 1
    shown = capsys.readouterr().out
    assert "try: --dim 'unk__9836=1'" in shown
    rows = [line for line in shown.splitlines() if "the batch is not 1, and" in line]
    (row,) = rows
    assert row.startswith("7 nodes: 'Conv__9816', 'Conv__9820', 'Conv__9824' and 4 more")
    assert all(line.endswith("left as it is") for line in rows)
    assert "the input has neither 1 nor 2 axes" in rows[0]


def test_inspect_names_the_form_that_is_only_not_known(capsys: Captured) -> None:
    assert run(["inspect", str(DYNAMIC), "--target", "opencv"]) == 1
    assert "no way; runtime-pads with --allow-unknown" in capsys.readouterr().out
    record = inspect(DYNAMIC, target="opencv").to_json()
    assert record["openings"]["opencv"]["dims"] == {"unk__9105": "%4=0", "unk__9106": "%4=0"}


def test_sarif_tells_what_is_left_from_no_way(capsys: Captured) -> None:
    assert run(["inspect", str(YOLO), "--target", "ncnn", "--sarif"]) == 1
    results = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    for result in results:
        said = result["message"]["text"].rpartition("rewrite --target ncnn: ")[2]
        wanted = "left as it is" if result["ruleId"] == "unknown" else "no way"
        assert said.split(";")[0].rstrip(".") == wanted


def test_an_opset_comes_with_its_cure(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(model_of(ALONE), path)
    assert run(["rewrite", str(path), "--target", "portable", "--check"]) == 1
    assert "  try     export the model with opset 17 or older" in capsys.readouterr().out


def test_sizes_that_the_file_must_fix_are_no_matter_of_facts(capsys: Captured) -> None:
    assert run(["rewrite", str(DYNAMIC), "--target", "qnn", "--check"]) == 1
    shown = capsys.readouterr().out
    assert "  try     give the model's inputs fixed sizes" in shown
    assert "try: --dim" not in shown


@pytest.mark.parametrize("target", ["qnn", "portable", "onnx2keras"])
def test_facts_do_not_fix_sizes_in_the_file(target: str) -> None:
    dims = {"unk__9104": 1, "unk__9105": 64, "unk__9106": 64}
    done = rewrite(DYNAMIC, target=target, dims=dims)
    assert done.unfit
    assert any("does not fix" in one.judgement.reason for one in done.unfit)


def test_facts_help_where_only_same_hangs_on_sizes() -> None:
    done = rewrite(DYNAMIC, target="burn")
    assert done.fitting is not None
    assert done.fitting.opening.settled > 0
    after = rewrite(DYNAMIC, target="burn", dims=dict(done.fitting.opening.facts))
    assert len(after.unfit) == len(done.unfit) - done.fitting.opening.settled
