"""inspect --target T --reproduce NODE: a node of the user's model, cut out."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from onnxpad import RequestError
from onnxpad.reproducing import reproduce_node
from tests.models.tiny import tiny

MODELS = Path(__file__).parents[2] / "models"
STRING = MODELS / "t_same_string_ts.onnx"


def test_a_node_with_what_stands_in_front() -> None:
    found = reproduce_node(STRING, target="opencv", node="/f/f.4/Conv")
    nodes = [node.op_type for node in found.model.graph.node]
    assert nodes[-1] == "Conv"
    assert found.about[0] == "it is '/f/f.4/Conv', cut out"
    assert found.row in {"same", "same-with-dilations"}
    original = onnx.load(STRING)
    weights = {one.name: numpy_helper.to_array(one) for one in original.graph.initializer}
    kept = [numpy_helper.to_array(one) for one in found.model.graph.initializer]
    for value in kept:
        assert any(np.array_equal(value, other) for other in weights.values())
    onnx.checker.check_model(found.model, full_check=True)
    assert found.expected.keys() == {one.name for one in found.model.graph.output}


def _large(channels: int) -> onnx.ModelProto:
    model = tiny(
        '[far] p = Pad <mode = "reflect"> (x, pads)\n[op] y = Conv (p, w)',
        f"float[1,{channels},9,9]",
    )
    del model.graph.initializer[:]
    weight = np.random.default_rng(0).normal(size=(64, channels, 3, 3)).astype(np.float32)
    model.graph.initializer.append(numpy_helper.from_array(weight, "w"))
    pads = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    model.graph.initializer.append(numpy_helper.from_array(pads, "pads"))
    return model


def test_large_weights_are_replaced_and_it_says_so() -> None:
    found = reproduce_node(_large(64), target="qnn", node="op")
    assert [node.op_type for node in found.model.graph.node] == ["Pad", "Conv"]
    (weight,) = (one for one in found.model.graph.initializer if list(one.dims)[:1] == [64])
    assert len(numpy_helper.to_array(weight).shape) == 4
    assert "float32 [64, 64, 3, 3] was replaced by random numbers" in found.about
    small = reproduce_node(_large(2), target="qnn", node="op")
    assert len(small.about) == 1


def test_one_node_alone() -> None:
    with pytest.raises(RequestError, match=r"'\*f.\[24\]\*' names 2"):
        reproduce_node(STRING, target="opencv", node="*f.[24]*")


def test_a_node_that_only_a_run_condemns(tmp_path: Path) -> None:
    """The model and the inputs are those of the probe that failed."""

    found = reproduce_node(STRING, target=_one_more, node="/f/f.0/Conv")
    assert (found.row, found.answer) == ("", "miscomputes")
    assert found.evidence.startswith("measured here: _one_more")
    assert "/f/f.0/Conv" in found.what
    model = found.save(tmp_path / "made").model
    made = _one_more(str(tmp_path / "made" / "model.onnx"), dict(found.inputs))
    for name, right in found.expected.items():
        np.testing.assert_allclose(made[name] - 1, right, atol=1e-3)
    assert [node.op_type for node in model.graph.node][-1] == "Conv"
    with pytest.raises(RequestError, match=r"in a run _as_it_is\(\) takes it"):
        reproduce_node(STRING, target=_as_it_is, node="/f/f.0/Conv")


NPU = """
import onnx
import onnxruntime


def run(model, inputs):
    for node in onnx.load(model).graph.node:
        if any(one.name == "auto_pad" for one in node.attribute):
            raise ValueError("no auto_pad")
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))
"""
START = """
import sys

import npu
import numpy as np

np.savez(sys.argv[3], **npu.run(sys.argv[1], dict(np.load(sys.argv[2]))))
"""


@pytest.mark.parametrize("asked", ["npu.py", "{python} start.py {{model}} {{inputs}} {{outputs}}"])
def test_the_script_starts_a_runtime_of_the_users_own(
    asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime")
    (tmp_path / "npu.py").write_text(NPU)
    (tmp_path / "start.py").write_text(START)
    monkeypatch.chdir(tmp_path)
    target = asked.format(python=sys.executable)
    reproduce_node(STRING, target=target, node="/f/f.0/Conv").save(tmp_path / "made")
    line = [sys.executable, str(tmp_path / "made" / "run.py")]
    done = subprocess.run(line, cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no auto_pad" in done.stderr


def _as_it_is(path: str, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))


def _one_more(path: str, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: value + 1 for name, value in _as_it_is(path, inputs).items()}
