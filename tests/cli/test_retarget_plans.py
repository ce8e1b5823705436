"""Plans of `onnxpad retarget`: which do not fit, and where they come from."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest
from onnx import parser

from onnxpad.cli import run

Captured = pytest.CaptureFixture[str]
PAIR = Path(__file__).parents[1] / "retargeting" / "pairs" / "p10_conv1d" / "wrong.onnx"


LONE = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 1, 8, 8] x) => (float[1, 1, N, M] y)
<int64[8] p = {0, 0, -1, -1, 0, 0, 1, 1}> { y = Pad (x, p) }
"""


@pytest.mark.parametrize(
    "settings",
    [
        {"pads": [0, 0, 1, 1, 0, 0, 1, 1]},
        {"pads": [1, 1, 1, 1]},
        {"pad_node": {"pads": [0, 0, 1, 1, 0, 0, 1, 1]}},
        {"pad_node": {"pads": [1, 1, 1, 1]}},
        {"pad_node": None},
    ],
)
def test_a_pad_has_no_entry_of_its_own(
    settings: dict[str, object], tmp_path: Path, capsys: Captured
) -> None:
    plan, model = tmp_path / "plan.json", tmp_path / "lone.onnx"
    written = parser.parse_model(LONE)
    written.graph.node[0].name = "crop"
    onnx.save(written, model)
    plan.write_text(json.dumps({"nodes": [{"node": "crop", **settings}]}))
    assert run(["retarget", str(model), "--plan", str(plan), "-o", str(tmp_path / "o.onnx")]) == 2
    said = capsys.readouterr().err
    assert "node 'crop' (Pad): entries are for convolutions and pools, and a Pad right in" in said
    assert "try     leave the entry out, or change the pads of this node in the model" in said
    assert "numbers" not in said


@pytest.mark.parametrize("target", ["plan.json", "./plan.json", "link.json"])
def test_the_plan_is_never_overwritten(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    text = json.dumps({"nodes": [{"node": "/MaxPool", "pads": [0, 1]}]})
    Path("plan.json").write_text(text)
    Path("link.json").symlink_to("plan.json")
    assert run(["retarget", str(PAIR), "--plan", "plan.json", "-o", target]) == 2
    assert f"'{target}' is an input, which is never overwritten" in capsys.readouterr().err
    assert Path("plan.json").read_text() == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"{", "is no JSON: "),
        (b"[" * 100000, "is no JSON: "),
        (b'{"nodes": [{"node": "a", "pads": [0], "pads": [1]}]}', "has 'pads' twice in one object"),
        (b'{"nodes": [1]}', "entry 0 of the plan '"),
        (b'{"nodes": [{"node": "nobody"}]}', "plan.json': no padded node matches 'nobody'"),
        (b'{"nodes": [{"node": "/MaxPool", "pads": [1' + b"0" * 9999 + b", 0]}]}", "is no JSON: "),
        (b'{"nodes": [{"node": "/MaxPool", "pads": [1e999, 0]}]}', "must be a list of 2 integers"),
    ],
)
def test_a_file_that_holds_no_plan_is_named(
    text: bytes, said: str, tmp_path: Path, capsys: Captured
) -> None:
    plan, target = tmp_path / "plan.json", tmp_path / "out.onnx"
    plan.write_bytes(text)
    assert run(["retarget", str(PAIR), "--plan", str(plan), "-o", str(target)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert f"the plan '{plan}'" in error
    assert not target.exists()


def test_a_plan_may_begin_with_a_byte_order_mark(tmp_path: Path, capsys: Captured) -> None:
    plan = tmp_path / "plan.json"
    plan.write_bytes(b'\xef\xbb\xbf{"nodes": [{"node": "/MaxPool", "pads": [0, 1]}]}')
    assert run(["retarget", str(PAIR), "--plan", str(plan), "--check"]) == 1
    assert "1 node would be moved as planned" in capsys.readouterr().out
