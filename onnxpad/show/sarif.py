"""Verdicts as SARIF 2.1.0, which code scanning reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from onnxpad.inspection import Inspection
from onnxpad.rewriting.for_target.report import NodeVerdict
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.show.verdicts import way_text

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Answer.MISCOMPUTES: "error", Answer.REFUSES: "error", Answer.UNKNOWN: "note"}
_MEANING = {
    Answer.MISCOMPUTES: "The target runs the node and computes wrong numbers or sizes",
    Answer.REFUSES: "The target does not load or run the node",
    Answer.UNKNOWN: "It is not known what the target does with the node",
}


def sarif_text(reports: Iterable[tuple[str, Inspection]], version: str) -> str:
    """One SARIF log about all models: a result for each node that a target does not take.

    `version` is onnxpad's own.
    """
    results = [found for model, inspection in reports for found in _results(model, inspection)]
    used = dict.fromkeys(result["ruleId"] for result in results)
    rules = [
        {"id": str(answer), "shortDescription": {"text": text}}
        for answer, text in _MEANING.items()
        if str(answer) in used
    ]
    driver = {"name": "onnxpad", "version": version, "rules": rules}
    run = {"tool": {"driver": driver}, "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _results(model: str, inspection: Inspection) -> Iterator[dict[str, Any]]:
    for target, verdicts in inspection.targets.items():
        for verdict in verdicts:
            if verdict.judgement.answer in _LEVELS:
                yield _result(model, target, verdict)


def _uri(model: str) -> str:
    """Relative to the working folder where the file is below it, with escapes (RFC 3986)."""
    path = Path(model.replace("\\", "/"))
    if path.is_absolute():
        here = Path.cwd()
        if not path.is_relative_to(here):
            return path.as_uri()
        path = path.relative_to(here)
    return quote(path.as_posix())


def _result(model: str, target: str, verdict: NodeVerdict) -> dict[str, Any]:
    found = verdict.judgement
    text = f"{target} {found.answer} {verdict.op} '{verdict.node.label}': {found.reason}"
    place = {"fullyQualifiedName": verdict.node.label, "kind": "object"}
    file = {"artifactLocation": {"uri": _uri(model)}}
    return {
        "ruleId": str(found.answer),
        "level": _LEVELS[found.answer],
        "message": {"text": f"{text}. rewrite --target {target}: {way_text(verdict)}."},
        "locations": [{"physicalLocation": file, "logicalLocations": [place]}],
        "partialFingerprints": {"node/v1": f"{target}/{verdict.node.label}/{verdict.op}"},
        "properties": {"target": target, "evidence": list(found.evidence)},
    }
