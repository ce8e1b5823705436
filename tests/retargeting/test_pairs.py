"""Models with the right weights and the wrong padding, against the original framework's outputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from onnxpad import retarget
from tests.retargeting.running import PAIRS, Array, outputs, relative

SMALL = Path(__file__).parent / "pairs"
FOLDERS = sorted({one.name: one for root in (PAIRS, SMALL) for one in root.glob("p*")}.items())
KEYS = ("auto_pad", "pads", "ceil_mode", "count_include_pad", "output_padding")
# Where moving every node to one convention is enough.
UNIFORM = {"p11": "pytorch", "p12": "caffe", "p16": "pytorch", "p20": "pytorch"}
NOT_UNIFORM = {
    "p05": "its stem is symmetric and right",
    "p21": "its Pads are computed while the model runs",
    "p22": "it pads right and is refused by onnxruntime",
}


def plan_of(truth: dict[str, Any]) -> dict[str, Any]:
    entries = []
    for node in truth["nodes"]:
        if node.get("changed"):
            settings = {key: node["true"][key] for key in KEYS if key in node["true"]}
            if settings.get("auto_pad", "NOTSET") != "NOTSET":
                settings.pop("pads", None)
            if "remove_pad_node" in node:
                settings["pad_node"] = None
            entries.append({"node": node["node"]} | settings)
    return {"nodes": entries}


def error(model: object, folder: Path) -> float:
    """The largest relative error over every sample and output."""
    assert isinstance(model, onnx.ModelProto)
    stored = np.load(folder / "reference.npz")
    constants = {one.name for one in model.graph.initializer}
    names = [one.name for one in model.graph.input if one.name not in constants]
    worst, sample = 0.0, 0
    while f"s{sample}_in0" in stored:
        feeds: dict[str, Array] = {
            name: stored[f"s{sample}_in{index}"] for index, name in enumerate(names)
        }
        found = outputs(model, feeds)
        worst = max(
            [worst, *(relative(one, stored[f"s{sample}_ref{i}"]) for i, one in enumerate(found))]
        )
        sample += 1
    assert sample > 0
    return worst


@pytest.mark.part(2)
@pytest.mark.parametrize(("name", "folder"), FOLDERS, ids=[name for name, _ in FOLDERS])
def test_the_true_padding_as_a_plan_gives_the_reference(name: str, folder: Path) -> None:
    truth = json.loads((folder / "truth.json").read_text())
    plan = plan_of(truth)
    found = retarget(folder / "wrong.onnx", plan=plan)
    assert not found.skips
    assert not found.breaks
    assert {one.node.label for one in found.changes} <= {one["node"] for one in plan["nodes"]}
    assert found.changed is bool(plan["nodes"])
    onnx.checker.check_model(found.model, full_check=True)
    assert error(found.model, folder) < 1e-4, name


@pytest.mark.part(2)
@pytest.mark.parametrize(("name", "folder"), FOLDERS, ids=[name for name, _ in FOLDERS])
def test_one_convention_for_all_is_enough_for_most(name: str, folder: Path, tmp_path: Path) -> None:
    short = name.partition("_")[0]
    if short in NOT_UNIFORM:
        pytest.skip(NOT_UNIFORM[short])
    to, source = UNIFORM.get(short, "tensorflow"), "pytorch" if short == "p18" else None
    found = retarget(folder / "wrong.onnx", to=to, source=source)
    assert error(found.model, folder) < 1e-4
    found.save(tmp_path / "moved.onnx")
    onnx.checker.check_model(onnx.load(tmp_path / "moved.onnx"), full_check=True)
    if name.startswith("p16"):
        wrong = (folder / "wrong.onnx").read_bytes()
        assert (tmp_path / "moved.onnx").read_bytes() == wrong
    assert not retarget(tmp_path / "moved.onnx", to=to).changed
