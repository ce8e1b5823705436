"""onnxpad retarget: what it prints, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

from onnxpad import retarget
from onnxpad.cli import run
from onnxpad.errors import RequestError
from tests.cli.processes import DYNAMIC, MODELS, SAME, onnxpad
from tests.models.text import text_model

Captured = pytest.CaptureFixture[str]
PAIR = Path(__file__).parents[1] / "retargeting" / "pairs" / "p10_conv1d" / "wrong.onnx"
MIXED = MODELS / "kt_net_even.onnx"


def test_it_says_what_moved_and_what_did_not(tmp_path: Path, capsys: Captured) -> None:
    target = tmp_path / "moved.onnx"
    assert run(["retarget", str(PAIR), "--to", "tensorflow", "-o", str(target)]) == 0
    said = capsys.readouterr().out
    assert "/MaxPool  MaxPool   symmetric pads [1, 1]  pads [0, 1]" in said
    assert f"{PAIR} -> {target}: 4 nodes moved to tensorflow, 0 unchanged, 0 skipped" in said
    assert run(["retarget", str(target), "--to", "tensorflow", "--check"]) == 0
    assert "0 nodes would be moved to tensorflow, 4 unchanged" in capsys.readouterr().out
    assert run(["retarget", str(PAIR), "--to", "tensorflow", "--check"]) == 1


def test_json_says_the_same_for_each_node(capsys: Captured) -> None:
    assert run(["retarget", str(PAIR), "--to", "tf", "--check", "--json"]) == 1
    read = json.loads(capsys.readouterr().out)
    assert read["to"] == "tensorflow"
    assert [one["node"] for one in read["changes"]] == ["/Conv", "/Conv_1", "/MaxPool", "/Conv_2"]
    pool = read["changes"][2]
    assert (pool["before"], pool["after"]) == ("symmetric pads [1, 1]", "pads [0, 1]")
    assert (pool["output_before"], pool["output_after"]) == (["16"], ["16"])
    assert not pool["resized"]
    assert read["breaks"] == []


def test_validate_shows_how_far_outputs_moved(capsys: Captured) -> None:
    command = ["retarget", str(PAIR), "--to", "tensorflow", "--check", "--validate", "--json"]
    assert run([*command, "--samples", "2"]) == 1
    rows = json.loads(capsys.readouterr().out)["moved"]["rows"]
    assert [row["sample"] for row in rows] == [0, 0, 1, 1]
    assert all(0.01 < row["relative"] < 10 for row in rows)
    assert run(["retarget", str(PAIR), "--to", "pytorch", "--check", "--validate"]) == 0
    assert "moved by" not in capsys.readouterr().out


def test_a_glob_and_a_plan_choose_nodes(tmp_path: Path, capsys: Captured) -> None:
    command = ["retarget", str(PAIR), "--check", "--json"]
    assert run([*command, "--to", "tensorflow", "--node", "/Conv*"]) == 1
    read = json.loads(capsys.readouterr().out)
    assert {one["node"] for one in read["changes"]} == {"/Conv", "/Conv_1", "/Conv_2"}
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"nodes": [{"node": "/MaxPool", "pads": [0, 1]}]}))
    assert run([*command, "--plan", str(plan)]) == 1
    read = json.loads(capsys.readouterr().out)
    assert [one["node"] for one in read["changes"]] == ["/MaxPool"]


def test_a_model_that_needs_nothing_is_written_as_it_was(tmp_path: Path) -> None:
    target = tmp_path / "same.onnx"
    assert run(["retarget", str(PAIR), "--to", "pytorch", "-o", str(target)]) == 0
    assert target.read_bytes() == PAIR.read_bytes()


def test_in_place_and_a_dry_run(tmp_path: Path, capsys: Captured) -> None:
    copy = tmp_path / "model.onnx"
    copy.write_bytes(PAIR.read_bytes())
    assert run(["retarget", str(copy), "--to", "tensorflow", "--dry-run"]) == 0
    assert "/MaxPool: set pads=[0, 1]" in capsys.readouterr().out
    assert copy.read_bytes() == PAIR.read_bytes()
    assert run(["retarget", str(copy), "--to", "tensorflow", "--in-place"]) == 0
    assert copy.read_bytes() != PAIR.read_bytes()


def test_skips_are_said_and_strict_writes_nothing(tmp_path: Path, capsys: Captured) -> None:
    wide = onnx.load(PAIR)
    for node in wide.graph.node:
        for attribute in node.attribute:
            if node.name == "/Conv" and attribute.name == "pads":
                attribute.ints[:] = [7, 1]
    source, target = tmp_path / "wide.onnx", tmp_path / "out.onnx"
    onnx.save(wide, source)
    command = ["retarget", str(source), "--to", "tensorflow", "-o", str(target)]
    assert run([*command, "--strict"]) == 1
    said = capsys.readouterr()
    assert "skip: tensorflow, Conv '/Conv': the pads [7, 1] fit no convention" in said.out
    assert "--source NAME says whose they are" in said.out
    assert not target.exists()
    assert run(command) == 0
    assert target.exists()


@pytest.mark.parametrize("verb", [["retarget", "--to", "pytorch"], ["rewrite"]])
def test_that_nothing_was_changed_and_validated_is_said(
    verb: list[str], tmp_path: Path, capsys: Captured
) -> None:
    """Skipped nodes leave the model as it was: exit 0 says only that it was written."""
    pool = 'y = MaxPool <kernel_shape=[4], strides=[3], auto_pad="SAME_UPPER"> (x)'
    model = text_model(pool, "float[1, 1, L] x", outputs="float[1, 1, M] y")
    onnx.save(model, tmp_path / "open.onnx")
    command = [verb[0], str(tmp_path / "open.onnx"), *verb[1:], "-o", str(tmp_path / "out.onnx")]
    assert run([*command, "--validate"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[1:3] == ["nothing was changed", "nothing to validate: the model did not change"]
    assert "skipped" in said[0]
    assert run(command) == 0
    assert capsys.readouterr().out.splitlines()[1] == "nothing was changed"
    settled = [verb[0], str(SAME), *verb[1:], "--dry-run", "--validate", "--samples", "1"]
    assert run(settled) == 0
    assert "nothing was" not in capsys.readouterr().out


def test_a_source_that_does_not_pad_so_is_said_per_node(capsys: Captured) -> None:
    assert run(["retarget", str(DYNAMIC), "--to", "tf", "--source", "caffe", "--check"]) == 0
    said = capsys.readouterr().out
    assert "SAME_UPPER is not what caffe would write here, and --source says it wrote this" in said


def test_a_pipe_carries_the_model() -> None:
    done = onnxpad("retarget", "-", "--to", "tensorflow", "-o", "-", stdin=PAIR.read_bytes())
    assert done.returncode == 0
    onnx.checker.check_model(onnx.load_from_string(done.stdout))
    assert b"standard input -> standard output: 4 nodes moved" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "give --to NAME or --plan FILE"),
        (["--to", "tensorflow", "--plan", str(PAIR)], "give --to NAME or --plan FILE"),
        (["--to", "tensorflw"], "did you mean 'tensorflow'?"),
        (["--to", "tensorflow", "--source", "nobody"], "no convention is called 'nobody'"),
        (["--plan", str(PAIR)], "wrong.onnx' is no JSON"),
        (["--plan", str(MODELS / "ORIGINS.md")], "ORIGINS.md' is no JSON"),
        (["--plan", str(PAIR), "--source", "tf"], "--source and --plan exclude each other"),
        (["--to", "tensorflow", "--node", "nothing"], "no padded node matches 'nothing'"),
        (["--to", "tensorflow", "--dim", "Q=3"], "'Q'"),
        (["--to", "tensorflow", "--samples", "3"], "only --validate runs models"),
    ],
)
def test_bad_requests_write_nothing(
    options: list[str], said: str, tmp_path: Path, capsys: Captured
) -> None:
    target = tmp_path / "out.onnx"
    assert run(["retarget", str(PAIR), *options, "-o", str(target)]) == 2
    assert said in capsys.readouterr().err
    assert not target.exists()


def test_python_refuses_the_same() -> None:
    with pytest.raises(RequestError, match="a convention to move to, or a plan"):
        retarget(PAIR)
    with pytest.raises(RequestError, match="source and plan exclude each other"):
        retarget(PAIR, plan={"nodes": []}, source="tf")
    with pytest.raises(RequestError, match="cannot read the plan"):
        retarget(PAIR, plan=PAIR.parent / "nothing.json")
    assert not retarget(PAIR, plan={"nodes": []}).changed


def test_several_models_go_into_a_folder(tmp_path: Path, capsys: Captured) -> None:
    command = ["retarget", str(SAME), str(MIXED), "--to", "pytorch", "-o", f"{tmp_path}/moved/"]
    assert run(command) == 0
    assert len(list((tmp_path / "moved").iterdir())) == 2
    assert capsys.readouterr().out.count("moved to pytorch") == 2
