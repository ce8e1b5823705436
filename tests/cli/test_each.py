"""--each names every node of which rewrite and retarget tell the same together."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from onnxpad.cli import run
from tests.models.text import text_model

Captured = pytest.CaptureFixture[str]
COUNT = 5


@pytest.fixture
def model(tmp_path: Path) -> str:
    conv = 'Conv <auto_pad = "SAME_UPPER", kernel_shape = [3, 3], dilations = [2, 2]>'
    nodes = [f"[c{n}] t{n + 1} = {conv} (t{n}, w)" for n in range(COUNT)]
    numbers = ", ".join(["0.1", "-0.2", "0.3"] * 3)
    made = text_model(
        " ".join(nodes),
        "float[1, 1, 9, 9] t0",
        outputs=f"float[1, 1, 9, 9] t{COUNT}",
        constants=f"float[1, 1, 3, 3] w = {{{numbers}}}",
        opset=17,
    )
    path = tmp_path / "model.onnx"
    onnx.save(made, path)
    return str(path)


def told(capsys: Captured, *line: str) -> str:
    run([*line])
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "line",
    [
        ("inspect", "--target", "opencv"),
        ("rewrite", "--target", "opencv", "--check"),
        ("retarget", "--to", "pytorch", "--check"),
    ],
    ids=lambda line: line[0],
)
def test_many_nodes_alike_are_told_together_and_each_of_them_when_asked(
    capsys: Captured, model: str, line: tuple[str, ...]
) -> None:
    verb, *options = line
    together = told(capsys, verb, model, *options)
    assert "more (--each)" in together
    each = told(capsys, verb, model, *options, "--each")
    assert "(--each)" not in each
    words = each.replace("'", " ").replace(":", " ").split()
    assert {f"c{n}" for n in range(COUNT)} <= {*words}
    assert len(each.splitlines()) >= len(together.splitlines()) + COUNT - 1
