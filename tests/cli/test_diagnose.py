"""onnxpad diagnose: what it prints, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from onnxpad.cli import run
from tests.diagnosis.networks import AMBIGUOUS, resnet
from tests.retargeting.running import outputs, signed

Captured = pytest.CaptureFixture[str]
PAIR = Path(__file__).parents[1] / "retargeting" / "pairs" / "p10_conv1d"
WRONG, DATA = str(PAIR / "wrong.onnx"), str(PAIR / "reference.npz")
NODES = ["/Conv", "/Conv_1", "/MaxPool", "/Conv_2"]


def test_it_says_which_nodes_and_how(capsys: Captured) -> None:
    assert run(["diagnose", WRONG, "--data", DATA]) == 0
    said = capsys.readouterr().out
    assert "/Conv     Conv     symmetric pads 2  pads 1,2   tensorflow, keras, " in said
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


def test_json_holds_the_whole_report(capsys: Captured) -> None:
    assert run(["diagnose", WRONG, "--data", DATA, "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert (read["schema"], read["explained"], read["cause"]) == (1, True, "padding")
    assert [one["node"] for one in read["plan"]["nodes"]] == NODES
    assert read["before"] > 0.1
    assert read["residual"] < 1e-5
    pool = next(one for one in read["nodes"] if one["node"] == "/MaxPool")
    assert (pool["before"], pool["after"]) == ("symmetric pads 1", "pads 0,1")
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


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A model, and what two runs of the right one gave, in every format."""
    onnx.save(resnet({}), tmp_path / "model.onnx")
    right = resnet(dict.fromkeys(AMBIGUOUS[:3], "upper"))
    x = [signed(seed, 1, 3, 64, 64) for seed in (0, 1)]
    y = [outputs(right, one)[0] for one in x]
    np.save(tmp_path / "x.npy", x[0])
    np.save(tmp_path / "y.npy", y[0])
    np.savez(tmp_path / "names.npz", x=x[0], fc_out=y[0])
    np.savez(tmp_path / "places.npz", x[0], y[0])
    np.savez(tmp_path / "samples.npz", s0_in0=x[0], s1_in0=x[1], s0_out0=y[0], s1_out0=y[1])
    for sample in (0, 1):
        folder = tmp_path / "data" / f"test_data_set_{sample}"
        folder.mkdir(parents=True)
        for kind, name, value in (("input", "x", x[sample]), ("output", "fc_out", y[sample])):
            tensor = numpy_helper.from_array(value, name)
            (folder / f"{kind}_0.pb").write_bytes(tensor.SerializeToString())
    return tmp_path


FORMATS = {
    "names": (["--data", "names.npz"], 1),
    "places": (["--data", "places.npz"], 1),
    "samples": (["--data", "samples.npz"], 2),
    "npy": (["--inputs", "x.npy", "--outputs", "y.npy"], 1),
    "one folder": (["--data", "data/test_data_set_1"], 1),
    "folders": (["--data", "data"], 2),
    "two of them": (["--data", "data/test_data_set_0", "--data", "names.npz"], 2),
}


