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
    explained = f"onnxpad explain {finding.code}"
    if finding.kind == "trap":
        return _for_trap(model, finding, record) or explained
    target = finding.code.rpartition(":")[0]
    verdicts = record["targets"].get(target, ())
    if not verdicts:  # a device
        return ""
    explained = f"onnxpad explain {asked_as(target)}"
    failing = [one for one in verdicts if one["verdict"] in ("refuses", "miscomputes")]
    opening, sizes = record["openings"].get(target), dict(record["assumed"])
    if finding.kind == "unknown":
        if not opening or not opening["dims"] or opening["settled"] < opening["stuck"]:
            return "try it in the runtime: onnxpad explain own-runtime"
        return _command("inspect", model, _asked(record, target), sizes | opening["dims"])
    if finding.kind == "fallback" and finding.node not in [one["node"] for one in failing]:
        if any(one["on_device"] is False for one in verdicts):
            return explained  # the rewrite was tried
        known, end = sizes | opening["dims"], "--require-device -o OUT"
        return _command("rewrite", model, _asked(record, target), known, end)
    stuck = [one for one in failing if not _has_way(one) and one["with_sizes"] is None]
    if not stuck:
        none = f"no rewrite for {target} is known that writes the model: {explained}"
        return _for_target(model, target, failing, record) or none
    others = ""
    if any(map(_has_way, failing)):
        end = "--although-unfit -o OUT"
        write = _command("rewrite", model, _asked(record, target), {}, end)
        others = f", and for {len(failing) - len(stuck)} more: {write}"
    return f"no form that onnxpad writes is taken for {len(stuck)}{others}"


def _has_way(verdict: _Record) -> bool:
    return bool(verdict["rewrite"]) and verdict["rewrite"]["passes"] is not None


def _asked(record: _Record, *targets: str) -> list[str]:
    return [*(f"--target {asked_as(name)}" for name in targets), record["live"]]


def _command(verb: str, model: str, how: list[str], known: Mapping[str, Any], end: str = "") -> str:
    words = [f"onnxpad {verb}", shlex.quote(model), *how, given_text(known), end]
    return " ".join(filter(None, words))


def _for_trap(model: str, finding: Finding, record: _Record) -> str:
    """The rewrite by a pass, or for a target, that helps against a trap; '' where none does."""
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
    return _command("rewrite", model, [how], {**record["assumed"], **facts}, "-o OUT")


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
    how = _asked(record, *targets)
    return _command("rewrite", model, how, {**record["assumed"], **facts}, "-o OUT")
