"""What `rewrite --target` is worth, measured.

python -m tests.runtimes.targets.evaluate --runtimes opencv

Every probe is rewritten for every runtime and run there; what was recorded of the originals says
which of them fail, and which have a form that the runtime takes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import onnxpad
from tests.runtimes.live import RUNTIMES, recorded
from tests.runtimes.live.environments import Unavailable
from tests.runtimes.live.judging import Outcome
from tests.runtimes.live.running import Case, outcomes
from tests.runtimes.targets import probes

LOSES_OUTPUTS = "noidx"
MISSES_ALLOWED = 0.05
POOLED = 0.98


@dataclass
class Evaluation:
    """One runtime: what became of each probe that failed, and of those that were right."""

    runtime: str
    repaired: list[str] = field(default_factory=list)
    missed: dict[str, str] = field(default_factory=dict)
    beyond: Counter[str] = field(default_factory=Counter)
    damaged: dict[str, str] = field(default_factory=dict)
    worse: dict[str, str] = field(default_factory=dict)

    @property
    def fixable(self) -> int:
        """Failing probes of which some form is right."""
        return len(self.repaired) + len(self.missed)

    @property
    def is_enough(self) -> bool:
        """Whether at least 95 % are right, or all but one of few, and nothing is damaged."""
        allowed = max(1, int(MISSES_ALLOWED * self.fixable))
        return len(self.missed) <= allowed and not self.damaged


def evaluate(
    runtime: str, cases: Mapping[str, Case], before: Mapping[str, str], fixable: set[str]
) -> Evaluation:
    """Rewrite the cases for `runtime` and run what changed there.

    `before` are the verdicts of the originals, `fixable` those of which some form is right.
    """
    found = Evaluation(runtime)
    with tempfile.TemporaryDirectory() as folder:
        rewritten = {
            key: _rewritten(case, runtime, Path(folder), key) for key, case in cases.items()
        }
        wanted = {key: one for key, one in rewritten.items() if isinstance(one, Case)}
        after = outcomes(RUNTIMES[runtime], wanted)
    for key, verdict in before.items():
        if key in cases:
            _judge(found, key, verdict, rewritten[key], after.get(key), fixable)
    return found


def _rewritten(case: Case, runtime: str, folder: Path, key: str) -> Case | str:
    """The rewritten case; 'no way', or 'unchanged'."""
    done = onnxpad.rewrite(case.model, target=runtime)
    if done.unfit:
        return "no way"
    if not done.changed:
        return "unchanged"
    path = folder / f"{key}.onnx"
    done.save(path)
    return case._replace(model=path)


def _judge(
    found: Evaluation,
    key: str,
    before: str,
    rewritten: Case | str,
    after: Outcome | None,
    fixable: set[str],
) -> None:
    now = after.verdict if after else "ok" if (before, rewritten) == ("ok", "unchanged") else ""
    said = f"{now or rewritten} {' '.join(after.message.split())[:200] if after else ''}".strip()
    if before == "ok":
        if now not in ("ok", "") or rewritten == "no way":
            found.damaged[key] = said
    elif key in fixable:
        if now == "ok":
            found.repaired.append(key)
        else:
            found.missed[key] = said
    else:
        found.beyond[now or str(rewritten)] += 1
        if now in ("wrong", "crash", "timeout"):
            found.worse[key] = f"was {before}, is {said}"


def fixable_probes(runtime: str) -> set[str]:
    """Probes of which a form that keeps all outputs was right on the runtime."""
    return {
        one.form_of
        for one in probes.form_outcomes()
        if one.runtime == runtime and one.verdict == "ok" and one.form != LOSES_OUTPUTS
    }


def main(arguments: list[str]) -> int:
    """Print a line per runtime, and each miss; 1 where a runtime stays below what is asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runtimes", default="", help="names, with commas (default: all)")
    parser.add_argument("--only", default="", help="only probes with this in their name")
    given = parser.parse_args(arguments)
    cases = {key: case for key, case in recorded.probes().items() if given.only in key}
    results = []
    for runtime in given.runtimes.split(",") if given.runtimes else list(RUNTIMES):
        before = {o.probe: o.verdict for o in probes.outcomes() if o.runtime == runtime}
        try:
            results.append(evaluate(runtime, cases, before, fixable_probes(runtime)))
        except Unavailable as reason:
            print(f"{runtime}: not here: {reason}", flush=True)
            continue
        _print(results[-1])
    repaired, fixable = (
        sum(len(one.repaired) for one in results),
        sum(one.fixable for one in results),
    )
    print(f"all: {repaired} of {fixable} repaired")
    return int(repaired < POOLED * fixable or not all(one.is_enough for one in results))


def _print(one: Evaluation) -> None:
    print(
        f"{one.runtime}: {len(one.repaired)} of {one.fixable} repaired, "
        f"{len(one.damaged)} damaged; beyond any form tried: {dict(one.beyond)}",
        flush=True,
    )
    for kind, keys in (("missed", one.missed), ("damaged", one.damaged), ("worse", one.worse)):
        for key, said in keys.items():
            print(f"  {kind}: {key}: {said}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
