"""Of the real models, how many each target takes before and after `rewrite --target`.

python -m tests.benchmarks.targets_table [TARGET ...]     prints a Markdown table

By the facts alone, nothing is run. Sizes that a model leaves open are given as in its sample. A
model is left for padding where what the target does not take is a padded operator or a Concat that
pads, and for another reason where all of it is what it stops at wherever it stands.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

import onnxpad
from onnxpad.errors import OnnxpadError
from onnxpad.rewriting.rewrite import Rewriting
from onnxpad.runtimes.conditions.companions import ANYWHERE
from tests.runtimes.live import RUNTIMES
from tests.runtimes.live.running import Case
from tests.runtimes.targets import corpus

RELEASES = ("openvino@2023.3", "onnxruntime@1.17", "opencv@4.8")
BEFORE, AFTER, PADDING, OTHER, FAILED = (
    "fits before",
    "fits after",
    "left: padding",
    "left: not padding",
    "cannot be read",
)


def outcome(case: Case, target: str) -> str:
    """The column in which a model counts."""
    try:
        done = onnxpad.rewrite(case.model, target=target, dims=corpus.sizes(case))
    except OnnxpadError:
        return FAILED
    if done.unfit:
        return OTHER if all(one.op in ANYWHERE for one in done.unfit) else PADDING
    return AFTER if _failed(done) else BEFORE


def _failed(done: Rewriting) -> bool:
    plans = done.fitting.plans if done.fitting else ()
    return any(plan.judgement.answer.fails for plan in plans)


def main(targets: Sequence[str]) -> int:
    """Print one row for each target."""
    cases = corpus.cases()
    columns = (BEFORE, AFTER, PADDING, OTHER, FAILED)
    print(f"| target ({len(cases)} models) | {' | '.join(columns)} |")
    print("| --- |" + " ---: |" * len(columns))
    for target in targets:
        found = Counter(outcome(case, target) for case in cases.values())
        print(f"| {target} | {' | '.join(str(found[one]) for one in columns)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or [*RUNTIMES, *RELEASES]))
