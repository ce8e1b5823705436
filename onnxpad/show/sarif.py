"""Findings as SARIF 2.1.0, with all that GitHub's "SARIF support for code scanning" demands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote

from onnxpad.inspection import KINDS
from onnxpad.padding.effective_pads import facts_text
from onnxpad.rewriting.costs import Cost
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.own_targets import asked_as
from onnxpad.runtimes.traps import TrapRule, all_rules

Record: TypeAlias = Mapping[str, Any]
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LONGEST = 1024
_SEVERITY = {"error": "error", "warning": "warning", "note": "recommendation"}
_WHOLE_FILE = {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2}


class _Rule(NamedTuple):
    level: str
    short: str
    full: str
    help: str


_ANSWERS = {
    Answer.MISCOMPUTES: _Rule(
        "error",
        "The target runs the node and computes wrong numbers or sizes",
        "The runtime loads the model and runs the node without an error, and its result differs "
        "from what the ONNX text says. Nothing at run time tells.",
        "Write the padding of the node in a form that the runtime computes right: onnxpad rewrite "
        "MODEL --target TARGET -o OUT does so where there is a way, and changes no number.",
    ),
    Answer.REFUSES: _Rule(
        "error",
        "The target does not load or run the node",
        "The runtime ends with an error when it loads or runs a model with this node.",
        "Write the padding of the node in a form that the runtime takes: onnxpad rewrite MODEL "
        "--target TARGET -o OUT does so where there is a way, and changes no number.",
    ),
    Answer.FALLS_BACK: _Rule(
        "note",
        "The target leaves the node to the CPU",
        "The node runs on the CPU and not on the device: its numbers are right, and its tensors "
        "are copied there and back.",
        "Write the node in a form that the device takes: onnxpad rewrite MODEL --target TARGET "
        "--require-device -o OUT does so where there is a way, and changes no number.",
    ),
    Answer.UNKNOWN: _Rule(
        "note",
        "It is not known what the target does with the node",
        "Nobody has measured or read what the runtime does with this form of padding, or it hangs "
        "on sizes that the model leaves open.",
        "Say what is known of open sizes with --dim, write the padding in a form that was "
        "measured (onnxpad explain TARGET lists them), or try the model there.",
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
        {
            "level": "error",
            "message": {"text": reason},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": _uri(model)}}}],
        }
        for model, reason in unread
    ]
    notes = {"toolExecutionNotifications": told} if told else {}
    return {"executionSuccessful": not told, **notes}


def _rule_id(answer: str) -> str:
    """The verdict without a blank, which upload tools do not take."""
    return answer.replace(" ", "-")


def _rule_of(trap: TrapRule) -> _Rule:
    first, _, rest = trap.text.partition("\n\n")
    short, full = " ".join(first.split()), " ".join((rest or first).split())
    passes = f" Passes that may help: {', '.join(trap.passes)}." if trap.passes else ""
    where = f"Known from: {trap.source}."
    return _Rule("warning", short, full, f"{short} {full}{passes} {where}")


def _descriptor(code: str, rule: _Rule) -> dict[str, Any]:
    return {
        "id": code,
        "shortDescription": {"text": _cut(rule.short)},
        "fullDescription": {"text": _cut(rule.full)},
        "help": {"text": rule.help},
        "defaultConfiguration": {"level": rule.level},
        "properties": {
            "tags": ["onnx", "padding"],
            "precision": "very-high" if rule.level == "error" else "high",
            "problem.severity": _SEVERITY[rule.level],
        },
    }


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _results(record: Record, *, traps: bool) -> Iterator[dict[str, Any]]:
    listed = {(one["node"], one["code"]): one for one in record["findings"]}
    told = ((node, trap) for node in record["nodes"] for trap in node["traps"])
    for node, trap in told if traps else ():
        finding = listed.pop((node["node"], trap["code"]), None)  # once for all calls
        if finding:
            text = f"{node['op']} '{node['node']}': {trap['sentence']}."
            yield _result(record, finding, trap["code"], text)
    for target, verdicts in record["targets"].items():
        for verdict in verdicts:
            answer, node = verdict["verdict"], verdict["node"]
            finding = listed.get((node, f"{target}:{KINDS.get(answer, '')}"))
            if finding:
                text = f"{target} {answer} {verdict['op']} '{node}': {verdict['reason']}"
                way = f"rewrite --target {asked_as(target)}: {_way(verdict)}"
                result = _result(record, finding, _rule_id(answer), f"{text}. {way.rstrip('.')}.")
                result["partialFingerprints"]["node/v1"] = f"{target}/{node}/{verdict['op']}"
                about = {"target": target, "evidence": verdict["evidence"]}
                yield result | {"properties": about}


def _way(verdict: Record) -> str:
    """What a rewrite would do about a node, with its cost."""
    way = verdict["rewrite"]
    if way is None:
        if verdict["verdict"] != Answer.FALLS_BACK:
            return "nothing"
        return "no way" if verdict["on_device"] is False else "Fix: add --require-device."
    if way["passes"] is not None:
        cost = Cost(**way["cost"])
        limits = " (not for onnxruntime)" if way["alone"] else ""
        steps = ", ".join((*way["whole"], *way["passes"]))
        return f"{steps}{limits}{'' if cost == Cost() else f': {cost}'}"
    with_sizes = verdict["with_sizes"]
    is_open, left = verdict["verdict"] == Answer.UNKNOWN, way["remaining"]
    if is_open and not (with_sizes and with_sizes["passes"]):
        return "left as it is"
    granted = ""
    if left and way["nearest"] and all(one["verdict"] == Answer.UNKNOWN for one in left):
        granted = "" if is_open else f"; {', '.join(way['nearest'])} with --allow-unknown"
    if with_sizes:
        said = facts_text(tuple(with_sizes["dims"].items()))
        return f"with {said}: {', '.join(with_sizes['passes']) or 'taken as it is'}{granted}"
    return f"no way{granted}"


def _result(record: Record, finding: Record, rule: str, text: str) -> dict[str, Any]:
    location = {"fullyQualifiedName": finding["node"], "kind": "object"}
    file = {"artifactLocation": {"uri": _uri(record["file"])}, "region": _WHOLE_FILE}
    found: dict[str, Any] = {
        "ruleId": rule,
        "message": {"text": text},
        "locations": [{"physicalLocation": file, "logicalLocations": [location]}],
        "partialFingerprints": {"primaryLocationLineHash": _fingerprint(finding)},
    }
    if finding["known"]:
        found["suppressions"] = [{"kind": "external", "justification": "in the baseline"}]
    return found


def _fingerprint(finding: Record) -> str:
    """A hash and a count, as upload tools make of a line: all of a model stands in its first."""
    identity = f"{finding['code']}/{finding['node']}/{finding['op']}"
    return f"{sha256(identity.encode(errors='backslashreplace')).hexdigest()[:16]}:1"


def _uri(model: str) -> str:
    """Relative to the working folder where the file is below it, with escapes (RFC 3986).

    Code scanning shows nothing in links, so that they are followed as far as they stay there.
    """
    path, here = Path(model.replace("\\", "/")), Path.cwd()
    for folder, file in ((here.resolve(), path.resolve()), (here, path.absolute())):
        if file.is_relative_to(folder):
            return quote(file.relative_to(folder).as_posix())
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
