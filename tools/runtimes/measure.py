"""What models do in runtimes before and after `rewrite --target`, kept for `explain measured`.

python -m tools.runtimes.measure --set drawn --runtimes opencv     writes measured.json

Sets: `probes` (../shared/probes), `drawn` (composed.py beside this), `corpus`
(../shared/corpus, dynamic sizes given as in the sample).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import onnxpad
from onnxpad.errors import OnnxpadError
from tests.runtimes.live import RELEASES, RUNTIMES
from tests.runtimes.live.environments import Unavailable
from tests.runtimes.live.running import Case, outcomes
from tests.runtimes.targets import probes
from tools.runtimes import composed, corpus

RIGHT = ("ok", "fallback")
RESULTS = Path(onnxpad.__file__).parent / "runtimes" / "measured.json"


@dataclass(frozen=True)
class Record:
    """One model in one runtime.

    `before` and `after` are verdicts (ok, fallback, wrong, refused, crash, timeout), `after` also
    "no way" or "same"; `foreseen` says whether inspect --target objects to a node.
    """

    before: str
    foreseen: bool
    after: str
    message: str = ""

    @property
    def ends_right(self) -> bool:
        """Whether the model is right in the end."""
        return self.after in RIGHT or (self.after == "same" and self.was_right)

    @property
    def was_right(self) -> bool:
        """Whether the runtime computes the model as it is rightly, on whichever device."""
        return self.before in RIGHT


class Rewrites(NamedTuple):
    """What became of cases for one target: objections, "no way" or "same", and new models."""

    foreseen: dict[str, bool]
    ways: dict[str, str]
    rewritten: dict[str, Case]


def rewrites(
    target: str, cases: Mapping[str, Case], folder: Path, *, fixed: bool = False
) -> Rewrites:
    """Rewrite the cases for a target; `fixed` gives their sizes as they are in the inputs."""
    found = Rewrites({}, {}, {})
    for key, case in cases.items():
        try:
            dims = corpus.sizes(case) if fixed else None
            done = onnxpad.rewrite(case.model, target=target, dims=dims)
        except OnnxpadError as error:
            found.foreseen[key], found.ways[key] = True, f"error {error}"
            continue
        (nodes,) = onnxpad.inspect(case.model, target=target, dims=dims).targets.values()
        found.foreseen[key] = any(one.judgement.answer.fails for one in nodes)
        found.ways[key] = "no way" if done.unfit else "same"
        if done.changed and not done.unfit:
            path = folder / f"{key}-{target}.onnx"
            done.save(path)
            found.rewritten[key] = case._replace(model=path)
    return found


def measure(runtime: str, cases: Mapping[str, Case], made: Rewrites) -> dict[str, Record]:
    """Run the cases, and what changed."""
    used = (RUNTIMES | RELEASES)[runtime]
    before, after = outcomes(used, cases), outcomes(used, made.rewritten)
    found = {}
    for key in cases:
        last = after.get(key)
        message = " ".join((last or before[key]).message.split())[:160]
        verdict = last.verdict if last else made.ways[key]
        found[key] = Record(before[key].verdict, made.foreseen[key], verdict, message)
    return found


SETS: dict[str, Callable[[Path, int | None], dict[str, Case]]] = {
    "probes": lambda _, __: probes.cases(),
    "drawn": lambda folder, seed: composed.cases(folder, seed=seed or composed.SEED),
    "corpus": lambda _, __: corpus.cases(),
}


def counts(records: Mapping[str, Record]) -> dict[str, int]:
    """The numbers of one row: how many, right before and after, no way, foreseen ..."""
    every = list(records.values())
    failing = [one for one in every if not one.was_right]
    return {
        "models": len(every),
        "before": len(every) - len(failing),
        "after": sum(one.ends_right for one in every),
        "no way": sum(one.after == "no way" for one in failing),
        "failing": len(failing),
        "foreseen": sum(one.foreseen for one in failing),
        "wrong unforeseen": sum(one.before == "wrong" and not one.foreseen for one in every),
        "false alarms": sum(one.foreseen for one in every if one.was_right),
        "repaired": sum(one.ends_right for one in failing),
        "damaged": sum(one.was_right and not one.ends_right for one in every),
    }


def main(arguments: list[str]) -> int:
    """Measure, print and keep the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", choices=SETS, required=True)
    parser.add_argument("--runtimes", default=",".join(RUNTIMES), help="names, with commas")
    parser.add_argument("--seed", type=int, help="of a set that is drawn at random")
    parser.add_argument("--target", default="", help="rewrite for it, not for the runtime")
    parser.add_argument("--keep", action="store_true", help="write the counts to measured.json")
    parser.add_argument("--details", help="a file for all records")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        cases = SETS[given.set](Path(name), given.seed)
        make = partial(rewrites, cases=cases, folder=Path(name), fixed=given.set == "corpus")
        shared = make(given.target) if given.target else None
        for runtime in given.runtimes.split(","):
            try:
                made = shared or make(runtime)
                found = measure(runtime, cases, made)
            except Unavailable as reason:
                print(f"{runtime}: not here: {reason}", flush=True)
                continue
            _tell(runtime, found)
            if given.keep:
                _keep(given.set, runtime, counts(found))
            if given.details:
                with Path(given.details).open("a") as file:
                    rows = {key: asdict(one) for key, one in found.items()}
                    file.write(json.dumps({"runtime": runtime, "records": rows}) + "\n")
    return 0


def _tell(runtime: str, found: Mapping[str, Record]) -> None:
    print(f"{runtime}: {counts(found)}", flush=True)
    for key, one in found.items():
        missed = one.was_right is one.foreseen
        if missed or (one.after != "no way" and not one.ends_right) or one.after == "no way":
            print(f"  {key}: {one.before} -> {one.after}, foreseen {one.foreseen}: {one.message}")


def _keep(kind: str, runtime: str, row: dict[str, int]) -> None:
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    kept.setdefault(kind, {})[runtime] = row
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
