"""onnxpad diagnose: arrays in files, which tensor each is, and what is left over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onnxpad.cli import run

Captured = pytest.CaptureFixture[str]
HASTE = ("--budget", "0.001")
"""What is read from files does not depend on what the search finds."""


def saved(small: Path, arrays: dict[str, Any]) -> list[str]:
    np.savez(small / "more.npz", **arrays)
    return ["diagnose", str(small / "model.onnx"), "--data", str(small / "more.npz"), *HASTE]


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


@pytest.mark.parametrize("apart", [False, True])
def test_samples_are_never_paired_with_others(apart: bool, small: Path, capsys: Captured) -> None:
    given = dict(np.load(small / "samples.npz"))
    given["s2_out0"] = given.pop("s1_out0")
    command = saved(small, given)
    if apart:
        command[2:] = ["--inputs", command[3], "--outputs", command[3]]
    assert run(command) == 2
    assert "sample 2 lacks 'x', which sample 0 has" in capsys.readouterr().err
