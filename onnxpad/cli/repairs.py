"""The command that repairs a finding of inspect, from the report on the model."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from onnxpad.runtimes.own_targets import asked_as
from onnxpad.show.wording import given_text

if TYPE_CHECKING:
    from onnxpad.inspection import Finding

_Record = Mapping[str, Any]


def repair(model: str, finding: Finding, record: _Record) -> str:
    """The command after which the model no longer has the finding, or what there is instead.

    `record` is the report, beside it the rewrite `following` that was tried and writes the model,
    and the words for `live`.
    """
    if finding.kind == "trap":
        return _for_trap(model, finding, record) or f"onnxpad explain {finding.code}"
    target = finding.code.rpartition(":")[0]
    typed = asked_as(target)
    verdicts = record["targets"].get(target, ())
    failing = [one for one in verdicts if one["verdict"] in ("refuses", "miscomputes")]
    stuck = [one for one in failing if not _has_way(one) and one["with_sizes"] is None]
    if finding.kind == "fallback":
        if any(one["node"] == finding.node for one in failing):
            return _for_target(model, target, failing, record) or f"onnxpad explain {typed}"
        return _for_device(model, target, record) or f"onnxpad explain {typed}"
    if finding.kind == "unknown":
        settling = _settling(model, finding, record)
        return settling or "try it in the runtime: onnxpad explain own-runtime"
    if not failing:
        return ""
    if stuck:
        others = ""
        if any(map(_has_way, failing)):
            write = _command("rewrite", model, [target], record, None, "--although-unfit -o OUT")
            others = f", and for {len(failing) - len(stuck)} more: {write}"
        return f"no form that onnxpad writes is taken for {len(stuck)}{others}"
    none = f"no rewrite for {target} is known that writes the model: onnxpad explain {typed}"
    return _for_target(model, target, failing, record) or none


def _has_way(verdict: _Record) -> bool:
    return bool(verdict["rewrite"]) and verdict["rewrite"]["passes"] is not None


def _command(
    verb: str,
    model: str,
    targets: list[str],
    record: _Record,
    facts: Mapping[str, Any] | None,
    *behind: str,
) -> str:
    words = [f"onnxpad {verb}", shlex.quote(model)]
    words += [f"--target {asked_as(name)}" for name in targets]
    known = "" if facts is None else given_text({**record["assumed"], **facts})
    return " ".join(filter(None, [*words, record["live"], known, *behind]))


def _for_trap(model: str, finding: Finding, record: _Record) -> str:
    from onnxpad.padding.effective_pads import may_be_written, told_in
    from onnxpad.runtimes.traps import helping

    node = next(one for one in record["nodes"] if one["node"] == finding.node)
    passes = next(one["passes"] for one in node["traps"] if one["code"] == finding.code)
    target = helping(finding.code, passes)
    if not (passes or target) or not may_be_written(node["pads"], node["try"]):
        return ""
    lacking = node["try"][-1] if node["pads"] is None and node["try"] else ""
    facts = {name: fact.told for name, fact in told_in(lacking).items()}
    how = f"--pass {passes[0]}" if passes else f"--target {target}"
    known = given_text({**record["assumed"], **facts})
    words = ["onnxpad rewrite", shlex.quote(model), how, known, "-o OUT"]
    return " ".join(filter(None, words))


def _for_target(model: str, target: str, failing: list[_Record], record: _Record) -> str:
    """The rewrite for the target, with others where the rewrite for all of them was tried."""
    from onnxpad.inspection import FOLLOWED

    following, targets, facts = record["following"], [target], {}
    if target in following.get("targets", ()):
        targets = [name for name in record["targets"] if name in following["targets"]]
        facts = following["dims"]
    elif not following and len(record["targets"]) <= FOLLOWED:
        return ""  # the rewrite was tried
    elif not all(map(_has_way, failing)):
        facts = record["openings"][target]["dims"]
    return _command("rewrite", model, targets, record, facts, "-o OUT")


def _for_device(model: str, target: str, record: _Record) -> str:
    """The rewrite that keeps a node on the device; '' where it was tried and writes nothing."""
    if any(one["on_device"] is False for one in record["targets"][target]):
        return ""
    facts = record["openings"][target]["dims"]
    return _command("rewrite", model, [target], record, facts, "--require-device -o OUT")


def _settling(model: str, finding: Finding, record: _Record) -> str:
    """The command for what is not known of a node as long as a size is open; '' for others."""
    target = finding.code.rpartition(":")[0]
    opening = record["openings"].get(target)
    nodes = [one["node"] for one in record["targets"].get(target, ())]
    if not opening or not opening["dims"] or opening["settled"] < opening["stuck"]:
        return ""
    if finding.node not in nodes:
        return ""
    return _command("inspect", model, [target], record, opening["dims"])
