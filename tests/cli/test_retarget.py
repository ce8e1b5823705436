"""onnxpad retarget: what it prints, writes and refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import run

Captured = pytest.CaptureFixture[str]
PAIR = Path(__file__).parents[1] / "retargeting" / "pairs" / "p10_conv1d" / "wrong.onnx"


@pytest.mark.parametrize(
    "text", [b"[" * 100_000, b'{"nodes": [{"node": "/MaxPool", "pads": [1' + b"0" * 9999 + b"]}]}"]
)
def test_a_plan_that_no_parser_takes_is_named(
    text: bytes, tmp_path: Path, capsys: Captured
) -> None:
    plan = tmp_path / "plan.json"
    plan.write_bytes(text)
    assert run(["retarget", str(PAIR), "--plan", str(plan), "--check"]) == 2
    assert f"cannot read the plan '{plan}': " in capsys.readouterr().err
