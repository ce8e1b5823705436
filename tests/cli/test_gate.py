"""--fail-on, --baseline and --write-baseline: what makes inspect exit with 1."""

from __future__ import annotations

import json
from glob import escape
from pathlib import Path

import onnx.parser
import pytest

from onnxpad import inspect
from onnxpad.cli import gate, run
from onnxpad.inspection import KINDS
from onnxpad.runtimes.conditions.rows import Answer
from tests.cli.processes import MODELS, SAME
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


@pytest.mark.parametrize("others", [[], [str(SAME)]], ids=["alone", "of two"])
def test_every_record_has_the_word_of_the_summary(
    tmp_path: Path, capsys: Captured, others: list[str]
) -> None:
    known = str(tmp_path / "known.json")
    wrong = ["--target", "opencv"]
    assert run(["inspect", str(STRINGS), *wrong, "--baseline", known, "--write-baseline"]) == 0
    asked = {
        "with traps": [],
        "failing": wrong,
        "with known findings": [*wrong, "--baseline", known],
        "fine": ["--target", "tvm"],
    }
    capsys.readouterr()
    for status, options in asked.items():
        run(["inspect", str(STRINGS), *others, *options, "--json"])
        first, *_ = capsys.readouterr().out.splitlines()
        assert json.loads(first)["status"] == status


def test_traps_fail_where_that_is_asked_for(capsys: Captured) -> None:
    assert exits(STRINGS) == 0
    assert capsys.readouterr().err == ""
    assert exits(STRINGS, "--fail-on", "trap") == 1
    said = capsys.readouterr().err
    first, second = said.splitlines()
    nodes = "'/f/f.2/Conv', '/f/f.4/Conv'"
    assert first.startswith(f"fails: {STRINGS}: same-with-dilation {nodes}: onnxruntime refuses")
    assert second == f"  try     onnxpad rewrite {STRINGS} --pass explicit-pads -o OUT"
    assert exits(MODELS / "pd_same_static_op13.onnx", "--fail-on", "trap") == 0


