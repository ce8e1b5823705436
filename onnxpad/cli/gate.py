"""What makes inspect exit with 1: --fail-on, and the baseline of known findings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from onnxpad.cli.arguments import given_by_hand
from onnxpad.cli.outcomes import FINDINGS, FINE, say

if TYPE_CHECKING:
    from onnxpad.cli.baseline import Baseline, Known
    from onnxpad.inspection import Finding

LEVELS = ("fallback", "unknown", "refused", "wrong")
"""What a target does with a node, the mildest first."""
_DEFAULT, _ALWAYS, TRAP = "refused", "off-device", "trap"
_NAMED = 3

fail_on = click.option(
    "--fail-on",
    "fail_on",
    type=click.Choice([*LEVELS, TRAP]),
    multiple=True,
    help="Exit 1 where a target does this to a node, or worse: fallback (it leaves the node to the "
    "CPU), unknown, refused, wrong. [default: refused] trap: where a node is in a trap as well. "
    "Repeatable.",
)
baseline = click.option(
    "--baseline",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="A file of known findings, by model, node and code: they do not count for the exit code.",
)
write_baseline = click.option(
    "--write-baseline",
    is_flag=True,
    help="Write what fails now into the --baseline FILE, and exit 0.",
)


class Judged(NamedTuple):
    """The findings of a model, those of them that fail it, and those that a baseline knows."""

    findings: tuple[Finding, ...]
    failing: frozenset[Finding]
    known: frozenset[Finding]

    def to_json(self) -> dict[str, Any]:
        """The findings as they stand in a report, each with whether it fails and is known."""
        from onnxpad.reports import plain

        marked = [
            plain(one) | {"fails": one in self.failing, "known": one in self.known}
            for one in self.findings
        ]
        return {"findings": marked}


class Gate:
    """Judges model after model, and sums up.

    Raises click.UsageError for options that make no sense together, RequestError for a baseline
    that cannot be read or has no place.
    """

    def __init__(self, models: Sequence[str], given: dict[str, Any]) -> None:
        _check(given)
        levels = [LEVELS.index(level) for level in given["fail_on"] if level in LEVELS]
        worst = LEVELS[min(levels, default=LEVELS.index(_DEFAULT)) :]
        self.kinds = frozenset(
            (*worst, _ALWAYS, *(TRAP for one in given["fail_on"] if one == TRAP))
        )
        self._device = given["device"]
        self._selects = bool(given["nodes"])
        self._writes: bool = given["write_baseline"]
        self._baseline = _baseline(given["baseline"], models, writes=self._writes)
        self._speaks = bool(given["fail_on"] or given["baseline"] or given["sarif"])
        self._seen = self._gone = 0

    def judged(self, model: str, findings: tuple[Finding, ...], targets: Collection[str]) -> Judged:
        """What fails a model; where a baseline is to be written, nothing does.

        `targets` are the names of those that were asked for, which findings have in their codes.
        """
        named = frozenset(one for one in findings if one.kind in self.kinds)
        if self._baseline is None:
            return Judged(findings, named, frozenset())
        from onnxpad.cli.baseline import Known

        now = {Known.of(one) for one in named}
        baseline = self._compared(self._baseline, model, now, targets)
        known = frozenset(one for one in findings if Known.of(one) in baseline)
        return Judged(findings, named - known, known)

    def _compared(
        self, baseline: Baseline, model: str, now: set[Known], targets: Collection[str]
    ) -> frozenset[Known]:
        """What the baseline says of a model, or is to say; `now` are the findings of this run."""
        before = baseline.known_of(model)
        gone = {one for one in before - now if self._looked_for(one, targets)}
        if self._writes:
            return baseline.learn(model, (before - gone) | now)
        self._gone += len(gone)
        self._seen += len(before & now)
        return before

    def _looked_for(self, known: Known, targets: Collection[str]) -> bool:
        """Whether this run would have found it again, were it still there."""
        if self._selects:
            return False
        asked, is_about_one, kind = known.code.rpartition(":")
        if not is_about_one:
            return TRAP in self.kinds
        return kind in self.kinds and (asked in targets or asked == self._device)

    def say_why(self, model: str, judged: Judged) -> None:
        """One line on standard error about what fails a model, where a gate was asked for."""
        from onnxpad.show.wording import visible

        if self._speaks and judged.failing:
            failing = [one for one in judged.findings if one in judged.failing]
            say(visible(f"fails: {model}: {_listed(failing)}") + "\n")

    def concluded(self, status: int) -> int:
        """Write the baseline, or say how it compares; the exit code."""
        if self._baseline is None:
            return status
        if self._writes:
            if status > FINDINGS:
                say(f"nothing written to {self._baseline.path}: a model could not be inspected\n")
                return status
            self._baseline.write()
            say(f"wrote {self._baseline.path}\n")
            return FINE
        if self._seen:
            say(f"{_counted(self._seen)} in {self._baseline.path}\n")
        if self._gone:
            are = "is" if self._gone == 1 else "are"
            say(f"{_counted(self._gone)} {are} gone: --write-baseline drops what is gone\n")
        return status


def _check(given: dict[str, Any]) -> None:
    if given["write_baseline"] and not given["baseline"]:
        raise click.UsageError("--write-baseline needs a name: add --baseline FILE")
    if given["write_baseline"] and given["nodes"]:
        raise click.UsageError(
            "--write-baseline lists all nodes of a model, and --node leaves some out: give one of "
            "them"
        )
    about = [level for level in given["fail_on"] if level in LEVELS]
    if about and not given["targets"] and given_by_hand("fail_on"):
        raise click.UsageError(
            f"--fail-on {about[0]} is about what a runtime does: add --target T (--fail-on trap "
            "needs none)"
        )


def _baseline(path: str | None, models: Sequence[str], *, writes: bool) -> Baseline | None:
    if path is None:
        return None
    from onnxpad.cli import destinations
    from onnxpad.cli.baseline import Baseline, read_baseline

    if not writes:
        return read_baseline(path)
    destinations.refuse_overwriting(path, models, "give another --baseline")
    return read_baseline(path) if Path(path).exists() else Baseline(path, {})


def _listed(findings: Iterable[Finding]) -> str:
    nodes: dict[str, list[str]] = {}
    for one in findings:
        nodes.setdefault(one.code, []).append(f"'{one.node}'")
    return "; ".join(f"{code} {_shortened(found)}" for code, found in nodes.items())


def _shortened(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _counted(number: int) -> str:
    return f"{number} known finding{'' if number == 1 else 's'}"
