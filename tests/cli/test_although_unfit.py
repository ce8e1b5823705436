"""rewrite --although-unfit: a target gets what there is a way for, and it exits with 1."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

import onnxpad
from onnxpad.cli import run
from tests.cli.processes import MODELS

Captured = pytest.CaptureFixture[str]

STUCK = MODELS / "t_avgpool_both_ts_op11_qoperator.onnx"


def test_the_rest_is_written_and_fails(tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "out.onnx"
    line = ["rewrite", str(STUCK), "--target", "opencv", "-o", str(out)]
    assert run(line) == 1
    told = capsys.readouterr()
    assert not out.exists()
    assert "\ntry: --although-unfit, which writes 1 node for which there is a way\n" in told.out
    assert run([*line, "--although-unfit", "--validate"]) == 1
    told = capsys.readouterr()
    assert "1 node rewritten (split-pads 1)" in told.out
    assert "validation: proved" in told.out
    assert "no way: opencv, QLinearConv '/d/Conv_quant'" in told.out
    assert told.err == ""
    assert sum(node.op_type == "Pad" for node in onnx.load(out).graph.node) == 1


def test_inspect_offers_it(capsys: Captured) -> None:
    assert run(["inspect", str(STUCK), "--target", "opencv"]) == 1
    typed = f"onnxpad rewrite {STUCK} --target opencv --although-unfit -o OUT"
    assert f"\nnext, for 1 of the nodes: {typed}\n" in capsys.readouterr().out


def test_of_many_models_as_well_and_in_python(tmp_path: Path, capsys: Captured) -> None:
    models = tmp_path / "in"
    models.mkdir()
    for path in (STUCK, MODELS / "t_same_string_ts.onnx"):
        (models / path.name).write_bytes(path.read_bytes())
    line = ["rewrite", str(models), "--target", "opencv", "-o", str(tmp_path / "out"), "--json"]
    assert run(line) == 1
    records = [json.loads(one) for one in capsys.readouterr().out.splitlines()]
    assert [one["status"] for one in records] == ["not written", "rewritten"]
    assert run([*line, "--although-unfit"]) == 1
    records = [json.loads(one) for one in capsys.readouterr().out.splitlines()]
    assert [one["status"] for one in records] == ["rewritten", "rewritten"]
    done = onnxpad.each(
        "rewrite", models, output=tmp_path / "again", target="opencv", although_unfit=True
    )
    assert [(one.code, one.written is not None) for one in done.outcomes] == [(1, True), (0, True)]


def test_it_is_about_a_target(capsys: Captured) -> None:
    assert run(["rewrite", str(STUCK), "--although-unfit", "--check"]) == 2
    assert "--although-unfit is about a target: add --target NAME" in capsys.readouterr().err
