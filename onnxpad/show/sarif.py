"""Findings as SARIF 2.1.0, with all that GitHub's "SARIF support for code scanning" demands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote

from onnxpad.inspection import KINDS, TRAP
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.traps import TrapRule, all_rules

Record: TypeAlias = Mapping[str, Any]
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LONGEST = 1024
_SEVERITY = {"error": "error", "warning": "warning", "note": "recommendation"}
_ANSWERED = {kind: answer for answer, kind in KINDS.items()}
_WHOLE_FILE = {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2}


class _Rule(NamedTuple):
    level: str
    short: str
    help: str


_REWRITES = (
    "onnxpad rewrite MODEL --target TARGET -o OUT writes a form that works, if there is one."
)
_ANSWERS = {
    Answer.MISCOMPUTES: _Rule(
        "error",
        "The target runs the node and computes wrong numbers or sizes. Nothing at run time tells.",
        _REWRITES,
    ),
    Answer.REFUSES: _Rule("error", "The target does not load or run the node.", _REWRITES),
    Answer.FALLS_BACK: _Rule(
        "note",
        "The target leaves the node to the CPU: its numbers are right.",
        _REWRITES.replace(" -o", " --require-device -o"),
    ),
    Answer.UNKNOWN: _Rule(
        "note",
        "It is not known what the target does with the node.",
        "Say what is known of open sizes with --dim, or try the model there.",
    ),
}


def sarif_text(
    records: Sequence[Record], version: str, *, traps: bool, unread: Sequence[tuple[str, str]] = ()
) -> str:
    """One SARIF log about all models: a result for each node that a target does not take.

    `records` are what `inspect --json` prints, `version` is onnxpad's own; `traps` asks for a
    result for each trap as well. `unread` are files that could not be inspected, with the reason.
    """
    rules: dict[str, _Rule] = {}
    if any(record["targets"] for record in records):
        rules |= {_rule_id(answer): rule for answer, rule in _ANSWERS.items()}
    if traps:
        rules |= {code: _rule_of(trap) for code, trap in all_rules().items()}
    places = list(rules)
    results = [
        found | {"ruleIndex": places.index(found["ruleId"]), "level": rules[found["ruleId"]].level}
        for record in records
        for found in _results(record, traps=traps)
    ]
    listed = [_descriptor(code, rule) for code, rule in rules.items()]
    driver = {"name": "onnxpad", "version": version, "rules": listed}
    run = {"tool": {"driver": driver}, "invocations": [_invocation(unread)], "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _invocation(unread: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Whether every model could be inspected, and what was said of those that could not."""
    told = [
        {"level": "error", "message": {"text": reason}, "locations": [_place(model)]}
        for model, reason in unread
    ]
    notes = {"toolExecutionNotifications": told} if told else {}
    return {"executionSuccessful": not told, **notes}


def _rule_id(answer: str) -> str:
    """The verdict without a blank, which upload tools do not take."""
    return answer.replace(" ", "-")


def _rule_of(trap: TrapRule) -> _Rule:
    text = " ".join(trap.text.split())
    passes = f" Passes that may help: {', '.join(trap.passes)}." if trap.passes else ""
    return _Rule("warning", text, f"{text}{passes} Known from: {trap.source}.")


def _descriptor(code: str, rule: _Rule) -> dict[str, Any]:
    short = shorten(rule.short, _LONGEST)
    return {
        "id": code,
        "shortDescription": {"text": short.partition(". ")[0].rstrip(".")},
        "fullDescription": {"text": short},
        "help": {"text": rule.help},
        "defaultConfiguration": {"level": rule.level},
        "properties": {
            "tags": ["onnx", "padding"],
            "precision": "very-high" if rule.level == "error" else "high",
            "problem.severity": _SEVERITY[rule.level],
        },
    }


def _results(record: Record, *, traps: bool) -> Iterator[dict[str, Any]]:
    """A result for each finding about a target, and for each trap where those are asked for."""
    for finding in record["findings"]:
        target, _, kind = finding["code"].rpartition(":")
        named = f"{finding['op']} '{finding['node']}': {finding['reason']}."
        if kind in _ANSWERED and target in record["targets"]:
            answer = _ANSWERED[kind]
            does = ":" if finding["reason"].startswith("may ") else f" {answer}"
            text = f"{target}{does} {named}"
            result = _result(record, finding, _rule_id(answer), text)
            fingerprint = f"{target}/{finding['node']}/{finding['op']}"
            result["partialFingerprints"]["node/v1"] = fingerprint
            yield result | {"properties": {"target": target}}
        elif traps and finding["kind"] == TRAP:
            yield _result(record, finding, finding["code"], named)


def _result(record: Record, finding: Record, rule: str, text: str) -> dict[str, Any]:
    """A finding; the hash and count are those of a line: all of a model stands in its first."""
    place = _place(record["file"])
    place["physicalLocation"]["region"] = _WHOLE_FILE
    place["logicalLocations"] = [{"fullyQualifiedName": finding["node"], "kind": "object"}]
    identity = f"{finding['code']}/{finding['node']}/{finding['op']}"
    digest = sha256(identity.encode(errors="backslashreplace")).hexdigest()[:16]
    known = [{"kind": "external", "justification": "in the baseline"}]
    return {
        "ruleId": rule,
        "message": {"text": text},
        "locations": [place],
        "partialFingerprints": {"primaryLocationLineHash": f"{digest}:1"},
        **({"suppressions": known} if finding["known"] else {}),
    }


def _place(model: str) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(model)}}}


def _uri(model: str) -> str:
    """Relative to the working folder where the file is below it, with escapes (RFC 3986)."""
    path = Path(model.replace("\\", "/"))
    file = path.absolute()
    if file.is_relative_to(Path.cwd()):
        return quote(file.relative_to(Path.cwd()).as_posix())
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
