"""rewrite --although-unfit: a target gets what there is a way for, and it exits with 1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import onnxpad
from onnxpad.cli import run
from tests.cli.processes import MODELS

Captured = pytest.CaptureFixture[str]

STUCK = MODELS / "tf_cond_conv_op13.onnx"
"""ncnn has no If."""


def test_the_rest_is_written_and_fails(tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "out.onnx"
    line = ["rewrite", str(STUCK), "--target", "ncnn", "-o", str(out)]
    assert run(line) == 1
    told = capsys.readouterr()
    assert not out.exists()
    assert "\ntry: --although-unfit, which writes 1 node for which there is a way\n" in told.out
    assert run([*line, "--although-unfit", "--validate"]) == 1
    told = capsys.readouterr()
    assert "1 node rewritten (symmetric-pads 1)" in told.out
    assert "validation: proved" in told.out
    assert "no way: If: ncnn refuses it in every form; 'cond'" in told.out
    assert told.err == ""
    assert out.exists()


def test_inspect_offers_it(capsys: Captured) -> None:
    assert run(["inspect", str(STUCK), "--target", "ncnn"]) == 1
    typed = f"onnxpad rewrite {STUCK} --target ncnn --although-unfit -o OUT"
    assert f"\nnext, for 1 of the nodes: {typed}\n" in capsys.readouterr().out


def test_of_many_models_as_well_and_in_python(tmp_path: Path, capsys: Captured) -> None:
    models = tmp_path / "in"
    models.mkdir()
    for path in (STUCK, MODELS / "t_same_string_ts.onnx"):
        (models / path.name).write_bytes(path.read_bytes())
    line = ["rewrite", str(models), "--target", "ncnn", "-o", str(tmp_path / "out"), "--json"]
    assert run(line) == 1
    records = [json.loads(one) for one in capsys.readouterr().out.splitlines()]
    assert [one["status"] for one in records] == ["rewritten", "not written"]
    assert run([*line, "--although-unfit"]) == 1
    records = [json.loads(one) for one in capsys.readouterr().out.splitlines()]
    assert [one["status"] for one in records] == ["rewritten", "rewritten"]
    done = onnxpad.each(
        "rewrite", models, output=tmp_path / "again", target="ncnn", although_unfit=True
    )
    assert [(one.code, one.written is not None) for one in done.outcomes] == [(0, True), (1, True)]


def test_it_is_about_a_target(capsys: Captured) -> None:
    assert run(["rewrite", str(STUCK), "--although-unfit", "--check"]) == 2
    assert "--although-unfit is about a target: add --target NAME" in capsys.readouterr().err