def test_a_trap_of_an_older_release_is_mended_by_a_rewrite_for_that(
    tmp_path: Path, capsys: Captured, baseline: Path
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
    exits(model, "--fail-on", "trap", "--baseline", baseline, "--write-baseline")
    assert mends.replace(str(model), "m.onnx") in baseline.read_text()


def test_the_report_tells_what_fails(capsys: Captured, baseline: Path) -> None:
    line = (STRINGS, "--target", "opencv", "--fail-on", "trap", "--json")
    assert exits(*line, "--node", "*f.2*", "--baseline", "none") == 2
    assert exits(*line, "--baseline", baseline, "--write-baseline") == 0
    told = json.loads(capsys.readouterr().out)["findings"]
    assert {(one["fails"], one["known"]) for one in told} == {(False, True)}
    assert exits(STRINGS, "--target", "opencv", "--json") == 1
    told = json.loads(capsys.readouterr().out)["findings"]
    assert [(one["code"], one["fails"]) for one in told] == [
        ("same-with-dilation", False),
        ("same-with-dilation", False),
        ("opencv:wrong", True),
        ("opencv:wrong", True),
    ]
    named = {name: told[2][name] for name in ("kind", "node", "op", "known")}
    assert named == {"kind": "wrong", "node": "/f/f.2/Conv", "op": "Conv", "known": False}


def test_known_findings_pass_and_new_ones_fail(capsys: Captured, baseline: Path) -> None:
    line = (SAME, STRINGS, "--baseline", baseline)
    assert exits(*line, "--target", "opencv", "--write-baseline") == 0
    assert capsys.readouterr().err == f"wrote {baseline}\n"
    assert exits(*line, "--target", "opencv") == 0
    said = capsys.readouterr().err
    assert said.startswith(f"5 known findings in {baseline}\n  try     onnxpad rewrite {SAME} ")
    assert said.endswith(" --target opencv -o OUT, and 1 more\n")
    assert exits(*line, "--target", "opencv", "--target", "ncnn") == 1
    said = capsys.readouterr().err
    assert "ncnn:wrong 'MaxPool.0': SAME with stride 1 would" in said
    assert "ncnn:wrong 'AveragePool.0': it pads, and count_include_pad is 0" in said
    assert exits(*line, "--target", "opencv", "--fail-on", "trap") == 1
    assert "same-with-dilation" in capsys.readouterr().err


def test_a_target_by_another_name_is_the_same(baseline: Path) -> None:
    line = (SAME, "--baseline", baseline)
    exits(*line, "--target", "OpenCV", "--write-baseline")
    assert exits(*line, "--target", "cv2") == 0


def test_what_is_known_of_another_release_fails_again_and_is_told(
    capsys: Captured, baseline: Path
) -> None:
    """What was accepted for one release says nothing of the next."""
    assert exits(SAME, "--target", "opencv", "--baseline", baseline, "--write-baseline") == 0
    count = len(inspect(SAME, target="opencv").findings)
    capsys.readouterr()
    assert exits(SAME, "--target", "opencv@5.0", "--baseline", baseline) == 1
    told = (
        f"{count} findings of opencv@5.0 are known of opencv, which is not the same release: "
        f"--write-baseline accepts them in {baseline}\n"
    )
    assert told in capsys.readouterr().err
    assert exits(SAME, "--target", "opencv", "--baseline", baseline) == 0
    assert "not the same release" not in capsys.readouterr().err


def test_what_is_gone_is_named_and_dropped(capsys: Captured, baseline: Path) -> None:
    line = (SAME, "--baseline", baseline, "--target", "opencv")
    exits(*line, "--write-baseline")
    written = baseline.read_text()
    baseline.write_text(written.replace('"Conv.0"', '"Conv.gone"'))
    capsys.readouterr()
    assert exits(*line) == 1
    said = capsys.readouterr().err
    assert f"fails: {SAME}: opencv:wrong 'Conv.0': OpenCV pads SAME" in said
    assert f"  try     onnxpad rewrite {SAME} --target opencv -o OUT\n" in said
    assert "1 known finding is gone: --prune-baseline drops what is gone\n" in said
    assert exits(*line, "--write-baseline") == 0
    assert baseline.read_text() == written


def test_pruning_drops_what_is_gone_and_accepts_nothing_new(
    capsys: Captured, baseline: Path
) -> None:
    line = (SAME, "--baseline", baseline, "--target", "opencv")
    exits(*line, "--write-baseline")
    written = baseline.read_text()
    baseline.write_text(written.replace('"Conv.0"', '"Conv.gone"'))
    capsys.readouterr()
    assert exits(*line, "--prune-baseline") == 1
    assert f"1 known finding dropped from {baseline}\n" in capsys.readouterr().err
    assert "Conv.gone" not in baseline.read_text()
    assert '"Conv.0"' not in baseline.read_text()
    assert exits(*line) == 1
    assert "gone" not in capsys.readouterr().err
    assert exits(SAME, "--target", "opencv", "--prune-baseline") == 2
    assert exits(*line, "--prune-baseline", "--write-baseline") == 2
    assert exits(*line, "--prune-baseline", "--node", "Conv.0") == 2


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


def test_a_repair_has_the_sizes_without_which_it_does_nothing(capsys: Captured) -> None:
    unet = MODELS / "k_unet_dyn_op13.onnx"
    assert exits(unet, "--target", "opencv", "--fail-on", "wrong") == 1
    sizes = "--dim 'unk__9105%4=0' --dim 'unk__9106%4=0'"
    repair = f"  try     onnxpad rewrite {unet} --target opencv {sizes} -o OUT"
    assert capsys.readouterr().err.splitlines()[-1] == repair


def test_what_another_opset_mends_has_a_repair(capsys: Captured, tmp_path: Path) -> None:
    made = text_model(
        "y = Pad (x, p)",
        "float[1,1,4,4] x",
        outputs="float[a,b,c,d] y",
        constants="int64[8] p = {0,0,1,1,0,0,1,1}",
        opset=20,
    )
    path = tmp_path / "m.onnx"
    onnx.save(made, path)
    assert exits(path, "--target", "onnx2torch", "--fail-on", "refused") == 1
    repair = f"  try     onnxpad rewrite {path} --target onnx2torch -o OUT"
    assert capsys.readouterr().err.splitlines()[-1] == repair


def test_what_a_run_does_not_look_for_stays_in_the_file(baseline: Path) -> None:
    line = (STRINGS, "--baseline", baseline, "--write-baseline")
    exits(*line, "--target", "opencv", "--fail-on", "trap")
    exits(SAME, "--baseline", baseline, "--write-baseline", "--target", "ncnn")
    written = baseline.read_bytes()
    assert exits(*line, "--target", "tvm") == 0
    assert baseline.read_bytes() == written
    codes = [known.keys() for known in json.loads(written)["models"].values()]
    assert codes == [{"ncnn:wrong"}, {"opencv:wrong", "same-with-dilation"}]


def test_nothing_is_gone_that_was_not_looked_for(capsys: Captured, baseline: Path) -> None:
    line = (STRINGS, "--baseline", baseline)
    exits(*line, "--target", "opencv", "--fail-on", "trap", "--write-baseline")
    text = baseline.read_text().replace('"opencv:wrong"', '"cuda:off-device": ["a"], "x:wrong"')
    baseline.write_text(text)
    for more in ((), ("--target", "tvm"), ("--target", "cv2", "--node", "*f.6*")):
        capsys.readouterr()
        assert exits(*line, *more) == 0
        assert "gone" not in capsys.readouterr().err


def test_models_are_named_from_the_folder_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "a.onnx").write_bytes(SAME.read_bytes())
    monkeypatch.chdir(tmp_path / "nets")
    line = ("a.onnx", "--target", "opencv", "--baseline", "../known.json")
    assert exits(*line, "--write-baseline") == 0
    assert list(json.loads((tmp_path / "known.json").read_text())["models"]) == ["nets/a.onnx"]
    monkeypatch.chdir(tmp_path)
    assert exits("nets/a.onnx", "--target", "opencv", "--baseline", "known.json") == 0


