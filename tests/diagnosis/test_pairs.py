"""Models with the right weights and the wrong padding, against the original framework's outputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from onnxpad import Diagnosis, diagnose, retarget
from tests.retargeting.test_pairs import FOLDERS, error

# Ways to pad that may be tried; the hardest of them needs 24.
MOST_TRIES = 40


def first_sample(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    stored = np.load(folder / "reference.npz")
    graph = onnx.load(folder / "wrong.onnx").graph
    held = {one.name for one in graph.initializer}
    fed = [one.name for one in graph.input if one.name not in held]
    made = [one.name for one in graph.output]
    inputs = {name: stored[f"s0_in{index}"] for index, name in enumerate(fed)}
    outputs = {name: stored[f"s0_ref{index}"] for index, name in enumerate(made)}
    return inputs, outputs


def named(found: Diagnosis) -> set[str]:
    """Nodes that change, and those that are said to be the same under that convention."""
    return {entry.node for entry in found.plan.entries} | set(found.same_either_way)


@pytest.mark.part(3)
@pytest.mark.parametrize(("name", "folder"), FOLDERS, ids=[name for name, _ in FOLDERS])
def test_the_first_sample_gives_a_plan_that_fits_every_sample(name: str, folder: Path) -> None:
    inputs, outputs = first_sample(folder)
    found = diagnose(folder / "wrong.onnx", inputs=inputs, outputs=outputs)
    assert found.explained, found.reason
    assert found.tried < MOST_TRIES
    mended = retarget(folder / "wrong.onnx", plan=found.plan)
    assert not mended.skips
    assert not mended.breaks
    onnx.checker.check_model(mended.model, full_check=True)
    assert error(mended.model, folder) < 1e-4
    truth = json.loads((folder / "truth.json").read_text())
    wrong = {one["node"] for one in truth["nodes"] if one.get("changed")}
    assert {entry.node for entry in found.plan.entries} <= wrong
    assert wrong <= named(found), name
    assert (found.cause == "padding") is bool(wrong)
