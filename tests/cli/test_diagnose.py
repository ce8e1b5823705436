"""onnxpad diagnose: what it prints, writes and refuses."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

from onnxpad.cli import run

Captured = pytest.CaptureFixture[str]
PAIR = Path(__file__).parents[1] / "retargeting" / "pairs" / "p10_conv1d"
WRONG, DATA = str(PAIR / "wrong.onnx"), str(PAIR / "reference.npz")
NODES = ["/Conv", "/Conv_1", "/MaxPool", "/Conv_2"]


def test_it_says_which_nodes_and_how(capsys: Captured) -> None:
    assert run(["diagnose", WRONG, "--data", DATA]) == 0
    said = capsys.readouterr().out
    assert "symmetric pads [2, 2]  pads [1, 2]  tensorflow, keras, " in said
    assert "an input of [33] would tell them apart" in said
    assert "explained: padding: with 4 nodes padded otherwise" in said
    assert "; 2 samples" in said


def test_the_plan_is_what_retarget_takes(tmp_path: Path, capsys: Captured) -> None:
    plan, fixed = tmp_path / "plan.json", tmp_path / "fixed.onnx"
    assert run(["diagnose", WRONG, "--data", DATA, "--plan", str(plan)]) == 0
    assert f"wrote {plan}: 4 nodes to change" in capsys.readouterr().out
    assert run(["retarget", WRONG, "--plan", str(plan), "-o", str(fixed)]) == 0
    capsys.readouterr()
    assert run(["diagnose", str(fixed), "--data", DATA, "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert (read["cause"], read["plan"]["nodes"], read["tried"]) == ("rounding", [], 1)
    assert read["residual"] < 1e-5


@pytest.mark.sweep
def test_the_verdict_comes_first_and_then_what_to_type(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(small)
    Path("wrong.onnx").write_bytes(Path(WRONG).read_bytes())
    Path("my data.npz").write_bytes(Path(DATA).read_bytes())
    asked = ["diagnose", "wrong.onnx", "--data", "my data.npz"]
    for more in (["--plan", "plan.json"], []):
        assert run([*asked, *more]) == 0
        first, numbers, typed, *_ = capsys.readouterr().out.splitlines()
        assert first.startswith("explained: padding: with 4 nodes padded otherwise")
        assert numbers.startswith("relative error ")
        commands = typed.removeprefix("next: ").split(" && ")
        assert len(commands) == (2 if more else 3)
        for command in commands:
            assert run(shlex.split(command)[1:]) == 0, command
        assert Path("wrong-fixed.onnx").exists()
        Path("wrong-fixed.onnx").unlink()
        capsys.readouterr()


def test_every_other_padded_node_is_counted(capsys: Captured) -> None:
    assert run(["diagnose", WRONG, "--data", DATA, "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert run(["diagnose", WRONG, "--data", DATA]) == 0
    count = len(read["unchanged"])
    assert ("no change" in capsys.readouterr().out) == bool(count)
    assert not set(read["unchanged"]) & set(NODES)


def test_json_holds_the_whole_report(capsys: Captured) -> None:
    assert run(["diagnose", WRONG, "--data", DATA, "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert (read["schema"], read["explained"], read["cause"]) == (2, True, "padding")
    assert [one["node"] for one in read["plan"]["nodes"]] == NODES
    assert read["before"] > 0.1
    assert read["residual"] < 1e-5
    pool = next(one for one in read["nodes"] if one["node"] == "/MaxPool")
    assert (pool["before"], pool["after"]) == ("symmetric pads [1, 1]", "pads [0, 1]")
    assert {"label": "no padding, rounding up", "sizes": [33]}.items() <= {
        key: pool["alternatives"][0][key] for key in ("label", "sizes")
    }.items()
    assert read["providers"] == {"model": ["CPUExecutionProvider"]}


def test_what_no_padding_explains_exits_1_and_writes_no_plan(
    tmp_path: Path, capsys: Captured
) -> None:
    stored = dict(np.load(DATA))
    shuffled = {key: value[..., ::-1] if "ref" in key else value for key, value in stored.items()}
    np.savez(tmp_path / "other.npz", **shuffled)
    plan = tmp_path / "plan.json"
    command = ["diagnose", WRONG, "--data", str(tmp_path / "other.npz"), "--budget", "2"]
    assert run([*command, "--plan", str(plan)]) == 1
    assert "not explained: " in capsys.readouterr().out
    assert not plan.exists()


def test_the_nearest_plan_is_written_where_that_is_asked_for(
    tmp_path: Path, capsys: Captured
) -> None:
    stored = dict(np.load(DATA))
    other = {key: value * (1.001 if "ref" in key else 1) for key, value in stored.items()}
    np.savez(tmp_path / "o.npz", **{k: v.astype(stored[k].dtype) for k, v in other.items()})
    plan = tmp_path / "plan.json"
    asked = ["diagnose", WRONG, "--data", str(tmp_path / "o.npz"), "--budget", "1"]
    assert run([*asked, "--plan", str(plan)]) == 1
    said = capsys.readouterr().out
    assert "no plan was written: what comes nearest is not the whole cause; --nearest" in said
    assert not plan.exists()
    assert run([*asked, "--plan", str(plan), "--nearest"]) == 1
    said = capsys.readouterr().out
    assert (
        f"wrote {plan}: 4 nodes to change, which comes nearest and is not the whole cause" in said
    )
    assert [one["node"] for one in json.loads(plan.read_text())["nodes"]] == NODES
    assert run([*asked, "--nearest"]) == 2


def test_requests_that_cannot_be_meant(small: Path, capsys: Captured) -> None:
    model = str(small / "model.onnx")
    bad = small / "bad.npz"
    bad.write_bytes(b"no archive")
    (small / "empty").mkdir()
    wanted = {
        (): "the reference is missing",
        (
            "--data",
            str(small / "names.npz"),
            "--inputs",
            str(small / "x.npy"),
        ): "--data and --inputs exclude each other",
        ("--inputs", str(small / "x.npy")): "the reference is missing",
        ("--data", str(small / "none.npz")): "does not exist",
        ("--data", str(bad)): "bad.npz",
        ("--data", str(small / "empty")): "neither input_0.pb nor folders test_data_set_*",
        ("--data", str(small / "x.npy")): "give the inputs as --inputs",
        ("--data", DATA): "has rank 3, the model takes 4",
        ("--data", str(small / "names.npz"), "--budget", "0"): "budget",
    }
    for options, said in wanted.items():
        assert run(["diagnose", model, *options]) == 2, options
        assert said in capsys.readouterr().err, options