def test_the_same_findings_give_the_same_bytes(baseline: Path) -> None:
    line = ("--target", "opencv", "--baseline", baseline, "--write-baseline")
    exits(SAME, STRINGS, *line)
    first = baseline.read_bytes()
    baseline.unlink()
    exits(STRINGS, SAME, *line)
    assert baseline.read_bytes() == first


def test_a_model_that_cannot_be_read_is_left_out_of_the_baseline(
    capsys: Captured, tmp_path: Path, baseline: Path
) -> None:
    broken = tmp_path / "broken[1].onnx"
    broken.write_bytes(SAME.read_bytes())
    line = ("--target", "opencv", "--baseline", baseline)
    assert exits(broken, *line, "--write-baseline") == 0
    before = json.loads(baseline.read_text())["models"]
    broken.write_bytes(b"\x00none")
    capsys.readouterr()
    assert exits(SAME, broken, *line, "--write-baseline") == 2
    said = capsys.readouterr().err
    left_out = f"without 1 model that could not be inspected: '{broken}'\n"
    glob = escape(str(broken))
    assert f"wrote {baseline} {left_out}  try     mend it, or leave out with --exclude" in said
    assert glob in said
    after = json.loads(baseline.read_text())["models"]
    assert len(after) == 2
    assert before.items() < after.items()  # what was known of it stays
    assert exits(SAME, broken, *line) == 2
    assert exits(SAME, broken, *line, "--exclude", glob) == 0
    for nothing in ([broken], [broken, tmp_path / "absent.onnx"]):
        baseline.unlink(missing_ok=True)
        capsys.readouterr()
        assert exits(*nothing, *line, "--write-baseline") == 2
        assert f"nothing written to {baseline}: there are only" in capsys.readouterr().err
        assert not baseline.exists()


