"""An accelerator of the user's own: symmetric pads up to 3, no Pad, no ceil_mode, no dilated SAME.

What the search writes for its file of rules is proved, and run by an accelerator that knows nothing
of onnxpad.
"""

from __future__ import annotations

import json
import shlex
import sys
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto

from onnxpad import rewrite, validate
from tests.command import run
from tests.measuring import npu as accelerator
from tests.models.real import model_paths
from tests.models.text import text_model
from tests.oracle.interpreter import run_model

MOST = 3
RULES = f"""
[[rule]]
operators = "all"
when = ["asymmetric"]
answer = "refuses"

[[rule]]
operators = "all"
pad_above = {MOST}
answer = "refuses"

[[rule]]
operators = ["Pad"]
answer = "refuses"

[[rule]]
operators = ["MaxPool", "AveragePool"]
when = ["ceil_mode"]
answer = "refuses"

[[rule]]
operators = "all"
when = ["same", "dilated"]
answer = "refuses"
"""
HAS = ("Conv", "ConvTranspose", "MaxPool", "AveragePool", "Slice", "Concat", "Mul", "Identity")
TAKES = {
    "everything else": 'takes = "all"\n',
    "few operators": f"takes = {json.dumps(HAS)}\n",
}
_PLANS = Path(__file__).with_name("plans.txt").read_text("utf-8").splitlines()
MODELS = {name: rest for name, *rest in (line.split(" | ") for line in _PLANS[2:])}
"""By name a node, its inputs, and perhaps its weight."""
TEN = (
    *("k_avgnet_tflite", "k_avgnet_tflite_autopad", "k_conv3d_op13", "k_densenet_op11"),
    *("kt_net_even", "kt_tcn", "pd_same_static_op13", "t_same_string_ts"),
    *("t_yolotiny_zeropad_maxpool_ts", "tf_cond_conv_op13"),
)
IN_USE = {path.stem: path for path in model_paths() if path.stem in TEN}
"""Some of them are in ../shared alone."""
COMMAND = f"{shlex.quote(sys.executable)} {accelerator.__file__} {{model}} {{inputs}} {{outputs}}"


def _model(name: str) -> ModelProto:
    node, inputs, *weights = MODELS[name]
    constants = ["int64[6] at = {0, 0, 2, 0, 0, 5}"] if "= Pad" in node else []
    for weight in weights:
        count = prod(map(int, weight[len("float[") : -len("] w")].split(",")))
        numbers = ", ".join(str(number % 7 - 3) for number in range(count))
        constants.append(f"{weight} = {{{numbers}}}")
    return text_model(node, inputs, constants=", ".join(constants))


def _run(model: ModelProto) -> tuple[Any, Any]:
    """What the accelerator computes and what is right; Unsupported for what it refuses."""
    dims = [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim]
    x = np.random.default_rng(0).standard_normal(dims).astype(np.float32)
    return accelerator.computed(model, {"x": x})["y"], run_model(model, {"x": x})["y"]


@pytest.fixture(params=TAKES)
def npu(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    path = tmp_path / "npu.toml"
    path.write_text(TAKES[request.param] + RULES)
    return str(path)


def _planned(model: ModelProto, npu: str) -> ModelProto:
    done = rewrite(model, target=npu)
    assert done.unfit == ()
    assert validate(model, done.model, proof_only=True).verdict == "proved"
    model_written: ModelProto = done.model
    return model_written


@pytest.mark.part(5)
@pytest.mark.parametrize("name", MODELS)
def test_a_plan_is_found_and_proved(name: str, npu: str) -> None:
    model = _model(name)
    with pytest.raises(accelerator.Unsupported):
        _run(model)
    after = _planned(model, npu)
    np.testing.assert_allclose(*_run(after), rtol=1e-3, atol=1e-3)
    written = {node.op_type for node in after.graph.node}
    assert "all" in Path(npu).read_text().splitlines()[0] or written <= set(HAS)


@pytest.mark.part(4)
@pytest.mark.parametrize("name", IN_USE)
def test_a_model_in_use_is_planned_by_the_rules_alone(name: str, npu: str) -> None:
    after = _planned(onnx.load(IN_USE[name]), npu)
    assert validate(after, target=accelerator.run).ok  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [pytest.param(one, marks=pytest.mark.sweep) for one in IN_USE])
def test_a_model_in_use_is_written_by_the_command_alone(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.onnx"
    assert run(["rewrite", str(IN_USE[name]), "--target", COMMAND, "-o", str(out)]) == 0
    assert "runs right in" in capsys.readouterr().out
    assert validate(str(IN_USE[name]), str(out), proof_only=True).verdict == "proved"
