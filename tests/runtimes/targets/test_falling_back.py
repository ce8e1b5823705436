"""What a device leaves to the CPU: right and slow, and taken unless the device is required."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

from onnxpad import inspect, rewrite
from onnxpad.cli import run
from onnxpad.errors import RequestError
from onnxpad.runtimes.conditions.rows import Answer
from tests.models.text import text_model

LP_POOL = text_model(
    "y = LpPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1], p = 2> (x)",
    inputs="float[1, 2, 8, 8] x",
    outputs="float[1, 2, 8, 8] y",
    opset=17,
)
INDICES = text_model(
    "y, i = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x)",
    inputs="float[1, 2, 8, 8] x",
    outputs="float[1, 2, 8, 8] y, int64[1, 2, 8, 8] i",
    opset=17,
)


def test_a_node_on_the_cpu_is_no_failure() -> None:
    found = inspect(LP_POOL, target="webgpu")
    (verdict,) = found.targets["webgpu"]
    assert verdict.judgement.answer is Answer.FALLS_BACK
    assert [one.kind for one in found.findings] == ["fallback"]
    assert not found.fails
    done = rewrite(LP_POOL, target="webgpu")
    assert not done.changed
    assert not done.unfit


def test_who_requires_the_device_gets_it() -> None:
    done = rewrite(LP_POOL, target="webgpu", require_device=True)
    assert done.changed
    assert not done.unfit
    assert isinstance(done.model, onnx.ModelProto)
    assert "LpPool" not in {node.op_type for node in done.model.graph.node}


def test_where_there_is_no_way_to_the_device_it_is_said() -> None:
    assert not rewrite(INDICES, target="coreml").unfit
    (left,) = rewrite(INDICES, target="coreml", require_device=True).unfit
    assert left.judgement.answer is Answer.FALLS_BACK


def test_the_device_is_that_of_a_target() -> None:
    with pytest.raises(RequestError, match="require_device=True: only together with target=T"):
        rewrite(LP_POOL, require_device=True)


def test_the_command_line_says_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(LP_POOL, path)
    asked = ["inspect", str(path), "--target", "webgpu"]
    assert run(asked) == 0
    told = capsys.readouterr().out
    assert "falls back 1" in told
    assert "what there is with --require-device" in told
    assert run([*asked, "--fail-on", "fallback"]) == 1
    assert "webgpu:fallback" in capsys.readouterr().err
    assert run([*asked, "--json"]) == 0
    (verdict,) = json.loads(capsys.readouterr().out)["targets"]["webgpu"]
    assert verdict["verdict"] == "falls back"
    onnx.save(INDICES, path)
    out = tmp_path / "o.onnx"
    wanted = ["rewrite", str(path), "--target", "coreml", "-o", str(out)]
    assert run(wanted) == 0
    assert run([*wanted, "--require-device"]) == 1
    assert "coreml leaves it to the CPU" in capsys.readouterr().out