def test_a_model_that_cannot_be_read_holds_no_pruning_up(
    capsys: Captured, tmp_path: Path, baseline: Path
) -> None:
    mended, broken = tmp_path / "a.onnx", tmp_path / "b.onnx"
    for model in (mended, broken):
        model.write_bytes(SAME.read_bytes())
    line = (tmp_path, "--target", "opencv", "--baseline", baseline)
    exits(*line, "--write-baseline")
    onnx.save(text_model("y = Relu (x)"), mended)
    broken.write_bytes(b"\x00none")
    capsys.readouterr()
    assert exits(*line, "--prune-baseline") == 2
    assert f"dropped from {baseline}" in capsys.readouterr().err
    assert list(json.loads(baseline.read_text())["models"]) == ["b.onnx"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[", "is not JSON"),
        ("[]", "is none of onnxpad's"),
        ('{"onnxpad-baseline": 2}', "has version 2"),
        ('{"onnxpad-baseline": 1}', "lists no models"),
        ('{"onnxpad-baseline": 1, "models": {"a": ["b"]}}', "cannot be read at 'a'"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_a_file_that_is_no_baseline_is_refused(
    capsys: Captured, baseline: Path, content: str, message: str
) -> None:
    baseline.write_text(content)
    assert exits(SAME, "--baseline", baseline) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "--write-baseline" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--fail-on", "unknown"), "add --target T"),
        (
            ("--fail-on", "odd"),
            "'odd' is not one of 'fallback', 'unknown', 'refused', 'wrong', 'trap'",
        ),
        (("--write-baseline",), "add --baseline FILE"),
        (("--baseline", "/dev/zero"), "it is a device, which may have no end"),
        (("--baseline", "nowhere.json"), "there is no baseline 'nowhere.json'"),
        (("--baseline", "/dev/zero"), "cannot read the baseline"),
        (("--baseline", "b", "--write-baseline", "--node", "*"), "--node leaves some out"),
        (("--baseline", SAME, "--write-baseline"), "never overwritten"),
        (("--baseline", f"{SAME}/where", "--write-baseline"), "the baseline:"),
    ],
)
def test_what_makes_no_sense_is_refused(
    capsys: Captured, options: tuple[str, ...], message: str
) -> None:
    assert exits(SAME, *options) == 2
    assert message in capsys.readouterr().err


def test_the_python_report_lists_findings_once() -> None:
    found = inspect(STRINGS, target=["opencv", "tvm"]).findings
    assert [(one.code, one.node) for one in found] == [
        ("same-with-dilation", "/f/f.2/Conv"),
        ("same-with-dilation", "/f/f.4/Conv"),
        ("opencv:wrong", "/f/f.2/Conv"),
        ("opencv:wrong", "/f/f.4/Conv"),
    ]


MIXED = """[pool] p, i = MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (x)
[norm] y = LpPool <kernel_shape = [2,2], pads = [1,1,1,1]> (p)"""


def test_known_findings_tell_which_could_be_repaired(
    capsys: Captured, tmp_path: Path, baseline: Path
) -> None:
    made = text_model(MIXED, "float[1,2,8,8] x", outputs="float[a,b,c,d] y, int64[e,f,g,h] i")
    onnx.save(made, tmp_path / "m.onnx")
    line = (tmp_path / "m.onnx", "--baseline", baseline, "--target", "ncnn")
    exits(*line, "--write-baseline")
    command = "onnxpad rewrite m.onnx --target ncnn --node norm -o OUT"
    told = json.loads(baseline.read_text())["repairs"]
    assert told == {"m.onnx": {"ncnn:refused": {"no way": ["pool"], command: ["norm"]}}}
    capsys.readouterr()
    assert exits(*line) == 0
    said = capsys.readouterr().err
    assert said.startswith(f"2 known findings in {baseline}, 1 without a way\n  try     ")
    assert said.endswith(" --target ncnn --node norm -o OUT\n")


def test_what_is_said_of_repairs_stays_where_it_was_not_looked_for(baseline: Path) -> None:
    line = (STRINGS, "--baseline", baseline, "--write-baseline")
    exits(*line, "--target", "opencv")
    before = json.loads(baseline.read_text())["repairs"]
    exits(SAME, "--baseline", baseline, "--write-baseline", "--target", "ncnn")
    after = json.loads(baseline.read_text())["repairs"]
    assert len(before) == 1
    assert before.items() <= after.items()
    assert len(after) == 2


def test_a_file_without_a_word_of_repairs_is_read(baseline: Path) -> None:
    line = (SAME, "--baseline", baseline, "--target", "opencv")
    exits(*line, "--write-baseline")
    written = json.loads(baseline.read_text())
    for repairs in ({"repairs": [1]}, {"repairs": {next(iter(written["models"])): 3}}, {}):
        kept = {name: written[name] for name in ("onnxpad-baseline", "models")}
        baseline.write_text(json.dumps(kept | repairs))
        assert exits(*line) == 0


def test_what_an_open_size_keeps_unknown_has_the_size_in_the_baseline(
    baseline: Path, tmp_path: Path
) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(OPEN_BATCH), path)
    line = (path, "--target", "ncnn", "--fail-on", "unknown", "--baseline", baseline)
    assert exits(*line, "--write-baseline") == 0
    (told,) = json.loads(baseline.read_text())["repairs"]["m.onnx"]["ncnn:unknown"]
    assert told == "onnxpad inspect m.onnx --target ncnn --dim 'n=1'"
    assert exits(path, "--target", "ncnn", "--fail-on", "unknown", "--dim", "n=1") == 0


