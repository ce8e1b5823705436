"""--fail-on, --baseline and --write-baseline: what makes inspect exit with 1."""

from __future__ import annotations

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


def test_what_is_known_of_a_deleted_model_is_gone(
    tmp_path: Path, baseline: Path, capsys: Captured
) -> None:
    left, deleted = tmp_path / "left.onnx", tmp_path / "deleted.onnx"
    for path in (left, deleted):
        path.write_bytes(Path(STRINGS).read_bytes())
    line = ("--target", "opencv", "--baseline", baseline)
    assert exits(left, deleted, *line, "--write-baseline") == 0
    before = baseline.read_text().splitlines()
    deleted.unlink()
    capsys.readouterr()
    assert exits(left, *line) == 0
    assert f"{len(before) // 2} known findings are gone" in capsys.readouterr().err
    assert exits(left, *line, "--prune-baseline") == 0
    assert baseline.read_text().splitlines() == [one for one in before if one.startswith("left")]
