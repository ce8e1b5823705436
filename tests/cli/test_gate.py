"""--fail-on and --baseline; what they print is recorded in tests/recorded/gate.txt."""

from __future__ import annotations

from pathlib import Path

import onnx

from tests.cli.processes import SAME
from tests.command import run


def test_a_node_of_any_name_is_one_line(tmp_path: Path) -> None:
    model, baseline = onnx.load(SAME), tmp_path / "known.txt"
    model.graph.node[0].name = "a\nb: c \x1b\u202e d"
    onnx.save(model, tmp_path / "m.onnx")
    line = ["inspect", str(tmp_path / "m.onnx"), "--target", "opencv", "--baseline", str(baseline)]
    assert run([*line, "--write-baseline"]) == 0
    assert len(baseline.read_text().splitlines()) == 3
    assert run(line) == 0
