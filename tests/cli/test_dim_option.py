"""What `--dim` says of dimensions, and several values in one option."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from onnxpad.batch.facts import dims_for
from onnxpad.cli import run
from onnxpad.cli.values import parse_dims
from tests.cli.processes import DYNAMIC

Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("height=640", {"height": 640}),
        ("height%32=0", {"height": "%32=0"}),
        (" height % 32 == 0 ", {"height": "% 32 == 0"}),
        ("images[2]=640", {"images[2]": 640}),
        ("a=b=7", {"a=b": 7}),
        ("32*h+1=65", {"32*h+1": 65}),
    ],
)
def test_facts_about_dimensions(text: str, found: dict[str, int | str]) -> None:
    assert parse_dims([text]) == found


@pytest.mark.parametrize("text", ["height", "=3", "height=", "height=-3", "height%32", "%32=0"])
def test_other_texts_say_nothing(text: str) -> None:
    with pytest.raises(click.BadParameter, match="expected NAME=SIZE or"):
        parse_dims([text])


def test_a_fact_about_some_models_alone() -> None:
    facts: dict[str, int | str] = {"enc*.onnx:h": 8, "h": 4, "w": "%2=0"}
    assert dims_for("some/enc1.onnx", facts) == {"h": 8, "w": "%2=0"}
    assert dims_for("some/dec.onnx", facts) == {"h": 4, "w": "%2=0"}
    assert dims_for("a/b.onnx", {"a/*.onnx:x[2]": 4}) == {"x[2]": 4}
    for model in ("models/a/b.onnx", "/some/models/a/deep/b.onnx", "./a/b.onnx"):
        for glob in ("a/*.onnx", "./a/*.onnx"):
            assert dims_for(model, {f"{glob}:h": 4}) == {"h": 4}
    assert not dims_for("models/ba/b.onnx", {"a/*.onnx:h": 4})
    assert not dims_for("models/a/b.onnx", {"a*.onnx:h": 4})


SHAPE = {"unk__9104": 1, "unk__9105": 64, "unk__9106": 96}


@pytest.mark.parametrize("text", ["input:1x64x96x3", "input=1,64,96,3", "input:[1, 64, 96, 3]"])
def test_the_shape_of_an_input_fixes_its_sizes(text: str, capsys: Captured, tmp_path: Path) -> None:
    out = str(tmp_path / "o.onnx")
    assert run(["inspect", str(DYNAMIC), "--json", "--input-shape", text]) == 0
    assert json.loads(capsys.readouterr().out)["assumed"] == SHAPE
    line = ["rewrite", str(DYNAMIC), "-o", out, "--json", "--input-shape", text]
    assert run([*line, "--dim", "unk__9105%32=0"]) == 0
    assert json.loads(capsys.readouterr().out)["assumed"] == SHAPE
