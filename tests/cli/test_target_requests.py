"""What is said about targets on the command line: several at once, and names that exist."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from onnxpad.cli import run
from onnxpad.rewriting.rewrite import rewrite
from tests.cli.processes import MODELS, SAME
from tests.rewriting.for_target.test_search import CONV, model_of

Captured = pytest.CaptureFixture[str]
STRINGS, YOLO = MODELS / "t_same_string_ts.onnx", MODELS / "k_yolo_tiny_op15.onnx"


def test_a_rewrite_takes_several_targets(capsys: Captured, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    targets = ["--target", "opencv", "--target", "mnn", "--target", "opencv"]
    assert run(["rewrite", str(SAME), *targets, "-o", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "opencv + mnn: " in shown
    for target in ("opencv", "mnn"):
        done = rewrite(out, target=target)
        assert not done.changed
        assert not done.unfit


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "opencv,ncnn"], "one name at a time, such as opencv"),
        (["--target", "openCV, ncnn"], "one name at a time, such as openCV"),
    ],
)
@pytest.mark.parametrize("verb", [["inspect"], ["rewrite", "--check"]])
def test_names_of_targets(
    verb: list[str], options: list[str], message: str, capsys: Captured
) -> None:
    assert run([*verb, str(SAME), *options]) == 2
    assert message in capsys.readouterr().err


def test_counts_of_inspect_agree(capsys: Captured) -> None:
    assert run(["inspect", str(YOLO)]) == 0
    shown = capsys.readouterr().out
    rows = shown.partition("\n\n")[2].count("\n") - 1
    assert f"{rows + 1} operators can pad, {rows} do" in shown
    assert "; 1 that writes no padding not shown (--all)" in shown
    assert run(["inspect", str(YOLO), "--node", "Conv__9816"]) == 0
    assert "1 operator can pad, 1 does" in capsys.readouterr().out


def test_what_a_pass_and_the_target_undo_is_said_once(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(rewrite(model_of(CONV), passes="explicit-pads").model, path)
    assert (
        run(["rewrite", str(path), "--target", "portable", "--pass", "auto-pads", "--check"]) == 0
    )
    shown = capsys.readouterr().out
    assert "Conv 'conv' is as before: " in shown
    assert " undo each other" in shown
    assert "portable: Conv" not in shown
    assert "nothing was changed" in shown
