"""--fail-on, --baseline and --write-baseline: what makes inspect exit with 1."""

from __future__ import annotations

import json
import os
from glob import escape
from pathlib import Path

import onnx
import pytest

from onnxpad import inspect
from onnxpad.cli import gate, run
from onnxpad.inspection import KINDS
from onnxpad.runtimes.conditions.rows import Answer
from tests.cli.processes import SAME
from tests.cli.test_targets import INTEGER, STRINGS, save
from tests.models.text import text_model
from tests.models.traps import TRAPS

Captured = pytest.CaptureFixture[str]
UNTESTED = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2,8,8] x) => (float[1,2,8,8] y) {
  [odd] y = LpPool<kernel_shape=[3,3], pads=[1,1,1,1]>(x)
}"""


def exits(*line: str | Path) -> int:
    return run(["inspect", *map(str, line)])


@pytest.fixture
def baseline(tmp_path: Path) -> Path:
    return tmp_path / "known.json"


def test_levels_are_what_targets_answer_and_in_that_order() -> None:
    assert tuple(KINDS.values()) == gate.LEVELS
    assert [one for one in Answer if one in KINDS] == list(KINDS)
    assert set(Answer) - set(KINDS) == {Answer.TAKES}


@pytest.mark.parametrize(
    ("answer", "levels", "expected"),
    [
        ("unknown", (), 0),
        ("unknown", ("unknown",), 1),
        ("unknown", ("refused",), 0),
        ("refused", (), 1),
        ("refused", ("unknown",), 1),
        ("refused", ("refused", "wrong"), 1),
        ("refused", ("wrong",), 0),
        ("wrong", (), 1),
        ("wrong", ("wrong",), 1),
        ("wrong", ("trap",), 1),
    ],
)
def test_a_level_means_it_and_what_is_worse(
    tmp_path: Path, answer: str, levels: tuple[str, ...], expected: int
) -> None:
    """A target that is unknown for every node is a failure for who asks for that."""
    target = "tensorrt" if answer == "unknown" else "opencv"
    texts = {"unknown": UNTESTED, "refused": INTEGER}
    model = save(tmp_path, texts[answer]) if answer in texts else SAME
    kinds = {one.kind for one in inspect(model, target=target).findings}
    assert kinds - {"trap"} == {answer}
    given = [word for level in levels for word in ("--fail-on", level)]
    assert exits(model, "--target", target, *given) == expected


def test_a_trap_of_an_older_release_is_mended_by_a_rewrite_for_that(
    tmp_path: Path, capsys: Captured
) -> None:
    """Judged by the newest release nothing fails, and no pass is named for it."""
    model, out = tmp_path / "m.onnx", tmp_path / "out.onnx"
    onnx.save(TRAPS["pad-fused-into-max-pool"][0], model)
    mends = f"onnxpad rewrite {model} --target onnxruntime@1.31 -o OUT"
    assert exits(model, "--fail-on", "trap", "--target", "onnxruntime") == 1
    told = capsys.readouterr()
    assert told.err.splitlines()[1] == f"  try     {mends}"
    both = mends.replace("--target", "--target onnxruntime --target")
    assert f"next: {both}" in told.out.splitlines()
    for command in (mends, both):
        assert run([*command.split()[1:-1], str(out)]) == 0
        assert exits(out, "--fail-on", "trap") == 0


@pytest.mark.parametrize("many", [False, True])
def test_what_fails_has_its_reason_and_no_repair_that_would_be_refused(
    capsys: Captured, tmp_path: Path, *, many: bool
) -> None:
    made = text_model(
        "y = Conv (x, w) z = Conv <pads = [1, 1, 1, 1]> (x, v)",
        "float[1,1,12,4] x",
        outputs="float[a,b,c,d] y, float[e,f,g,h] z",
        constants="float[1,1,1,1] v = {2}, float[1,1,9,1] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}",
    )
    stuck = tmp_path / "stuck.onnx"
    onnx.save(made, stuck)
    models = [stuck, SAME] if many else [stuck]
    assert exits(*models, "--target", "opencv", "--fail-on", "wrong") == 1
    first, second, tried, *_ = capsys.readouterr().err.splitlines()
    assert "opencv:wrong 'y'" in first
    assert "reads beyond the weights" in first
    assert "opencv:wrong 'z'" in second
    repair = f"onnxpad rewrite {stuck} --target opencv --although-unfit -o OUT"
    none = "no form that onnxpad writes is taken for 1"
    assert tried == f"  try     {none}, and for 1 more: {repair}"


def test_what_a_run_does_not_look_for_stays_in_the_file(capsys: Captured, baseline: Path) -> None:
    line = (STRINGS, "--baseline", baseline)
    exits(*line, "--write-baseline", "--target", "opencv", "--fail-on", "trap")
    exits(SAME, "--baseline", baseline, "--write-baseline", "--target", "ncnn")
    written = baseline.read_text()
    assert exits(*line, "--write-baseline", "--target", "tvm") == 0
    assert baseline.read_text() == written
    known = [one.rpartition(": ")[2].split(" ")[0] for one in written.splitlines()]
    assert set(known) == {"ncnn:wrong", "opencv:wrong", "same-with-dilation"}
    baseline.write_text(written.replace("opencv:wrong", "cuda:off-device"))
    for more in ((), ("--target", "tvm"), ("--target", "cv2", "--node", "*f.6*")):
        capsys.readouterr()
        assert exits(*line, *more) == 0
        assert "gone" not in capsys.readouterr().err


def test_models_are_named_from_the_folder_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "a: b.onnx").write_bytes(SAME.read_bytes())
    monkeypatch.chdir(tmp_path / "nets")
    line = ("a: b.onnx", "--target", "opencv", "--baseline", "../known.json")
    assert exits(*line, "--write-baseline") == 0
    lines = (tmp_path / "known.json").read_text().splitlines()
    assert lines[0] == "nets/a: b.onnx: opencv:wrong Conv.0"
    monkeypatch.chdir(tmp_path)
    assert exits("nets/a: b.onnx", "--target", "opencv", "--baseline", "known.json") == 0


def test_a_node_of_any_name_is_one_line(tmp_path: Path, baseline: Path) -> None:
    model = onnx.load(SAME)
    model.graph.node[0].name = "a\nb: c \x1b\u202e d"
    onnx.save(model, tmp_path / "m.onnx")
    line = (tmp_path / "m.onnx", "--target", "opencv", "--baseline", baseline)
    assert exits(*line, "--write-baseline") == 0
    assert len(baseline.read_text().splitlines()) == 3
    assert exits(*line) == 0


def test_a_model_that_cannot_be_read_is_left_out_of_the_baseline(
    tmp_path: Path, baseline: Path
) -> None:
    broken = tmp_path / "broken[1].onnx"
    broken.write_bytes(SAME.read_bytes())
    line = ("--target", "opencv", "--baseline", baseline)
    assert exits(broken, *line, "--write-baseline") == 0
    before = set(baseline.read_text().splitlines())
    broken.write_bytes(b"\x00none")
    assert exits(SAME, broken, *line, "--write-baseline") == 2
    after = set(baseline.read_text().splitlines())
    assert before < after  # what was known of it stays
    assert exits(SAME, broken, *line) == 2
    assert exits(SAME, broken, *line, "--exclude", escape(str(broken))) == 0


def test_a_file_of_an_earlier_version_is_read(baseline: Path) -> None:
    name = os.path.relpath(SAME, baseline.parent)
    models = {name: {"opencv:wrong": ["Conv.0", "Conv.1", "MaxPool.0"]}}
    baseline.write_text(json.dumps({"onnxpad-baseline": 1, "models": models, "repairs": {}}))
    assert exits(SAME, "--baseline", baseline, "--target", "opencv") == 0


OVERHANG = """<ir_version: 8, opset_import: ["" : 11, "com.microsoft" : 1]>
g (uint8[1,2,8,8] x) => (uint8[a,b,c,d] y) <float s = {0.1}, uint8 z = {3}> {
  [q] y = com.microsoft.QLinearAveragePool<ceil_mode=1, count_include_pad=1, kernel_shape=[3,3],
    pads=[1,1,1,1], strides=[2,2]>(x, s, z, s, z)
}"""
BRANCHES = """<ir_version: 8, opset_import: ["" : 17]>
g (float[n,1,8,8] x) => (float[n,1,8,8] y) <float[1,1,3,3] w = {1,1,1,1,1,1,1,1,1}> {
  s = ReduceSum<keepdims=0>(x)
  b = Cast<to=9>(s)
  [cond] y = If(b)<
    then_branch = t () => (float[n,1,8,8] t) {[conv_t] t = Conv<pads=[1,1,1,1]>(x, w)},
    else_branch = e () => (float[n,1,8,8] e) {[conv_e] e = Conv<pads=[1,1,1,1]>(x, w)}>
}"""


@pytest.mark.parametrize("many", [False, True])
def test_a_repair_names_no_target_for_which_nothing_is_written(
    capsys: Captured, tmp_path: Path, *, many: bool
) -> None:
    path = save(tmp_path, OVERHANG)
    line: list[str | Path] = [path, *([SAME] if many else []), "--fail-on", "refused"]
    line += ["--target", "openvino@2024.6", "--target", "onnxruntime@1.20"]
    assert exits(*line) == 1
    repair = f"onnxpad rewrite {path} --target onnxruntime@1.20 -o OUT"
    assert f"  try     {repair}\n" in capsys.readouterr().err
    assert run([*repair.split()[1:-1], str(tmp_path / "out.onnx")]) == 0


def test_no_size_is_offered_for_what_no_size_helps(capsys: Captured, tmp_path: Path) -> None:
    path = save(tmp_path, BRANCHES)
    line = (path, "--target", "ncnn", "--fail-on", "refused")
    assert exits(*line) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first == f"fails: {path}: ncnn:refused 'cond': it has no If"
    assert second == "  try     no form that onnxpad writes is taken for 1"
