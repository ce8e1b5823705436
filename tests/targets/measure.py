"""What models do in runtimes before and after `rewrite --target`, kept for the README's tables.

python -m tests.targets.measure --set drawn --runtimes opencv,ncnn     runs and writes measured.json

Sets: `probes` (../shared/probes), `drawn` (tests/targets/generated.py), `corpus` (../shared/corpus,
dynamic sizes given as in the sample).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import onnxpad
from onnxpad.errors import OnnxpadError
from tests.runtimes import RUNTIMES, recorded
from tests.runtimes.environments import Unavailable
from tests.runtimes.running import Case, outcomes
from tests.targets import corpus, generated, probes

RESULTS = Path(__file__).with_name("measured.json")
FAILS = ("refuses", "miscomputes")


@dataclass(frozen=True)
class Record:
    """One model in one runtime.

    `before` and `after` are verdicts (ok, wrong, refused, crash, timeout), `after` also "no way"
    or "same"; `foreseen` says whether inspect --target objects to a node.
    """

    before: str
    foreseen: bool
    after: str
    message: str = ""

    @property
    def ends_right(self) -> bool:
        """Whether the model is right in the end."""
        return self.after == "ok" or (self.after == "same" and self.before == "ok")


def measure(runtime: str, cases: Mapping[str, Case], folder: Path) -> dict[str, Record]:
    """Run the cases, rewrite them, run what changed."""
    known = {key: corpus.sizes(case) for key, case in cases.items()}
    before = outcomes(RUNTIMES[runtime], cases)
    foreseen, ways, rewritten = {}, {}, {}
    for key, case in cases.items():
        try:
            done = onnxpad.rewrite(case.model, target=runtime, dims=known[key])
        except OnnxpadError as error:
            foreseen[key], ways[key] = True, f"error {error}"
            continue
        plans = done.fitting.plans if done.fitting else ()
        judged = [one.judgement.answer for one in (*plans, *done.unfit)]
        foreseen[key] = any(str(answer) in FAILS for answer in judged)
        ways[key] = "no way" if done.unfit else "same"
        if done.changed and not done.unfit:
            path = folder / f"{key}-{runtime}.onnx"
            done.save(path)
            rewritten[key] = case._replace(model=path)
    after = outcomes(RUNTIMES[runtime], rewritten)
    found = {}
    for key in cases:
        last = after.get(key)
        message = " ".join((last or before[key]).message.split())[:160]
        verdict = last.verdict if last else ways[key]
        found[key] = Record(before[key].verdict, foreseen[key], verdict, message)
    return found


def _probes() -> dict[str, Case]:
    return {key: one for key, one in recorded.probes().items() if key not in probes.DISPUTED}


SETS: dict[str, Callable[[Path, int], dict[str, Case]]] = {
    "probes": lambda _, __: _probes(),
    "drawn": lambda folder, seed: generated.cases(folder, seed=seed),
    "corpus": lambda _, __: corpus.cases(),
}


def counts(records: Mapping[str, Record]) -> dict[str, int]:
    """The numbers of one row: how many, right before and after, no way, foreseen ..."""
    every = list(records.values())
    failing = [one for one in every if one.before != "ok"]
    return {
        "models": len(every),
        "before": len(every) - len(failing),
        "after": sum(one.ends_right for one in every),
        "no way": sum(one.after == "no way" for one in failing),
        "failing": len(failing),
        "foreseen": sum(one.foreseen for one in failing),
        "false alarms": sum(one.foreseen for one in every if one.before == "ok"),
        "repaired": sum(one.ends_right for one in failing),
        "damaged": sum(one.before == "ok" and not one.ends_right for one in every),
    }


def main(arguments: list[str]) -> int:
    """Measure, print and keep the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", choices=SETS, required=True)
    parser.add_argument("--runtimes", default=",".join(RUNTIMES), help="names, with commas")
    parser.add_argument("--seed", type=int, default=generated.SEED, help="of the drawn set")
    parser.add_argument("--keep", action="store_true", help="write the counts to measured.json")
    parser.add_argument("--details", help="a file for all records")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        cases = SETS[given.set](Path(name), given.seed)
        for runtime in given.runtimes.split(","):
            try:
                found = measure(runtime, cases, Path(name))
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
        missed = one.before != "ok" and not one.foreseen
        if missed or (one.after != "no way" and not one.ends_right) or one.after == "no way":
            print(f"  {key}: {one.before} -> {one.after}, foreseen {one.foreseen}: {one.message}")


def _keep(kind: str, runtime: str, row: dict[str, int]) -> None:
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    kept.setdefault(kind, {})[runtime] = row
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
