"""SARIF: valid by its schema, and with what code scanning demands of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from onnxpad import Finding, inspect
from onnxpad.runtimes.traps import all_rules
from onnxpad.show.sarif import sarif_text
from tests.cli.processes import MODELS, ROOT, SAME

STRINGS = MODELS / "t_same_string_ts.onnx"
NETS = sorted(MODELS.glob("[k-t]*_[sy]*.onnx"))
TARGETS = ("opencv", "tensorrt", "tvm", "onnxruntime-openvino")
# The schema of OASIS (110 KB) is none of ours to hand out.
SCHEMA = ROOT.parent / "shared" / "schemas" / "sarif-schema-2.1.0.json"

DEMANDED = {
    "rule": ("id", "shortDescription", "fullDescription", "help", "properties"),
    "result": ("ruleId", "message", "locations", "partialFingerprints", "level"),
    "region": ("startLine", "startColumn", "endLine", "endColumn"),
}


def log_of(*models: Path, traps: bool = True, known: tuple[Finding, ...] = ()) -> dict[str, Any]:
    names = {(one.node, one.code) for one in known}
    records = []
    for model in models:
        record = {"file": str(model)} | inspect(model, target=TARGETS).to_json()
        for one in record["findings"]:
            one["known"] = (one["node"], one["code"]) in names
        records.append(record)
    log: dict[str, Any] = json.loads(sarif_text(records, "1.0", traps=traps))
    return log


@pytest.fixture(scope="module")
def log() -> dict[str, Any]:
    return log_of(*NETS)


def results(log: dict[str, Any]) -> list[dict[str, Any]]:
    (found,) = log["runs"]
    listed: list[dict[str, Any]] = found["results"]
    return listed


@pytest.mark.sweep
def test_it_has_what_code_scanning_demands(log: dict[str, Any]) -> None:
    assert len(results(log)) > 20
    for rule in log["runs"][0]["tool"]["driver"]["rules"]:
        assert {*DEMANDED["rule"]} <= rule.keys()
        texts = (rule[name]["text"] for name in DEMANDED["rule"][1:3])
        assert all(0 < len(text) <= 1024 for text in texts)
    for one in results(log):
        assert {*DEMANDED["result"]} <= one.keys()
        (place,) = one["locations"]
        region = place["physicalLocation"]["region"]
        assert [region[name] > 0 for name in DEMANDED["region"]] == [True] * 4
        assert one["partialFingerprints"]["primaryLocationLineHash"].endswith(":1")


@pytest.mark.skipif(not SCHEMA.exists(), reason=f"the schema of SARIF is not at {SCHEMA}")
def test_it_is_valid_by_the_schema_of_sarif(log: dict[str, Any]) -> None:
    schema = json.loads(SCHEMA.read_bytes())
    assert schema["properties"]["version"]["enum"] == ["2.1.0"]
    finding = inspect(SAME, target="opencv").findings[0]
    for one in (log, log_of(SAME, known=(finding,)), log_of(traps=False)):
        jsonschema.validate(one, schema)


def test_alerts_of_one_file_and_rule_are_told_apart(log: dict[str, Any]) -> None:
    """Code scanning makes one alert of results that share file, rule and fingerprint."""
    keys = [
        (
            one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            one["ruleId"],
            one["partialFingerprints"]["primaryLocationLineHash"],
        )
        for one in results(log)
    ]
    assert len(set(keys)) == len(keys)


def test_fingerprints_outlast_other_models_targets_and_names(tmp_path: Path) -> None:
    moved = tmp_path / "moved.onnx"
    moved.write_bytes(SAME.read_bytes())

    def prints(log: dict[str, Any]) -> list[str]:
        return [one["partialFingerprints"]["primaryLocationLineHash"] for one in results(log)]

    assert prints(log_of(SAME)) == prints(log_of(moved))
    assert set(prints(log_of(SAME))) <= set(prints(log_of(STRINGS, SAME)))


def test_every_result_points_at_its_rule(log: dict[str, Any]) -> None:
    (found,) = log["runs"]
    rules = found["tool"]["driver"]["rules"]
    assert all(rules[one["ruleIndex"]]["id"] == one["ruleId"] for one in results(log))
    assert {rule["id"] for rule in rules} >= all_rules().keys()


def test_traps_are_there_on_request_alone() -> None:
    found = [one["level"] for one in results(log_of(STRINGS))]
    assert found.count("warning") == 2
    assert "warning" not in [one["level"] for one in results(log_of(STRINGS, traps=False))]


def test_what_is_known_is_suppressed_and_nothing_else() -> None:
    known = inspect(SAME, target="opencv").findings[:1]
    found = results(log_of(SAME, known=known))
    quiet = [one for one in found if "suppressions" in one]
    assert [one["partialFingerprints"]["node/v1"] for one in quiet] == ["opencv/Conv.0/Conv"]
    assert quiet[0]["suppressions"][0]["kind"] == "external"
    assert len(found) > 1
