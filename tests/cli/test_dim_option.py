"""What `--dim` says of dimensions, and several values in one option."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import click
import onnx
import pytest

from onnxpad.batch.inputs import dims_for
from onnxpad.cli import run
from onnxpad.cli.arguments import parse_dims
from tests.cli.processes import DYNAMIC, SAME
from tests.models.text import text_model

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


def test_two_facts_about_one_dimension_contradict_each_other() -> None:
    with pytest.raises(click.BadParameter, match="two facts about 'H'"):
        parse_dims(["H=640", "H%32=0"])


def test_of_two_sizes_it_says_what_both_are() -> None:
    with pytest.raises(click.BadParameter, match="--dim 'H%32=0'"):
        parse_dims(["H=224", "H=160"])


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


def test_facts_of_each_model_in_one_command(capsys: Captured, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("one.onnx", "two.onnx"):
        shutil.copy(DYNAMIC, tmp_path / "in" / name)
    folder = str(tmp_path / "in")
    facts = ["--dim", "one.onnx:unk__9105%4=0", "--dim", "unk__9106%4=0"]
    assert run(["rewrite", folder, "-o", str(tmp_path / "out"), *facts]) == 0
    said = capsys.readouterr().out
    assert "one.onnx: 7 nodes rewritten (explicit-pads 7), 0 skipped" in said
    assert "2 skipped" in said
    assert "two.onnx" in said
    assert run(["rewrite", folder, "--check", "--dim", "x*.onnx:unk__9105%4=0"]) == 2
    assert "'x*.onnx:unk__9105' is about no model here" in capsys.readouterr().err
    one = str(tmp_path / "in" / "one.onnx")
    assert run(["inspect", one, "--json", "--dim", "o*.onnx:unk__9105=64"]) == 0
    assert json.loads(capsys.readouterr().out)["assumed"] == {"unk__9105": 64}


def test_sizes_as_other_tools_call_them(capsys: Captured) -> None:
    assert run(["rewrite", str(SAME), "--input-size", "1,3,8,8", "-o", "o.onnx"]) == 2
    said = capsys.readouterr().err
    assert "Sizes are said by --dim NAME=SIZE" in said
    assert "--in-place" not in said


@pytest.mark.parametrize("name", ["dims", "sizes", "--dim"])
def test_sizes_are_explained(name: str, capsys: Captured) -> None:
    assert run(["explain", "--", name]) == 0
    assert "onnxpad.holds_where" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["H=640,W=640", "H%32=0, W=640"])
def test_several_facts_in_one_option(text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"repeat the option, --dim 'H.*' --dim 'W=640'"):
        parse_dims([text])


def test_several_passes_in_one_option(capsys: Captured) -> None:
    assert run(["rewrite", str(SAME), "--check", "--pass", "floor-pool, split-pads"]) == 2
    assert "such as --pass floor-pool --pass split-pads" in capsys.readouterr().err


def test_facts_reach_inspect_and_rewrite(capsys: Captured, tmp_path: Path) -> None:
    facts = ["--dim", "unk__9105%4=0", "--dim", "unk__9106=64"]
    assert run(["inspect", str(DYNAMIC), "--json", *facts]) == 0
    read = json.loads(capsys.readouterr().out)
    assert read["assumed"] == {"unk__9105": "%4=0", "unk__9106": 64}
    assert read["summary"]["unknown"] == 0
    assert run(["rewrite", str(DYNAMIC), "-o", str(tmp_path / "o.onnx"), *facts]) == 0
    assert "0 skipped" in capsys.readouterr().out


SHAPE = {"unk__9104": 1, "unk__9105": 64, "unk__9106": 96}


@pytest.mark.parametrize("text", ["input:1x64x96x3", "input=1,64,96,3", "input:[1, 64, 96, 3]"])
def test_the_shape_of_an_input_fixes_its_sizes(text: str, capsys: Captured, tmp_path: Path) -> None:
    out = str(tmp_path / "o.onnx")
    assert run(["inspect", str(DYNAMIC), "--json", "--input-shape", text]) == 0
    assert json.loads(capsys.readouterr().out)["assumed"] == SHAPE
    line = ["rewrite", str(DYNAMIC), "-o", out, "--json", "--input-shape", text]
    assert run([*line, "--dim", "unk__9105%32=0"]) == 0
    assert json.loads(capsys.readouterr().out)["assumed"] == SHAPE


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["inputs:1x64x96x3"], "the model has no input 'inputs': did you mean 'input'?"),
        (["input:64x96x3"], "has 3 axes, and the file gives it 4"),
        (["input:1x64x96x4"], "has 4 on axis 3, and the file 3"),
        (["input:1x64x96x3", "--dim", "unk__9105=65"], "where unk__9105=65 is given as well"),
        (["input:1x64x96x3", "--dim", "unk__9106%5=0"], "where unk__9106%5=0 is given as well"),
        (["input:0x64x96x3"], "a size is at least 1"),
        (["input"], "expected NAME:1x3x64x64"),
    ],
)
@pytest.mark.parametrize("verb", ["inspect", "rewrite"])
def test_a_shape_that_cannot_be_is_refused(
    verb: str, more: list[str], said: str, capsys: Captured, tmp_path: Path
) -> None:
    line = [verb, str(DYNAMIC), "--input-shape", *more]
    assert run(line if verb == "inspect" else [*line, "-o", str(tmp_path / "o.onnx")]) == 2
    assert said in capsys.readouterr().err


def test_the_shape_of_an_input_of_many_models(capsys: Captured, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.onnx").write_bytes(DYNAMIC.read_bytes())
    onnx.save(text_model("y = Relu (other)", "float[n] other"), tmp_path / "c.onnx")
    line = ["inspect", str(tmp_path), "--json", "--input-shape"]
    assert run([*line, "input:1x64x96x3"]) == 0
    shown = capsys.readouterr()
    found = [json.loads(one)["assumed"] for one in shown.out.splitlines()]
    assert found == [SHAPE, SHAPE, {}]
    assert "input 'input' is in 2 of 3 models" in shown.err
    assert run([*line, "nowhere:1x64x96x3"]) == 2
    assert "no model has an input 'nowhere'" in capsys.readouterr().err
    assert run([*line, "input:1x64"]) == 2
    assert f"{tmp_path / 'a.onnx'}: the shape given" in capsys.readouterr().err
