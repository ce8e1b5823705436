"""onnxpad diagnose: arrays in files, which tensor each is, and what is left over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import numpy_helper

from onnxpad.cli import run

Captured = pytest.CaptureFixture[str]
HASTE = ("--budget", "0.001")
"""What is read from files does not depend on what the search finds."""
FORMATS = {
    "names": (["--data", "names.npz"], 1),
    "places": (["--data", "places.npz"], 1),
    "samples": (["--data", "samples.npz"], 2),
    "npy": (["--inputs", "x.npy", "--outputs", "y.npy"], 1),
    "one folder": (["--data", "data/test_data_set_1"], 1),
    "folders": (["--data", "data"], 2),
    "two of them": (["--data", "data/test_data_set_0", "--data", "names.npz"], 2),
}


@pytest.mark.part(3)
@pytest.mark.parametrize(("options", "samples"), FORMATS.values(), ids=FORMATS)
def test_every_format_of_samples(
    options: list[str], samples: int, small: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(small)
    assert run(["diagnose", "model.onnx", *options, "--json", *HASTE]) in {0, 1}
    read = json.loads(capsys.readouterr().out)
    assert read["samples"] == samples
    assert read["before"] > 1e-3


def saved(small: Path, arrays: dict[str, Any]) -> list[str]:
    np.savez(small / "more.npz", **arrays)
    return ["diagnose", str(small / "model.onnx"), "--data", str(small / "more.npz"), *HASTE]


@pytest.mark.sweep
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
    assert run(command) in {0, 1}
    text = capsys.readouterr().out
    assert "warning: " in text
    assert said in text


@pytest.mark.sweep
def test_warnings_about_arrays_stand_in_json(small: Path, capsys: Captured) -> None:
    given = dict(np.load(small / "names.npz"))
    command = saved(small, given | {"fc_bias": given["fc_out"]})
    assert run([*command, "--json"]) in {0, 1}
    (warning,) = json.loads(capsys.readouterr().out)["warnings"]
    assert "'fc_bias' is left out" in warning


def test_names_of_another_framework_lead_to_places(small: Path, capsys: Captured) -> None:
    x, y = np.load(small / "x.npy"), np.load(small / "y.npy")
    assert run(saved(small, {"input_1": x, "Identity": y})) in {0, 1}
    assert "'Identity' as the output 'fc_out': the model has one" in capsys.readouterr().out
    command = saved(small, {"input_1": x, "Identity": y, "Identity_1": y})
    assert run(command) == 2
    said = capsys.readouterr().err
    assert "has 'input_1', 'Identity', 'Identity_1', and no input: expected 'x', or keys" in said
    assert "arrays without names go by place: np.savez(" in said
    assert "more.npz', x, y), inputs first" in said
    command[2:] = ["--inputs", command[3], "--outputs", str(small / "y.npy")]
    assert run(command) == 2
    assert "an .npy file needs no names" in capsys.readouterr().err


@pytest.mark.sweep
def test_a_misspelt_array_beside_the_others_has_a_hint(small: Path, capsys: Captured) -> None:
    given = dict(np.load(small / "names.npz"))
    assert run(saved(small, given | {"s1b0_2_relu_ot": given["fc_out"]})) in {0, 1}
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
    command = ["diagnose", str(small / "model.onnx"), "--data", str(folder), *HASTE]
    assert run(command) in {0, 1}
    assert "'fc_ot' is left out" in capsys.readouterr().out
