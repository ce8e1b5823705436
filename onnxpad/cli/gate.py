"""What makes inspect exit with 1: --fail-on, and the baseline of known findings."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onnxpad.cli.outputs import refuse_overwriting
from onnxpad.cli.parser import given_by_hand
from onnxpad.cli.streams import FINDINGS, FINE, WRONG, say, say_with_try
from onnxpad.errors import counted, few

if TYPE_CHECKING:
    from onnxpad.batch.each import Outcome
    from onnxpad.cli.baseline import Baseline, Known

LEVELS = ("fallback", "unknown", "refused", "wrong")
"""What a target does with a node, the mildest first."""
_DEFAULT, _ALWAYS, TRAP = "refused", "off-device", "trap"
_FEW, _ALL = 3, 10
"""Nodes of one reason that are named, and reasons of a model that are told."""


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
        self._given = given
        self._baseline = _baseline(models, given)
        self._speaks = bool(given["fail_on"] or given["baseline"] or asks_alone)
        self._seen = self._gone = 0
        self._unread: list[str] = []
        self._left_out: Counter[str] = Counter()

    def judge(self, outcome: Outcome) -> Outcome:
        """The outcome with what fails the model; where a baseline is to be written, nothing does.

        What is known of a model that could not be inspected stays as it is.
        """
        from onnxpad.inspection import inspected_status

        if outcome.error:
            self._unread.append(outcome.file)
            return outcome
        record = outcome.record
        listed = record["findings"]
        named = [one for one in listed if one["kind"] in self.kinds]
        accepted = self._accepted(outcome.file, named, record["targets"])
        marked = []
        for one in listed:
            is_known = _known(one) in accepted
            fails = one in named and not is_known
            marked.append(one | {"fails": fails, "known": is_known})
        fails = any(one["fails"] for one in marked)
        knows = any(one["known"] for one in marked)
        status = inspected_status(record, fails=fails, knows=knows)
        return outcome._replace(
            result=status,
            code=FINDINGS if fails else FINE,
            record={**record, "findings": marked, "status": status},
        )

    def _accepted(
        self, model: str, named: Sequence[Mapping[str, Any]], targets: Collection[str]
    ) -> Collection[Known]:
        """What the baseline knows of a model, which may learn from it."""
        baseline, given = self._baseline, self._given
        if baseline is None:
            return ()
        now = {_known(one) for one in named}
        before = baseline.known_of(model)
        gone = {one for one in before - now if self._looked_for(one, targets)}
        if given["write_baseline"]:
            before = (before - gone) | now
            baseline.learn(model, before)
            return before
        self._gone += len(gone)
        self._seen += len(before & now)
        if given["prune_baseline"]:
            baseline.learn(model, before - gone)
        return before

    def _looked_for(self, finding: Known, targets: Collection[str]) -> bool:
        """Whether this run would have found it again, were it still there."""
        if self._given["nodes"]:
            return False
        target, is_about_one, kind = finding.code.rpartition(":")
        if not is_about_one:
            return TRAP in self.kinds
        return kind in self.kinds and (target in targets or target == self._given["device"])

    def say_why(self, outcome: Outcome) -> None:
        """Lines on standard error about what fails a model: each code and reason, and a repair.

        Of one model, whose report says the same, only where a gate was asked for; of many also with
        --each.
        """
        failing = [] if outcome.error else [x for x in outcome.record["findings"] if x["fails"]]
        asked = self._speaks or (self._given["each"] and outcome.document is None)
        if not failing or not asked:
            return
        alike: dict[tuple[str, str], list[str]] = {}
        for one in failing:
            alike.setdefault((one["code"], _reason(one, outcome.record)), []).append(one["node"])
        each = self._given["each"]
        for number, ((code, reason), found) in enumerate(alike.items()):
            nodes = list(dict.fromkeys(f"'{node}'" for node in found))
            most = len(nodes) if each or len(failing) <= _ALL else _FEW * (number < _ALL)
            self._left_out[outcome.file] += len(nodes) - min(most, len(nodes))
            if most:
                said = f"{code} {few(nodes, most)}{f': {reason}' if reason else ''}"
                say_with_try(f"fails: {outcome.file}: {said}")
        explained = f"onnxpad explain {shlex.quote(failing[0]['code'])}"
        say(f"  try     {next(iter(outcome.following), explained)}\n")

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
        number = self._gone + baseline.gone
        gone = counted(number, "known finding")
        if number and self._given["prune_baseline"]:
            baseline.write()
            say(f"{gone} dropped from {baseline.path}\n")
        elif number:
            are = "is" if number == 1 else "are"
            say(f"{gone} {are} gone: --prune-baseline drops what is gone\n")
        return status

    def _written(self, baseline: Baseline) -> int:
        """Write what is known of the models that could be inspected; WRONG where one could not."""
        baseline.write()
        if not self._unread:
            say(f"wrote {baseline.path}\n")
            return FINE
        models = f"{counted(len(self._unread), 'model')} that could not be inspected"
        named = few([f"'{one}'" for one in self._unread], _ALL)
        cure = "mend what cannot be read, or leave it out with --exclude GLOB"
        say_with_try(f"wrote {baseline.path} without {models}: {named}", cure)
        return WRONG


def _known(finding: Mapping[str, Any]) -> Known:
    from onnxpad.cli.baseline import known

    return known(finding["code"], finding["node"])


def _baseline(models: Sequence[str], given: Mapping[str, Any]) -> Baseline | None:
    path = given["baseline"]
    if path is None:
        return None
    from onnxpad.cli.baseline import Baseline, read_baseline

    if not given["write_baseline"]:
        return read_baseline(path)
    refuse_overwriting("--baseline", path, models)
    return read_baseline(path) if Path(path).exists() else Baseline(path, ())


def _reason(finding: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    """What a report says of the node of a finding."""
    target, of_target, _ = finding["code"].rpartition(":")
    nodes = record["targets"].get(target, ()) if of_target else record["nodes"]
    for node in (one for one in nodes if one["node"] == finding["node"]):
        if of_target:
            return str(node["reason"])
        for trap in node["traps"]:
            if trap["code"] == finding["code"]:
                return str(trap["sentence"])
    return ""
