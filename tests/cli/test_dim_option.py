"""What `--dim` says of dimensions, and several values in one option."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from onnxpad.cli import run
from onnxpad.cli.arguments import parse_dims
from tests.cli.processes import DYNAMIC, SAME

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
