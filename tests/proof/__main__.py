"""python -m tests.proof: rewrites of random models are proved, or a listed reason says why not."""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

from tests.proof.law import Tally, judge_rewrites


def report(total: Tally) -> str:
    """The counts by pass, and the reasons."""
    times = np.asarray(total.seconds or [0.0]) * 1000
    counts = [
        f"{name:<28}{verdict:>10}{count:>6}"
        for (name, verdict), count in sorted(total.verdicts.items())
    ]
    reasons = [f"{count:>7}  {reason}" for reason, count in total.reasons.most_common(40)]
    more = f"{total.open_sizes} with open sizes, {total.rounded} up to rounding of constants"
    last = f"ms: median {np.median(times):.0f}, longest {times.max():.0f}"
    return "\n".join([*counts, more, last, *reasons, *(f"WRONG {one}" for one in total.wrong)])


def main() -> None:
    """Parse the command line, run, print; exit with 1 where a law is broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.proof", description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="models to draw")
    parser.add_argument("--seed", type=int, default=1, help="of all that is drawn")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    total = Tally()
    with ProcessPoolExecutor(options.processes) as pool:
        job = partial(judge_rewrites, seed=options.seed)
        for one in pool.map(job, range(options.count), chunksize=4):
            total.merge(one)
    sys.stdout.write(report(total) + "\n")
    sys.exit(1 if total.wrong else 0)


if __name__ == "__main__":
    main()
