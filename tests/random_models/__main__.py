"""python -m tests.random_models: many random models, every pass and random pairs of passes."""

import argparse
import sys
from collections import Counter

from tests.random_models.checking import Failure, check
from tests.random_models.drawing import draw
from tests.random_models.kinds import KINDS

SHOWN = 10


def main() -> None:
    """Parse the command line, check, print the summary; exit with 1 on a failure."""
    parser = argparse.ArgumentParser(prog="python -m tests.random_models", description=__doc__)
    parser.add_argument("--count", type=int, default=40, help="models of each kind")
    parser.add_argument("--seed", type=int, default=0, help="number of the first model")
    parser.add_argument("--pairs", type=int, default=8, help="passes tried behind each pass")
    options = parser.parse_args()
    failures: list[Failure] = []
    applied: Counter[str] = Counter()
    for seed in range(options.seed, options.seed + options.count):
        for kind in KINDS:
            checked = check(draw(kind, seed), options.pairs)
            applied.update(" > ".join(order) for order in checked.applied)
            failures += checked.failures
        sys.stdout.write(f"\rseed {seed}, {len(failures)} failures")
        sys.stdout.flush()
    for name, count in sorted(applied.items()):
        sys.stdout.write(f"\n{count:>7}  {name}")
    for failure in failures[:SHOWN]:
        sys.stdout.write(f"\n{failure}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
