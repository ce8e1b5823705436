"""Shape inference that never ends: the verbs end, and their reports say so."""

import json
from pathlib import Path

import onnx
import pytest

from onnxpad import inspect, retarget, rewrite
from onnxpad.cli import run
from onnxpad.errors import RequestError
from tests.models import runaway

SAID = "onnx's shape inference took more than 0.1 s and was ended; --timeout 600 gives it more"


def test_every_verb_says_that_inference_was_ended() -> None:
    model = runaway.endless_slice_before_a_conv()
    found = inspect(model, timeout=0.1)
    assert found.limits_met == (SAID,)
    assert [node.op for node in found.nodes] == ["Conv"]
    assert found.to_json()["limits_met"] == [SAID]
    target = rewrite(model, target="webnn", timeout=0.1)
    assert target.limits_met == (SAID,)
    assert rewrite(model, timeout=0.1).changed
    assert retarget(model, to="tensorflow", timeout=0.1).to_json()["limits_met"] in ([], [SAID])


def test_a_model_without_trouble_meets_no_limit() -> None:
    model = runaway.made_of(
        [runaway.node("Relu", ["x"], ["y"])], [runaway.value("x", [1, 2, 3, 4])]
    )
    assert inspect(model).limits_met == ()


@pytest.mark.parametrize("verb", [["inspect"], ["rewrite", "--dry-run", "--target", "webnn"]])
def test_the_command_line_says_so(
    verb: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "slice.onnx"
    onnx.save(runaway.endless_slice_before_a_conv(), path)
    run([*verb, str(path), "--timeout", "0.1"])
    assert f"warning: {SAID}; sizes that only it finds are not known" in capsys.readouterr().out
    run([*verb, str(path), "--timeout", "0.1", "--json"])
    assert json.loads(capsys.readouterr().out)["limits_met"] == [SAID]


def test_limits_that_are_none_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RequestError, match="timeout is -1"):
        inspect(runaway.endless_loop(), timeout=-1)
    with pytest.raises(RequestError, match="512M or 4G"):
        inspect(runaway.endless_loop(), memory="much")
    assert run(["inspect", "model.onnx", "--memory", "much"]) == 2
    assert "give a size such as 512M or 4G" in capsys.readouterr().err