@pytest.mark.parametrize(("options", "samples"), FORMATS.values(), ids=FORMATS)
def test_every_format_of_samples(
    options: list[str], samples: int, small: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(small)
    assert run(["diagnose", "model.onnx", *options, "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert read["samples"] == samples
    assert {one["node"] for one in read["plan"]["nodes"]} == set(AMBIGUOUS[:3])


def test_requests_that_cannot_be_meant(small: Path, capsys: Captured) -> None:
    model = str(small / "model.onnx")
    bad = small / "bad.npz"
    bad.write_bytes(b"no archive")
    (small / "empty").mkdir()
    wanted = {
        (): "the reference is missing",
        ("--data", str(small / "names.npz"), "--inputs", str(small / "x.npy")): "add nothing",
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


def test_a_plan_that_cannot_be_written_is_an_error(small: Path, capsys: Captured) -> None:
    target = small / "none" / "plan.json"
    assert run(["diagnose", WRONG, "--data", DATA, "--plan", str(target)]) == 2
    assert "plan" in capsys.readouterr().err


@pytest.mark.parametrize("plan", ["model.onnx", "./model.onnx", "link.onnx", "hard.onnx"])
def test_a_plan_never_replaces_the_model(
    plan: str, small: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(small)
    Path("link.onnx").symlink_to("model.onnx")
    Path("hard.onnx").hardlink_to("model.onnx")
    before = Path("model.onnx").read_bytes()
    assert run(["diagnose", "model.onnx", "--data", "names.npz", "--plan", plan]) == 2
    assert f"'{plan}' is an input, which is never overwritten" in capsys.readouterr().err
    assert Path("model.onnx").read_bytes() == before


@pytest.mark.parametrize(
    ("options", "plan"),
    [
        (["--data", "names.npz", "--data", "samples.npz"], "samples.npz"),
        (["--inputs", "x.npy", "--outputs", "y.npy"], "./x.npy"),
        (["--inputs", "x.npy", "--outputs", "y.npy"], "y.npy"),
        (["--data", "data/test_data_set_1"], "data/test_data_set_1/input_0.pb"),
        (["--data", "data"], "data/test_data_set_1/output_0.pb"),
    ],
)
def test_a_plan_never_replaces_the_data(
    options: list[str],
    plan: str,
    small: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
) -> None:
    monkeypatch.chdir(small)
    before = Path(plan).read_bytes()
    assert run(["diagnose", "model.onnx", *options, "--plan", plan]) == 2
    assert "is an input, which is never overwritten: give another --plan" in capsys.readouterr().err
    assert Path(plan).read_bytes() == before


def test_a_plan_never_replaces_external_weights(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(small)
    model = onnx.load("model.onnx")
    onnx.save(model, "apart.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    before = Path("w.bin").read_bytes()
    assert run(["diagnose", "apart.onnx", "--data", "names.npz", "--plan", "w.bin"]) == 2
    assert "'w.bin' is an input" in capsys.readouterr().err
    assert Path("w.bin").read_bytes() == before


def test_where_a_plan_cannot_go_is_said_before_the_search(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def searched(*_: object, **__: object) -> None:
        raise AssertionError("the search has started")

    monkeypatch.setattr("onnxpad.diagnosis.diagnose", searched)
    for plan in (small / "none" / "plan.json", small):
        assert run(["diagnose", WRONG, "--data", DATA, "--plan", str(plan)]) == 2


def test_the_report_is_printed_where_the_plan_cannot_be_written_after_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("click.open_file", full)
    plan = tmp_path / "plan.json"
    assert run(["diagnose", WRONG, "--data", DATA, "--plan", str(plan)]) == 2
    said = capsys.readouterr()
    assert "explained: padding" in said.out
    assert "wrote" not in said.out
    assert "cannot write the plan" in said.err


def test_a_plan_on_standard_output_has_it_alone(capsys: Captured) -> None:
    assert run(["diagnose", WRONG, "--data", DATA, "--plan", "-"]) == 0
    said = capsys.readouterr()
    assert [one["node"] for one in json.loads(said.out)["nodes"]] == NODES
    assert "wrote the plan to standard output: 4 nodes to change" in said.err


def saved(small: Path, arrays: dict[str, Any]) -> list[str]:
    np.savez(small / "more.npz", **arrays)
    return ["diagnose", str(small / "model.onnx"), "--data", str(small / "more.npz")]


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        (["fc_ot"], "'fc_ot' is left out: it names no input"),
        (["fc_bias", "labels"], "'fc_bias', 'labels' are left out: they name no input"),
        ([f"s0_w{i}" for i in range(9)], "'s0_w5' and 3 more are left out"),
        (["s0_in1"], "'s0_in1' is left out"),
        (["s0_ref1"], "'s0_ref1' is left out"),
        (
            ["s1_x"],
            "no tensor that the model computes, or one that is given already",
        ),
    ],
)
def test_arrays_that_match_nothing_are_warned_about(
    extra: list[str], said: str, small: Path, capsys: Captured
) -> None:
    given = dict(np.load(small / "names.npz"))
    command = saved(small, given | dict.fromkeys(extra, given["fc_out"]))
    assert run(command) == 0
    text = capsys.readouterr().out
    assert "warning: " in text
    assert said in text
    assert run([*command, "--json"]) == 0
    assert any(said in one for one in json.loads(capsys.readouterr().out)["warnings"])


def test_a_misspelt_array_beside_the_others_has_a_hint(small: Path, capsys: Captured) -> None:
    given = dict(np.load(small / "names.npz"))
    assert run(saved(small, given | {"s1b0_2_relu_ot": given["fc_out"]})) == 0
    assert "did you mean 's1b0_2_relu_out'?" in capsys.readouterr().out


@pytest.mark.parametrize("apart", [False, True])
def test_samples_are_never_paired_with_others(apart: bool, small: Path, capsys: Captured) -> None:
    given = dict(np.load(small / "samples.npz"))
    given["s2_out0"] = given.pop("s1_out0")
    command = saved(small, given)
    if apart:
        command[2:] = ["--inputs", command[3], "--outputs", command[3]]
    assert run(command) == 2
    assert "sample 2 lacks 'x', which sample 0 has" in capsys.readouterr().err


def test_arrays_without_names_are_no_more_than_inputs_and_outputs(
    small: Path, capsys: Captured
) -> None:
    x, y = np.load(small / "x.npy"), np.load(small / "y.npy")
    np.savez(small / "more.npz", x, y, y)
    assert run(["diagnose", str(small / "model.onnx"), "--data", str(small / "more.npz")]) == 2
    assert "has 3 arrays without names, the model has the inputs 'x'" in capsys.readouterr().err


def test_a_tensor_of_a_folder_that_matches_nothing_is_warned_about(
    small: Path, capsys: Captured
) -> None:
    folder = small / "data" / "test_data_set_0"
    tensor = numpy_helper.from_array(np.load(small / "y.npy"), "fc_ot")
    (folder / "output_1.pb").write_bytes(tensor.SerializeToString())
    assert run(["diagnose", str(small / "model.onnx"), "--data", str(folder)]) == 0
    assert "'fc_ot' is left out" in capsys.readouterr().out


def test_a_plan_and_a_json_report_are_never_mixed(capsys: Captured) -> None:
    assert run(["diagnose", WRONG, "--data", DATA, "--plan", "-", "--json"]) == 0
    said = capsys.readouterr()
    assert set(json.loads(said.out)) == {"schema", "nodes"}
    assert json.loads(said.err)["plan"] == json.loads(said.out)
