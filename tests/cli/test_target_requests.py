"""What is said about targets on the command line: one at a time, and names that exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from onnxpad.cli import run
from tests.cli.processes import SAME

Captured = pytest.CaptureFixture[str]


def test_a_rewrite_takes_one_target(capsys: Captured, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    targets = ["--target", "opencv", "--target", "ncnn", "--target", "tvm"]
    assert run(["rewrite", str(SAME), *targets, "-o", str(out)]) == 2
    message = capsys.readouterr().err
    assert "one target at a time, and 3 are given (opencv, ncnn, tvm)" in message
    assert "inspect takes several" in message
    assert "portable" in message
    assert not out.exists()


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
