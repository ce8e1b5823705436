"""measure learns what a runtime refuses or gets wrong, and writes it as a target."""

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import onnxpad
from onnxpad import RequestError
from tests.command import run
from tests.measuring import npu
from tests.measuring.npu import Array

NPU = Path(npu.__file__)
FIVE = {
    ((), ("asymmetric",), "refuses"),
    ((), (("pad_above", 3),), "refuses"),
    (("Pad",), (), "refuses"),
    ((), ("ceil_mode",), "refuses"),
    ((), ("same", "dilated"), "refuses"),
}
Runtime = Callable[[str, dict[str, Array]], Mapping[str, Array]]


def learned(found: onnxpad.Measurement) -> set[Any]:
    return {(one.operators, one.when, one.answer) for one in found.rules}


@pytest.mark.sweep
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_five_rules_of_an_accelerator_are_found_and_nothing_else(seed: int) -> None:
    found = onnxpad.measure(npu.run, seed=seed, count=500)
    assert learned(found) == FIVE
    assert not any(one.false_alarms for one in found.rules)


@pytest.mark.sweep
def test_a_limit_of_kernels_is_one_rule_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npu, "WIDEST", 5)
    found = onnxpad.measure(npu.run, count=500)
    assert learned(found) == {*FIVE, ((), (("kernel_above", 5),), "refuses")}
    assert not any(one.false_alarms for one in found.rules)
    said = {one.when: one.message for one in found.rules}
    assert said["asymmetric",] == "Unsupported: asymmetric pads"
    assert said[("kernel_above", 5),] == "Unsupported: kernels above 5"


def test_wrong_numbers_are_told_from_refusals() -> None:
    def run(model: str, inputs: dict[str, Array]) -> Mapping[str, Array]:
        results = npu.run(model, inputs)
        spoilt = b"count_include_pad" in Path(model).read_bytes()
        return {name: value + spoilt for name, value in results.items()}

    found = onnxpad.measure(run, count=120)
    wrong = [one for one in found.rules if one.answer == "miscomputes"]
    # Words that hold of averages alone need no operator.
    assert [one.operators for one in wrong] in ([("AveragePool",)], [()])
    assert found.counts["AveragePool"]["wrong"] == wrong[0].models


def test_what_a_file_does_becomes_a_target(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "npu.toml"
    assert run(["measure", str(NPU), "--count", "1", "-o", str(target), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ways"]["Conv, symmetric pads"] == "right"
    assert report["ways"]["Pad mode edge"] == "refused"
    table = tomllib.loads(target.read_text("utf-8"))
    assert table["version"] == report["version"]
    assert all(one["models"] > 0 for one in table["rule"])
    assert any(one["operators"] == ["Pad"] and "when" not in one for one in table["rule"])
    assert {"Conv", "Slice", "If"} <= set(table["takes"])
    model = Path(onnxpad.__file__).parents[1] / "models" / "pd_same_static_op13.onnx"
    verdicts = onnxpad.inspect(model, target=str(target)).targets["npu"]
    assert any(one.judgement.answer == "refuses" for one in verdicts)


def test_a_runtime_that_computes_nothing_is_an_error_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "broken.py"
    file.write_text("def run(model, inputs):\n    raise RuntimeError('no device')\n", "utf-8")
    target = tmp_path / "broken.toml"
    assert run(["measure", str(file), "-o", str(target)]) == 2
    assert "no device" in capsys.readouterr().err
    assert not target.exists()


@pytest.mark.parametrize("target", ["burn", "opencv@4.10", "own.toml"])
def test_what_nothing_here_runs_is_refused(target: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.toml").write_text('takes = ["Conv"]\n', "utf-8")
    with pytest.raises(RequestError):
        onnxpad.measure(target)


def test_a_target_file_must_be_one() -> None:
    assert run(["measure", str(NPU), "-o", "npu.txt"]) == 2
