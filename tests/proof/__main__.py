"""python -m tests.proof: rewrites of random models are proved, or a listed reason says why not."""

import argparse
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

from tests.proof.law import Tally, judge_rewrites


def say(text: str) -> None:
    """Write a line to standard output at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def run(judge: Callable[[int], Tally], numbers: range, processes: int) -> Tally:
    """What all numbers give together."""
    total, start = Tally(), time.monotonic()
    with ProcessPoolExecutor(processes) as pool:
        for done, one in enumerate(pool.map(judge, numbers, chunksize=4), start=1):
            total.merge(one)
            for wrong in one.wrong:
                say(f"WRONG {wrong}")
            if done % 50 == 0:
                say(f"{done} models, {time.monotonic() - start:.0f} s, {len(total.wrong)} wrong")
    return total


def report(total: Tally) -> None:
    """The table."""
    verdicts = ("proved", "undecided", "refuted")
    names = sorted({name for name, _ in total.verdicts})
    for name in names:
        say(f"{name:<28}" + "".join(f"{total.verdicts[name, v]:>10}" for v in verdicts))
    sums = [sum(total.verdicts[name, v] for name in names) for v in verdicts]
    say(f"{'all':<28}" + "".join(f"{count:>10}" for count in sums))
    times = np.asarray(total.seconds or [0.0]) * 1000
    say(f"{total.open_sizes} with open sizes, {total.rounded} up to rounding of constants")
    say(
        f"ms: median {np.median(times):.0f}, 95 % {np.quantile(times, 0.95):.0f}, "
        f"longest {times.max():.0f}"
    )
    for reason, count in total.reasons.most_common(40):
        say(f"{count:>7}  {reason}")


def main() -> None:
    """Parse the command line, run, print; exit with 1 where a law is broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.proof", description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="models to draw")
    parser.add_argument("--seed", type=int, default=1, help="of all that is drawn")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    total = run(partial(judge_rewrites, seed=options.seed), range(options.count), options.processes)
    report(total)
    sys.exit(1 if total.wrong else 0)


if __name__ == "__main__":
    main()
