"""What makes inspect exit with 1: --fail-on, and the baseline of known findings."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from onnxpad.cli.arguments import given_by_hand
from onnxpad.cli.exits import FINE, WRONG, say, say_with_try
from onnxpad.errors import counted, few

if TYPE_CHECKING:
    from onnxpad.cli.baseline import Baseline, Known
    from onnxpad.inspection import Finding

LEVELS = ("fallback", "unknown", "refused", "wrong")
"""What a target does with a node, the mildest first."""
_DEFAULT, _ALWAYS, TRAP, _UNKNOWN = "refused", "off-device", "trap", "unknown"
_NAMED = 3
_ALL_NAMED = 10
"""Up to so many findings, all nodes are named; so many reasons are told of a model."""

fail_on = click.option(
    "--fail-on",
    "fail_on",
    type=click.Choice([*LEVELS, TRAP]),
    multiple=True,
    help="Exit 1 where a target does this to a node, or worse: fallback (it leaves the node to the "
    "CPU), unknown, refused, wrong. [default: refused] trap: where a node is in a trap as well; "
    "that is what --failing and --sarif ask for where there is no target. Repeatable.",
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
prune_baseline = click.option(
    "--prune-baseline",
    is_flag=True,
    help="Drop from the --baseline FILE what is gone, and accept nothing new.",
)


class Gated(NamedTuple):
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
        asks_alone = given["failing"] or given["sarif"]
        traps = asks_alone and not given["targets"] and not given["device"]
        self.kinds = frozenset(
            (*worst, _ALWAYS, *([TRAP] if traps or TRAP in given["fail_on"] else []))
        )
        self._models = len(models)
        self._device = given["device"]
        self._selects = bool(given["nodes"])
        self._writes: bool = given["write_baseline"]
        self._prunes: bool = given["prune_baseline"]
        self._baseline = _baseline(given["baseline"], models, writes=self._writes)
        self._speaks = bool(given["fail_on"] or given["baseline"] or asks_alone)
        self._quiet = bool(given["as_json"])
        self._each = bool(given["each"])
        self._seen = self._gone = self._told = 0
        self._unread: list[str] = []
        self._left_out: Counter[str] = Counter()
        self._repairs: Counter[str] = Counter()
        self._elsewhere: Counter[tuple[str, str]] = Counter()

    def gated(
        self, model: str, findings: tuple[Finding, ...], record: Callable[[], Mapping[str, Any]]
    ) -> Gated:
        """What fails a model; where a baseline is to be written, nothing does.

        `record` gives the report on it, which is asked for where there is a baseline, beside it
        the rewrite `following` that was tried and writes the model, and the words for `live`.
        """
        named = frozenset(one for one in findings if one.kind in self.kinds)
        if self._baseline is None:
            return Gated(findings, named, frozenset())
        from onnxpad.cli.baseline import NO_WAY, NOT_KNOWN, Known

        now, report = {Known.of(one) for one in named}, record()
        baseline = self._compared(self._baseline, model, now, report["targets"])
        known = frozenset(one for one in findings if Known.of(one) in baseline)
        name = self._baseline.name(model)
        ways = {
            Known.of(one): mending(name, one, report)
            or (NOT_KNOWN if one.kind == _UNKNOWN else NO_WAY)
            for one in named & known
        }
        self._baseline.note(model, ways)
        repairs = ((one, mending(model, one, report)) for one in named & known)
        self._repairs.update(said for one, said in repairs if said or one.kind != _UNKNOWN)
        self._elsewhere.update(_in_other_releases(named - known, baseline))
        return Gated(findings, named - known, known)

    def leave_out(self, model: str) -> None:
        """Note that a model could not be inspected: what is known of it stays as it is."""
        self._unread.append(model)

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
        if self._prunes and gone:
            baseline.learn(model, before - gone)
        return before

    def _looked_for(self, known: Known, targets: Collection[str]) -> bool:
        """Whether this run would have found it again, were it still there."""
        if self._selects:
            return False
        asked, is_about_one, kind = known.code.rpartition(":")
        if not is_about_one:
            return TRAP in self.kinds
        return kind in self.kinds and (asked in targets or asked == self._device)

    def say_why(self, model: str, gated: Gated, record: Mapping[str, Any]) -> None:
        """Lines on standard error about what fails a model, where a gate was asked for.

        Each code and reason is a line, and one with the command that repairs it. `record` is the
        report on the model.
        """
        if self._speaks:
            self._say(model, gated, record)

    def say_of_one(self, model: str, gated: Gated, record: Mapping[str, Any]) -> None:
        """The same about one of many models: a line is all that there is of it elsewhere.

        Without a gate the first findings are told, or --each; `concluded` says how many are not.
        """
        failing = len(gated.failing)
        if self._speaks or self._each or (not self._quiet and self._told + failing <= _ALL_NAMED):
            self._told += failing
            self._say(model, gated, record)
        elif failing and not self._quiet:
            self._left_out[model] += failing

    def _say(self, model: str, gated: Gated, record: Mapping[str, Any]) -> None:
        failing = [one for one in gated.findings if one in gated.failing]
        reasons = {code: _reasons(code, record) for code in {one.code for one in failing}}
        alike: dict[tuple[str, str], list[Finding]] = {}
        for one in failing:
            reason = one.reason or reasons[one.code].get(one.node, "")
            alike.setdefault((one.code, reason), []).append(one)
        lines: list[tuple[str, str]] = []
        most = _ALL_NAMED if len(gated.failing) <= _ALL_NAMED else _NAMED
        for number, ((code, reason), found) in enumerate(alike.items()):
            shown = len(found) if self._each else most if number < _ALL_NAMED else 0
            self._left_out[model] += max(0, len(found) - shown)
            if not shown:
                continue
            nodes = few(list(dict.fromkeys(f"'{one.node}'" for one in found)), shown)
            said = f"fails: {model}: {code} {nodes}{f': {reason}' if reason else ''}"
            lines.append((said, repair(model, found[0], record)))
        for (said, tried), (_, after) in zip(lines, [*lines[1:], ("", "")], strict=False):
            say_with_try(said, tried if tried != after else "")

    def concluded(self, status: int) -> int:
        """Write the baseline, or say how it compares, and what was left out; the exit code."""
        self._say_left_out()
        if self._baseline is None:
            return status
        if self._writes:
            return self._concluded_writing(self._baseline)
        if self._seen:
            self._say_seen(self._baseline.path)
        for (other, asked), count in self._elsewhere.items():
            are = "is" if count == 1 else "are"
            them = "it" if count == 1 else "them"
            said = f"{counted(count, 'finding')} of {asked} {are} known of {other}"
            cure = f"--write-baseline accepts {them} in {self._baseline.path}"
            say(f"{said}, which is not the same release: {cure}\n")
        gone = counted(self._gone, "known finding")
        if self._gone and self._prunes:
            self._baseline.write()
            say(f"{gone} dropped from {self._baseline.path}\n")
        elif self._gone:
            are = "is" if self._gone == 1 else "are"
            say(f"{gone} {are} gone: --prune-baseline drops what is gone\n")
        return status

    def _concluded_writing(self, baseline: Baseline) -> int:
        """Write what is known of the models that could be inspected; WRONG where one could not."""
        if not self._unread:
            baseline.write()
            say(f"wrote {baseline.path}\n")
            return FINE
        count = len(self._unread)
        models = f"{counted(count, 'model')} that could not be inspected"
        named = few([f"'{one}'" for one in self._unread], _ALL_NAMED)
        if count == self._models:
            say_with_try(f"nothing written to {baseline.path}: there are only {models}: {named}")
            return WRONG
        baseline.write()
        left_out = " ".join(f"--exclude {shlex.quote(escape(one))}" for one in self._unread)
        cure = f"mend {'it' if count == 1 else 'them'}, or leave out with {left_out}"
        said = f"wrote {baseline.path} without {models}: {named}"
        say_with_try(
            said, cure if count <= _NAMED else "mend them, or leave them out with --exclude GLOB"
        )
        return WRONG

    def _say_left_out(self) -> None:
        """How many nodes no line named, and what names them."""
        left = +self._left_out
        if not left or self._writes:
            return
        which = f"{counted(len(left), 'model')} ({few(list(left), _NAMED)})"
        models = f" in {which}" if self._models > 1 else ""
        findings = counted(left.total(), "failing finding")
        names = "--each names" if self._quiet else "--each or --json names"
        say(f"{findings}{models} not named above: {names} every node\n")

    def _say_seen(self, path: str) -> None:
        """How many findings are known, for how many there is no way, and a command for the rest."""
        stuck, commands = self._repairs.pop("", 0), list(self._repairs)
        more = f", and {len(commands) - 1} more" if len(commands) > 1 else ""
        said = f"{counted(self._seen, 'known finding')} in {path}"
        tried = f"{commands[0]}{more}" if commands else ""
        say_with_try(f"{said}, {stuck} without a way" if stuck else said, tried)


def _in_other_releases(
    failing: Collection[Finding], known: Collection[Known]
) -> Iterator[tuple[str, str]]:
    """The target that is known to do the same with the node, and the release of it that does."""
    for one in failing:
        asked, _, kind = one.code.rpartition(":")
        for other in known:
            target, _, same = other.code.rpartition(":")
            runtime = target.partition("@")[0]
            if (other.node, same) == (one.node, kind) and runtime == asked.partition("@")[0] != "":
                yield target, asked
                break


def _check(given: dict[str, Any]) -> None:
    if given["write_baseline"] and not given["baseline"]:
        raise click.UsageError("--write-baseline needs a name: add --baseline FILE")
    if given["prune_baseline"] and not given["baseline"]:
        raise click.UsageError("--prune-baseline needs a file: add --baseline FILE")
    if given["write_baseline"] and given["prune_baseline"]:
        raise click.UsageError(
            "--write-baseline drops what is gone as well, and accepts what is new: give one of them"
        )
    for option in ("write_baseline", "prune_baseline"):
        if given[option] and given["nodes"]:
            raise click.UsageError(
                f"--{option.replace('_', '-')} is about all nodes of a model, and --node leaves "
                "some out: give one of them"
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


def _reasons(code: str, record: Mapping[str, Any]) -> dict[str, str]:
    """What a report says of each node under this code."""
    target, of_target, _ = code.rpartition(":")
    if of_target:
        return {one["node"]: one["reason"] for one in record["targets"].get(target, ())}
    return {
        node["node"]: trap["sentence"]
        for node in record["nodes"]
        for trap in node["traps"]
        if trap["code"] == code
    }


def repair(model: str, finding: Finding, record: Mapping[str, Any]) -> str:
    """The command that repairs a model that has this finding, or what there is instead."""
    if finding.kind == TRAP:
        return mending(model, finding, record) or f"onnxpad explain {finding.code}"
    from onnxpad.runtimes.own_targets import asked_as

    target = finding.code.rpartition(":")[0]
    typed = asked_as(target)
    if finding.kind == LEVELS[0]:
        return mending(model, finding, record) or f"onnxpad explain {typed}"
    fails = _failing(target, record)
    if not fails and finding.kind != _UNKNOWN:
        return ""
    stuck = [one for one in fails if not _is_settled(one)]
    if finding.kind == _UNKNOWN:
        return (
            mending(model, finding, record) or "try it in the runtime: onnxpad explain own-runtime"
        )
    if stuck:
        no_form = f"no form that onnxpad writes is taken for {len(stuck)}"
        rest = len(fails) - len(stuck)
        asked = " ".join(filter(None, [f"--target {typed}", record["live"]]))
        write = f"onnxpad rewrite {shlex.quote(model)} {asked} --although-unfit -o OUT"
        others = f", and for {rest} more: {write}" if any(map(_is_mended, fails)) else ""
        return f"{no_form}{others}"
    none = f"no rewrite for {target} is known that writes the model: onnxpad explain {typed}"
    return mending(model, finding, record) or none


def mending(model: str, finding: Finding, record: Mapping[str, Any]) -> str:
    """The command after which a model no longer has this finding; '' where there is none.

    It names the node where others have no way, for which a rewrite of all writes nothing, and
    other targets only where the rewrite for all of them was tried.
    """
    from onnxpad.inspection import FOLLOWED
    from onnxpad.padding.effective_pads import may_be_written, told_in
    from onnxpad.runtimes.own_targets import asked_as
    from onnxpad.runtimes.traps import helping
    from onnxpad.show.wording import given_text

    if finding.kind == TRAP:
        node = next(one for one in record["nodes"] if one["node"] == finding.node)
        passes = next(one["passes"] for one in node["traps"] if one["code"] == finding.code)
        target = helping(finding.code, passes)
        if not (passes or target) or not may_be_written(node["pads"], node["try"]):
            return ""
        lacking = node["try"][-1] if node["pads"] is None and node["try"] else ""
        facts = {name: fact.told for name, fact in told_in(lacking).items()}
        how = f"--pass {passes[0]}" if passes else f"--target {target}"
        words = [how, given_text({**record["assumed"], **facts})]
    else:
        target = finding.code.rpartition(":")[0]
        fails = _failing(target, record)
        mine = [one for one in fails if one["node"] == finding.node]
        if not mine and finding.kind == LEVELS[0]:
            return _for_device(model, finding, record)
        if not mine:
            return _settling(model, finding, record)
        targets, facts, only = [target], {}, ""
        if target in record["following"].get("targets", ()):
            targets, facts = record["following"]["targets"], record["following"]["dims"]
        elif not all(map(_is_settled, fails)):
            if not all(_is_mended(one) and not one["rewrite"]["whole"] for one in mine):
                return ""  # of chosen nodes alone the rest of the model stays as it is
            only = f"--node {shlex.quote(finding.node)}"
        elif not record["following"] and len(record["targets"]) <= FOLLOWED:
            return ""  # the rewrite was tried
        elif not all(map(_is_mended, fails)):
            facts = record["openings"][target]["dims"]
        words = [f"--target {asked_as(name)}" for name in record["targets"] if name in targets]
        words += [record["live"], given_text({**record["assumed"], **facts}), only]
    return " ".join(filter(None, ["onnxpad rewrite", shlex.quote(model), *words, "-o OUT"]))


def _for_device(model: str, finding: Finding, record: Mapping[str, Any]) -> str:
    """The command that keeps a node on the device; '' where it was tried and writes nothing."""
    from onnxpad.runtimes.own_targets import asked_as
    from onnxpad.show.wording import given_text

    target = finding.code.rpartition(":")[0]
    if any(one["on_device"] is False for one in record["targets"][target]):
        return ""
    facts = given_text({**record["assumed"], **record["openings"][target]["dims"]})
    words = ["onnxpad rewrite", shlex.quote(model), f"--target {asked_as(target)}"]
    return " ".join(filter(None, [*words, record["live"], facts, "--require-device -o OUT"]))


def _settling(model: str, finding: Finding, record: Mapping[str, Any]) -> str:
    """The command for what is not known of a node as long as a size is open; '' for others."""
    from onnxpad.runtimes.own_targets import asked_as
    from onnxpad.show.wording import given_text

    target = finding.code.rpartition(":")[0]
    opening = record["openings"].get(target)
    asked = [one for one in record["targets"].get(target, ()) if one["node"] == finding.node]
    if not opening or not opening["dims"] or opening["settled"] < opening["stuck"] or not asked:
        return ""
    facts = given_text({**record["assumed"], **opening["dims"]})
    words = ["onnxpad inspect", shlex.quote(model), f"--target {asked_as(target)}"]
    return " ".join(filter(None, [*words, record["live"], facts]))


def _failing(target: str, record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The nodes for whose sake a rewrite writes nothing unless there is a way for them."""
    verdicts = record["targets"].get(target, ())
    return [one for one in verdicts if one["verdict"] in ("refuses", "miscomputes")]


def _is_settled(verdict: Mapping[str, Any]) -> bool:
    """Whether there is a way for a node, or sizes that open one."""
    return _is_mended(verdict) or verdict["with_sizes"] is not None


def _is_mended(verdict: Mapping[str, Any]) -> bool:
    return bool(verdict["rewrite"]) and verdict["rewrite"]["passes"] is not None