OPEN_BATCH = """<ir_version: 8, opset_import: ["" : 13]>
g (float[n,1,8,8] x) => (float[n,1,8,8] y) <float[1,1,3,3] w = {1,1,1,1,1,1,1,1,1}> {
  y = Conv<pads=[1,1,1,1]>(x, w)
}"""


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
    capsys: Captured, tmp_path: Path, baseline: Path, *, many: bool
) -> None:
    path = save(tmp_path, OVERHANG)
    line: list[str | Path] = [path, *([SAME] if many else []), "--fail-on", "refused"]
    line += ["--target", "openvino@2024.6", "--target", "onnxruntime@1.20"]
    assert exits(*line) == 1
    repair = f"onnxpad rewrite {path} --target onnxruntime@1.20 -o OUT"
    assert f"  try     {repair}\n" in capsys.readouterr().err
    assert exits(*line, "--baseline", baseline, "--write-baseline") == 0
    told = json.loads(baseline.read_text())["repairs"][path.name]["onnxruntime@1.20:wrong"]
    assert told == {repair.replace(str(path), path.name): ["q"]}
    assert run([*repair.split()[1:-1], str(tmp_path / "out.onnx")]) == 0


@pytest.mark.parametrize("many", [False, True])
def test_a_repair_for_several_targets_at_once_was_tried(
    capsys: Captured, tmp_path: Path, *, many: bool
) -> None:
    line = [STRINGS, *([MODELS / "pd_same_static_op13.onnx"] if many else [])]
    assert exits(*line, "--target", "opencv", "--target", "ncnn", "--fail-on", "refused") == 1
    said = capsys.readouterr().err
    repairs = {
        one for one in said.splitlines() if one.startswith(f"  try     onnxpad rewrite {STRINGS}")
    }
    assert len(repairs) == 1
    (repair,) = (one.split()[2:-1] for one in repairs)
    assert run([*repair, str(tmp_path / "out.onnx")]) == 0


def test_no_size_is_offered_for_what_no_size_helps(
    capsys: Captured, tmp_path: Path, baseline: Path
) -> None:
    path = save(tmp_path, BRANCHES)
    line = (path, "--target", "ncnn", "--fail-on", "refused")
    assert exits(*line) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first == f"fails: {path}: ncnn:refused 'cond': it has no If"
    assert second == "  try     no form that onnxpad writes is taken for 1"
    assert exits(*line, "--baseline", baseline, "--write-baseline") == 0
    told = json.loads(baseline.read_text())["repairs"][path.name]["ncnn:refused"]
    assert told == {"no way": ["cond"]}
