"""What makes inspect exit with 1: --fail-on, and the baseline of known findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from onnxpad.cli.outputs import refuse_overwriting
from onnxpad.cli.parser import given_by_hand
from onnxpad.cli.streams import FINE, WRONG, say, say_with_try
from onnxpad.errors import counted, few

if TYPE_CHECKING:
    from onnxpad.cli.baseline import Baseline, Known
    from onnxpad.inspection import Finding

LEVELS = ("fallback", "unknown", "refused", "wrong")
"""What a target does with a node, the mildest first."""
_DEFAULT, _ALWAYS, TRAP = "refused", "off-device", "trap"
_FEW, _ALL = 3, 10
"""Up to `_ALL` findings, all nodes are named, otherwise a few; so many reasons are told."""


class Gated(NamedTuple):
    """The findings of a model, those of them that fail it, and those that a baseline knows."""

    findings: tuple[Finding, ...]
    failing: frozenset[Finding]
    known: frozenset[Finding]

    def to_json(self) -> dict[str, Any]:
        """The findings as they stand in a report, each with whether it fails and is known."""
        from onnxpad.reports import plain

        marks = [
            {"fails": one in self.failing, "known": one in self.known} for one in self.findings
        ]
        return {
            "findings": [plain(one) | mark for one, mark in zip(self.findings, marks, strict=True)]
        }


class Gate:
    """Judges model after model, and sums up.

    Raises click.UsageError for options that make no sense together, RequestError for a baseline
    that cannot be read or has no place.
    """

    def __init__(self, models: Sequence[str], given: Mapping[str, Any]) -> None:
        levels = [level for level in given["fail_on"] if level != TRAP]
        if levels and not given["target"] and given_by_hand("fail_on"):
            raise click.UsageError(
                f"--fail-on {levels[0]} is about what a runtime does: add --target T (--fail-on "
                "trap needs none)"
            )
        worst = LEVELS[min(map(LEVELS.index, levels or [_DEFAULT])) :]
        asks_alone = given["failing"] or given["sarif"]
        traps = asks_alone and not given["target"] and not given["device"]
        trap = [TRAP] if traps or TRAP in given["fail_on"] else []
        self.kinds = frozenset((*worst, _ALWAYS, *trap))
        self._models = models
        self._given = given
        self._baseline = _baseline(models, given)
        self._speaks = bool(given["fail_on"] or given["baseline"] or asks_alone)
        self._seen = self._gone = self._told = 0
        self._unread: list[str] = []
        self._left_out: Counter[str] = Counter()

    def judge(self, model: str, findings: tuple[Finding, ...], targets: Collection[str]) -> Gated:
        """What fails a model; where a baseline is to be written, nothing does."""
        named = frozenset(one for one in findings if one.kind in self.kinds)
        if self._baseline is None:
            return Gated(findings, named, frozenset())
        from onnxpad.cli.baseline import known

        now = {known(one.code, one.node) for one in named}
        before = self._baseline.known_of(model)
        gone = {one for one in before - now if self._looked_for(one, targets)}
        if self._given["write_baseline"]:
            before = (before - gone) | now
            self._baseline.learn(model, before)
        else:
            self._gone += len(gone)
            self._seen += len(before & now)
            if self._given["prune_baseline"] and gone:
                self._baseline.learn(model, before - gone)
        accepted = frozenset(one for one in findings if known(one.code, one.node) in before)
        return Gated(findings, named - accepted, accepted)

    def _looked_for(self, finding: Known, targets: Collection[str]) -> bool:
        """Whether this run would have found it again, were it still there."""
        if self._given["nodes"]:
            return False
        target, is_about_one, kind = finding.code.rpartition(":")
        if not is_about_one:
            return TRAP in self.kinds
        return kind in self.kinds and (target in targets or target == self._given["device"])

    def leave_out(self, model: str) -> None:
        """Note that a model could not be inspected: what is known of it stays as it is."""
        self._unread.append(model)

    def say_why(
        self, model: str, gated: Gated, record: Mapping[str, Any], *, many: bool = False
    ) -> None:
        """Lines on standard error about what fails a model: each code and reason, and its repair.

        Of one model only where a gate was asked for: its report says the same. Of `many` the first
        findings, or with --each all of them; `conclude` says how many were not told. `record` is
        the report on the model, as `repairs` takes it.
        """
        failing, as_json = len(gated.failing), self._given["as_json"]
        few_yet = not as_json and self._told + failing <= _ALL
        if self._speaks or (many and (self._given["each"] or few_yet)):
            self._told += failing
            self._say(model, gated, record)
        elif many and failing and not as_json:
            self._left_out[model] += failing

    def _say(self, model: str, gated: Gated, record: Mapping[str, Any]) -> None:
        from onnxpad.cli.repairs import repair

        alike: dict[tuple[str, str], list[Finding]] = {}
        for finding in gated.findings:
            if finding in gated.failing:
                reason = finding.reason or _reason(finding, record)
                alike.setdefault((finding.code, reason), []).append(finding)
        lines: list[tuple[str, str]] = []
        most = _ALL if len(gated.failing) <= _ALL else _FEW
        for number, ((code, reason), findings) in enumerate(alike.items()):
            shown = len(findings) if self._given["each"] else most if number < _ALL else 0
            self._left_out[model] += max(0, len(findings) - shown)
            if shown:
                nodes = few(list(dict.fromkeys(f"'{one.node}'" for one in findings)), shown)
                line = f"fails: {model}: {code} {nodes}{f': {reason}' if reason else ''}"
                lines.append((line, repair(model, findings[0], record)))
        for (line, cure), (_, next_cure) in zip(lines, [*lines[1:], ("", "")], strict=False):
            say_with_try(line, cure if cure != next_cure else "")

    def conclude(self, status: int) -> int:
        """Write the baseline, or say how it compares, and what was left out; the exit code."""
        baseline = self._baseline
        if (left := +self._left_out) and not self._given["write_baseline"]:
            models = f"{counted(len(left), 'model')} ({few(list(left), _FEW)})"
            findings = counted(left.total(), "failing finding")
            say(f"{findings} in {models} not named above: --each names every node\n")
        if baseline is None:
            return status
        if self._given["write_baseline"]:
            return self._written(baseline)
        if self._seen:
            say(f"{counted(self._seen, 'known finding')} in {baseline.path}\n")
        gone = counted(self._gone, "known finding")
        if self._gone and self._given["prune_baseline"]:
            baseline.write()
            say(f"{gone} dropped from {baseline.path}\n")
        elif self._gone:
            are = "is" if self._gone == 1 else "are"
            say(f"{gone} {are} gone: --prune-baseline drops what is gone\n")
        return status

    def _written(self, baseline: Baseline) -> int:
        """Write what is known of the models that could be inspected; WRONG where one could not."""
        count = len(self._unread)
        if not count:
            baseline.write()
            say(f"wrote {baseline.path}\n")
            return FINE
        done = f"nothing written to {baseline.path}: there are only"
        if count < len(self._models):
            baseline.write()
            done = f"wrote {baseline.path} without"
        models = f"{counted(count, 'model')} that could not be inspected"
        named = few([f"'{one}'" for one in self._unread], _ALL)
        cure = "mend what cannot be read, or leave it out with --exclude GLOB"
        say_with_try(f"{done} {models}: {named}", cure)
        return WRONG


def _baseline(models: Sequence[str], given: Mapping[str, Any]) -> Baseline | None:
    path = given["baseline"]
    if path is None:
        return None
    from onnxpad.cli.baseline import Baseline, read_baseline

    if not given["write_baseline"]:
        return read_baseline(path)
    refuse_overwriting("--baseline", path, models)
    return read_baseline(path) if Path(path).exists() else Baseline(path, ())


def _reason(finding: Finding, record: Mapping[str, Any]) -> str:
    """What a report says of the node of a finding."""
    target, of_target, _ = finding.code.rpartition(":")
    if of_target:
        nodes = record["targets"].get(target, ())
        return next((one["reason"] for one in nodes if one["node"] == finding.node), "")
    traps = (
        trap["sentence"]
        for node in record["nodes"]
        for trap in node["traps"]
        if (node["node"], trap["code"]) == (finding.node, finding.code)
    )
    return next(traps, "")
